//! What became of a call, for whoever goes on from it, and how a transcript
//! says so.

use serde_json::{Map, Value};

/// What became of a call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ToolOutcome {
    #[default]
    Done,
    /// It was not, or not to the end; the content says why.
    Failed,
    /// It goes on by itself.
    Background(BackgroundWork),
}

/// Work that goes on after its call was answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BackgroundWork {
    Command { id: String },
    Agent { id: String },
}

/// The field that names a command in the background.
const COMMAND: &str = "backgroundTaskId";
/// The field that names an agent, also one that has ended.
const AGENT: &str = "agentId";
/// The field that says how an agent is.
const STATUS: &str = "status";
/// What it says of one that goes on.
const LAUNCHED: &str = "async_launched";

impl BackgroundWork {
    /// The fields of a result's structured form that tell of it.
    pub const FIELDS: [&str; 3] = [COMMAND, AGENT, STATUS];

    /// What a result's structured form tells of, if it does.
    #[must_use]
    pub fn named_in(structured: &Value) -> Option<Self> {
        let text = |key: &str| structured.get(key).and_then(Value::as_str);
        if let Some(id) = text(COMMAND) {
            return Some(Self::Command { id: id.to_owned() });
        }
        let launched = text(STATUS) == Some(LAUNCHED);
        text(AGENT).filter(|_| launched).map(|id| Self::Agent { id: id.to_owned() })
    }

    #[must_use]
    pub fn id(&self) -> &str {
        match self {
            Self::Command { id } | Self::Agent { id } => id,
        }
    }

    /// Says it in a result's structured form.
    pub(crate) fn write(&self, fields: &mut Map<String, Value>) {
        match self {
            Self::Command { id } => {
                fields.insert(COMMAND.to_owned(), id.as_str().into());
            }
            Self::Agent { id } => {
                fields.insert(AGENT.to_owned(), id.as_str().into());
                fields.insert(STATUS.to_owned(), LAUNCHED.into());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn q2_what_was_started_is_read_back_from_the_transcript() {
        let all = [
            BackgroundWork::Command { id: "b1".into() },
            BackgroundWork::Agent { id: "a1".into() },
        ];
        for work in all {
            let mut fields = Map::from_iter([("prompt".to_owned(), json!("x"))]);
            work.write(&mut fields);
            assert_eq!(BackgroundWork::named_in(&Value::Object(fields)), Some(work));
        }
        let ended = json!({"agentId": "a1", "status": "completed"});
        assert_eq!(BackgroundWork::named_in(&ended), None);
    }
}
