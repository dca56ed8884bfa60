//! What is put into files of another program, and taken out again.

use super::refused::Refused;
use super::toml::Place;
use super::{section, toml};
use everfold_agent::settings::jsonc::Node;
use everfold_agent::settings::splice::Splice;
use serde_json::{Map, Value, json};

/// One thing in one file.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Piece {
    /// A hook, in settings of Claude Code's form.
    Hook(Hook),
    /// A member of a JSON object.
    Member {
        /// Its keys from the top.
        path: Vec<&'static str>,
        value: Value,
    },
    /// A table of a TOML file.
    Table { place: Place, value: Map<String, Value> },
    /// A whole file of ours.
    Whole { text: String },
    /// A part of an instruction file.
    Section { text: &'static str },
}

/// A command that a host runs at an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Hook {
    /// The event, as the host calls it.
    pub(super) event: &'static str,
    /// Which of its kinds; all where none is named.
    pub(super) matcher: Option<&'static str>,
    /// The program and its command, to which the event is added.
    pub(super) program: String,
    /// How long it may take, in the host's unit; the host's own time where
    /// none is named.
    pub(super) timeout: Option<u64>,
}

impl Piece {
    /// The text with it.
    pub(super) fn put(&self, text: &str) -> Result<String, Refused> {
        match self {
            Self::Hook(hook) => hook.put(text),
            Self::Member { path, value } => {
                let mut splice = Splice::new(text)?;
                check_objects(text, path)?;
                splice.set(path, value);
                Ok(splice.text)
            }
            Self::Table { place, value } => toml::put(text, *place, value),
            Self::Section { text: section } => Ok(section::put(text, section)),
            // A file of that name that is not ours stays.
            Self::Whole { .. } if !text.trim().is_empty() && !is_own_file(text) => {
                Err(Refused::InTheWay("something else".to_owned()))
            }
            Self::Whole { text } => Ok(text.clone()),
        }
    }

    /// The text without it. What stood around it before stays.
    pub(super) fn take(&self, text: &str, before: &str) -> Result<String, Refused> {
        match self {
            Self::Hook(_) | Self::Member { .. } if Node::parse(text)?.is_none() => {
                Ok(text.to_owned())
            }
            Self::Hook(hook) => hook.take(text, before),
            Self::Member { path, .. } => {
                let mut splice = Splice::new(text)?;
                splice.remove(path);
                if splice.text != text {
                    remove_empty(&mut splice, path, before);
                }
                Ok(splice.text)
            }
            Self::Table { place, .. } => toml::take(text, *place, before),
            Self::Section { .. } => Ok(section::take(text)),
            Self::Whole { .. } if is_own_file(text) => Ok(String::new()),
            Self::Whole { .. } => Ok(text.to_owned()),
        }
    }
}

/// Whether a whole file is one that we wrote.
fn is_own_file(text: &str) -> bool {
    text.starts_with("// Everfold beside")
}

/// Whether a whole file is one that another version of us wrote. Whom it calls
/// makes no difference.
pub(super) fn is_outdated(now: &str, wanted: &str) -> bool {
    let bare = |text: &str| -> Vec<String> {
        let lines = text.lines().filter(|line| !line.starts_with(CALLED));
        lines.map(str::to_owned).collect()
    };
    is_own_file(now) && bare(now) != bare(wanted)
}

/// How the line begins that says whom such a file calls.
const CALLED: &str = "const [PROGRAM, HOME, HOST]";

impl Hook {
    fn command(&self) -> String {
        format!("{} {}", self.program, self.event)
    }

    fn is_ours(&self, handler: &Value) -> bool {
        let command = handler["command"].as_str().unwrap_or_default();
        command.contains("everfold")
            && command.contains(" hook ")
            && command.ends_with(&format!(" {}", self.event))
    }

    fn group(&self) -> Value {
        let command = self.command();
        let handler = match self.timeout {
            Some(timeout) => json!({"type": "command", "command": command, "timeout": timeout}),
            None => json!({"type": "command", "command": command}),
        };
        match self.matcher {
            Some(matcher) => json!({"matcher": matcher, "hooks": [handler]}),
            None => json!({"hooks": [handler]}),
        }
    }

    fn put(&self, text: &str) -> Result<String, Refused> {
        let mut splice = Splice::new(text)?;
        let path = ["hooks", self.event];
        check_objects(text, &path)?;
        let there = splice.value(&path).unwrap_or_else(|| json!([]));
        let Some(groups) = there.as_array() else {
            return Err(Refused::InTheWay(path.join(".")));
        };
        let group = self.group();
        if groups.contains(&group) {
            return Ok(splice.text);
        }
        self.take_from(&mut splice);
        splice.push(&path, &group);
        Ok(splice.text)
    }

