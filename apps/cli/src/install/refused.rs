//! Why a file of another program cannot be changed, in words for a person.

use super::Host;
use crate::failure::Refusal;
use everfold_agent::settings::jsonc::JsoncFault;
use std::path::Path;

/// Why a file cannot be changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Refused {
    NotJson(JsoncFault),
    NotToml {
        /// The byte where it stops being TOML.
        at: usize,
        /// What the parser says.
        said: String,
    },
    /// Something of that name is there in a form that cannot be added to.
    InTheWay(String),
}

impl From<JsoncFault> for Refused {
    fn from(broken: JsoncFault) -> Self {
        Self::NotJson(broken)
    }
}

impl Refused {
    /// What the person is told.
    pub(super) fn told(&self, path: &Path, text: Option<&str>, host: Host) -> Refusal {
        let path = path.display();
        let fix = "fix it there, then try again";
        match self {
            Self::NotJson(broken) => {
                let place = place(text, broken.at);
                let wanted = broken.wanted;
                let message =
                    format!("{path} is not JSON: expected {wanted} {place}; nothing was changed");
                Refusal::new(message, fix)
            }
            Self::NotToml { at, said } => {
                let place = place(text, *at);
                Refusal::new(
                    format!("{path} is not TOML: {said} {place}; nothing was changed"),
                    fix,
                )
            }
            Self::InTheWay(key) => {
                let message = format!(
                    "{path} has {key} in a form that cannot be added to; nothing was changed"
                );
                let guide = host.as_str();
                let hint = format!("edit it by hand; docs/guide/{guide}.md says what goes there");
                Refusal::new(message, hint)
            }
        }
    }
}

fn place(text: Option<&str>, at: usize) -> String {
    let before = text.and_then(|text| text.get(..at)).unwrap_or_default();
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    format!("on line {line}, column {column}")
}
