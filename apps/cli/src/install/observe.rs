//! Whether Claude Code leaves its requests for us to measure (W3): the variable
//! in its settings, and the folder that it names. A variable that somebody has
//! set for themselves is left alone.

use super::Fitter;
use super::change::read;
use super::host::{Host, Part};
use super::piece::Piece;
use crate::args::InstallArgs;
use crate::failure::{Refusal, Usage};
use anyhow::Result;
use everfold_agent::observed::ObservedBodies;
use everfold_agent::settings::splice::Splice;
use serde_json::json;

/// The variable by which Claude Code leaves its requests (CONTRACTS 7.1).
const VARIABLE: &str = "OTEL_LOG_RAW_API_BODIES";

/// Whether requests are left for us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Observing {
    On,
    Off,
}

impl Fitter<'_> {
    /// What is asked for: what was turned on stays on.
    pub(super) fn wanted_observing(&self, args: &InstallArgs) -> Result<Observing> {
        if !args.observe {
            return self.observing();
        }
        if args.host != Host::Claude {
            let hint = "leave out --observe; the other agents have no such option";
            return Err(Usage::new("only Claude Code's requests can be observed", hint).into());
        }
        match self.value_now()? {
            Some(other) if other != self.value() => {
                let message = format!("{VARIABLE} is already set to {other}; nothing was changed");
                Err(Refusal::new(message, "remove it from Claude Code's settings first").into())
            }
            _ => Ok(Observing::On),
        }
    }

    /// What is so now, by us.
    pub(super) fn observing(&self) -> Result<Observing> {
        let is_ours = self.host == Host::Claude && self.value_now()? == Some(self.value());
        Ok(if is_ours { Observing::On } else { Observing::Off })
    }

    /// The files of the host, with the variable where it is wanted.
    pub(super) fn observed(&self, mut parts: Vec<Part>, observing: Observing) -> Vec<Part> {
        let settings = self.host.dir(&self.env).join("settings.json");
        let part = parts.iter_mut().find(|part| part.path == settings);
        if let Some(part) = part.filter(|_| observing == Observing::On) {
            let value = json!(self.value());
            part.pieces.push(Piece::Member { path: vec!["env", VARIABLE], value });
        }
        parts
    }

    pub(super) fn make_room_for_bodies(&self, observing: Observing) -> Result<()> {
        if observing == Observing::On {
            self.bodies().make()?;
        }
        Ok(())
    }

    pub(super) fn remove_bodies(&self) -> Result<()> {
        if self.host == Host::Claude {
            self.bodies().remove()?;
        }
        Ok(())
    }

    fn bodies(&self) -> ObservedBodies {
        ObservedBodies::of_claude(self.home)
    }

    fn value(&self) -> String {
        format!("file:{}", self.bodies().folder().display())
    }

    /// What the variable is set to in the host's settings.
    fn value_now(&self) -> Result<Option<String>> {
        let text = read(&self.host.dir(&self.env).join("settings.json"))?.unwrap_or_default();
        let value = Splice::new(&text).ok().and_then(|own| own.value(&["env", VARIABLE]));
        Ok(value.map(|value| value.as_str().unwrap_or_default().to_owned()))
    }
}
