//! What a word after a slash means, and which one was meant (U8).

use super::{CommandContext, registry};
use crate::nearest::nearest;

/// What a word after a slash is.
pub(crate) enum Slash {
    Command,
    /// A command that makes sense in a conversation alone.
    OnlyTalking,
    /// A skill, or a prompt of a server: words for the model come of it.
    Prompt,
    /// Nothing that is known.
    Unknown {
        near: Option<String>,
    },
}

/// Commands that mean nothing where one turn is all there is.
const ONLY_TALKING: [&str; 8] =
    ["resume", "clear", "new", "private", "plan", "quit", "exit", "tasks"];

/// What a word after a slash is.
pub(crate) fn slash(cx: &CommandContext, name: &str) -> Slash {
    if ONLY_TALKING.contains(&name) {
        return Slash::OnlyTalking;
    }
    if registry::is_command(name) {
        return Slash::Command;
    }
    if registry::is_prompt(cx, name) {
        return Slash::Prompt;
    }
    Slash::Unknown { near: near(cx, name) }
}

/// The command that was meant, with its slash.
pub(super) fn near(cx: &CommandContext, name: &str) -> Option<String> {
    let infos = registry::infos(cx);
    let names = infos.iter().flat_map(|info| &info.names).map(String::as_str);
    nearest(name, names).map(|near| format!("/{near}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn u10_what_is_for_conversations_is_a_command() {
        for name in ONLY_TALKING {
            assert!(registry::is_command(name), "{name}");
        }
    }
}