    fn take(&self, text: &str, before: &str) -> Result<String, Refused> {
        let mut splice = Splice::new(text)?;
        self.take_from(&mut splice);
        if splice.text == text {
            return Ok(splice.text);
        }
        let path = ["hooks", self.event];
        if splice.value(&path) == Some(json!([])) && !was_there(before, &path) {
            splice.remove(&path);
        }
        remove_empty(&mut splice, &path, before);
        Ok(splice.text)
    }

    /// Takes our handlers out, and the groups that have no others.
    fn take_from(&self, splice: &mut Splice) {
        let path = ["hooks", self.event];
        let all_ours = |group: &Value| {
            let handlers = group["hooks"].as_array().map(Vec::as_slice).unwrap_or_default();
            !handlers.is_empty() && handlers.iter().all(|handler| self.is_ours(handler))
        };
        splice.remove_elements(&path, &all_ours);
        let groups = splice.value(&path).and_then(|groups| groups.as_array().map(Vec::len));
        for at in 0..groups.unwrap_or_default() {
            let at = at.to_string();
            splice.remove_elements(&["hooks", self.event, &at, "hooks"], &|handler| {
                self.is_ours(handler)
            });
        }
    }
}

/// Removes the objects around a member that are empty, if they came with it.
fn remove_empty(splice: &mut Splice, path: &[&str], before: &str) {
    for length in (1..path.len()).rev() {
        let around = path.get(..length).unwrap_or_default();
        if splice.value(around) == Some(json!({})) && !was_there(before, around) {
            splice.remove(around);
        }
    }
}

fn was_there(before: &str, path: &[&str]) -> bool {
    Node::parse(before).ok().flatten().is_some_and(|node| node.at(path).is_some())
}

/// That everything around a member is an object.
fn check_objects(text: &str, path: &[&str]) -> Result<(), Refused> {
    let Some(root) = Node::parse(text)? else { return Ok(()) };
    for length in 1..path.len() {
        let around = path.get(..length).unwrap_or_default();
        let value = root.at(around).and_then(|node| node.value(text));
        if value.is_some_and(|value| !value.is_object()) {
            return Err(Refused::InTheWay(around.join(".")));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hook(program: &str) -> Piece {
        Piece::Hook(Hook {
            event: "Stop",
            matcher: None,
            program: format!("{program} hook"),
            timeout: Some(10),
        })
    }

    #[test]
    fn x2_a_hook_goes_beside_those_that_are_there_and_comes_out_again() {
        let theirs = "{\n  \"hooks\": {\n    \"Stop\": [\n      {\"hooks\": [{\"type\": \"command\", \"command\": \"say done\"}]}\n    ]\n  },\n  \"x\": 1\n}\n";
        let with = hook("/bin/everfold").put(theirs).unwrap();
        assert!(with.contains("\"/bin/everfold hook Stop\"") && with.contains("say done"));
        assert_eq!(hook("/bin/everfold").put(&with).unwrap(), with, "twice is once");
        let moved = hook("/opt/everfold").put(&with).unwrap();
        assert!(moved.contains("/opt/everfold") && !moved.contains("/bin/everfold"));
        assert_eq!(hook("x").take(&moved, theirs).unwrap(), theirs);
    }

    #[test]
    fn x2_what_came_with_a_hook_goes_with_it() {
        let with = hook("everfold").put("{\n  \"x\": 1\n}\n").unwrap();
        assert_eq!(
            hook("everfold").take(&with, "{\n  \"x\": 1\n}\n").unwrap(),
            "{\n  \"x\": 1\n}\n"
        );
        let empty = "{\"hooks\": {}}";
        let with = hook("everfold").put(empty).unwrap();
        assert_eq!(hook("everfold").take(&with, empty).unwrap(), empty, "theirs, though empty");
    }

    #[test]
    fn x2_a_hook_that_was_put_into_a_group_of_theirs_is_taken_out_of_it() {
        let mixed = r#"{"hooks": {"Stop": [{"hooks": [{"command": "a"}, {"command": "everfold hook Stop"}]}]}}"#;
        let out = hook("everfold").take(mixed, "").unwrap();
        assert_eq!(out, r#"{"hooks": {"Stop": [{"hooks": [{"command": "a"}]}]}}"#);
    }

    #[test]
    fn x2_what_is_in_the_way_is_said() {
        assert_eq!(hook("m").put("{\"hooks\": []}"), Err(Refused::InTheWay("hooks".into())));
        assert_eq!(
            hook("m").put("{\"hooks\": {\"Stop\": {}}}"),
            Err(Refused::InTheWay("hooks.Stop".into()))
        );
        assert!(matches!(hook("m").put("{oops"), Err(Refused::NotJson(_))));
    }
}
