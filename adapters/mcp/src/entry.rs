//! What settings say of a server.

use crate::error::EntryError;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::time::Duration;

/// One server of settings, with its variables filled in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerEntry {
    pub name: String,
    pub origin: String,
    /// How it is reached.
    pub transport: Transport,
    /// How long a call may take.
    pub timeout: Option<Duration>,
    /// Whether schemas of its tools are wanted from the start.
    pub always_load: bool,
}

/// How a server is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Transport {
    /// By the pipes of a process.
    Stdio {
        command: String,
        args: Vec<String>,
        /// Variables that it sees in addition.
        env: BTreeMap<String, String>,
    },
    Http {
        url: String,
        /// Headers of every request.
        headers: BTreeMap<String, String>,
        /// A command that prints more of them, as a JSON object, each time
        /// before the server is connected to.
        helper: Option<String>,
    },
}

/// An entry that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokenServer {
    pub name: String,
    pub origin: String,
    /// What is wrong with it.
    pub reason: String,
}

/// Reads the servers of one source. `${NAME}` and `${NAME:-else}` in values
/// stand for variables.
#[must_use]
pub fn entries(
    servers: &Map<String, Value>,
    origin: &str,
    variables: &BTreeMap<String, String>,
) -> (Vec<ServerEntry>, Vec<BrokenServer>) {
    let (mut good, mut broken) = (Vec::new(), Vec::new());
    for (name, value) in servers {
        match entry(name, value, origin, variables) {
            Ok(entry) => good.push(entry),
            Err(error) => {
                let reason = error.to_string();
                broken.push(BrokenServer { name: name.clone(), origin: origin.to_owned(), reason });
            }
        }
    }
    (good, broken)
}

fn entry(
    name: &str,
    value: &Value,
    origin: &str,
    variables: &BTreeMap<String, String>,
) -> Result<ServerEntry, EntryError> {
    let known = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if name.is_empty() || !name.chars().all(known) || name.contains("__") {
        return Err(EntryError::Name);
    }
    let fields = value.as_object().ok_or(EntryError::NoObject)?;
    let filled = |text: &str| filled(text, variables);
    let text = |key: &str| fields.get(key).and_then(Value::as_str).map(filled).transpose();
    let texts = |key: &str| {
        let items = fields.get(key).and_then(Value::as_array).into_iter().flatten();
        items.filter_map(Value::as_str).map(filled).collect::<Result<Vec<_>, _>>()
    };
    let pairs = |key: &str| {
        let items = fields.get(key).and_then(Value::as_object).into_iter().flatten();
        let items = items.filter_map(|(name, value)| Some((name, value.as_str()?)));
        items
            .map(|(name, value)| Ok((name.clone(), filled(value)?)))
            .collect::<Result<BTreeMap<_, _>, EntryError>>()
    };
    let (command, url) = (text("command")?, text("url")?);
    let kind = fields.get("type").and_then(Value::as_str);
    let transport = match (kind, command, url) {
        (None | Some("stdio"), Some(command), _) => {
            Transport::Stdio { command, args: texts("args")?, env: pairs("env")? }
        }
        (None | Some("http" | "streamable-http" | "streamableHttp"), _, Some(url)) => {
            if !url.starts_with("http://") && !url.starts_with("https://") {
                return Err(EntryError::NoUrl(url));
            }
            let helper = text("headersHelper")?.filter(|command| !command.trim().is_empty());
            Transport::Http { url, headers: pairs("headers")?, helper }
        }
        (Some("sse"), ..) => return Err(EntryError::OldTransport),
        (Some("stdio"), None, _) => return Err(EntryError::Missing("command")),
        (Some("http" | "streamable-http" | "streamableHttp"), _, None) => {
            return Err(EntryError::Missing("url"));
        }
        (Some(other), ..) => return Err(EntryError::UnknownTransport(other.to_owned())),
        (None, None, None) => return Err(EntryError::Empty),
    };
    Ok(ServerEntry {
        name: name.to_owned(),
        origin: origin.to_owned(),
        transport,
        timeout: fields.get("timeout").and_then(Value::as_u64).map(Duration::from_millis),
        always_load: fields.get("alwaysLoad").and_then(Value::as_bool) == Some(true),
    })
}

fn filled(text: &str, variables: &BTreeMap<String, String>) -> Result<String, EntryError> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        out.push_str(before);
        let Some((hole, tail)) = after.split_once('}') else {
            out.push_str("${");
            rest = after;
            continue;
        };
        let (name, fallback) = match hole.split_once(":-") {
            Some((name, fallback)) => (name, Some(fallback)),
            None => (hole, None),
        };
        let set = variables.get(name).filter(|value| !value.is_empty() || fallback.is_none());
        match (set, fallback) {
            (Some(value), _) => out.push_str(value),
            (None, Some(fallback)) => out.push_str(fallback),
            (None, None) => return Err(EntryError::Unset(name.to_owned())),
        }
        rest = tail;
    }
    out.push_str(rest);
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(value: &Value) -> (Vec<ServerEntry>, Vec<BrokenServer>) {
        let variables = BTreeMap::from([("TOKEN".to_owned(), "t1".to_owned())]);
        entries(value.as_object().unwrap(), "here", &variables)
    }

    #[test]
    fn q5_entries_are_read_and_variables_filled_in() {
        let (good, broken) = read(&json!({
            "mem": {"command": "npx", "args": ["-y", "${PKG:-server}"], "env": {"T": "${TOKEN}"}},
            "web": {"type": "http", "url": "https://h/${TOKEN}", "headers": {"A": "B ${TOKEN}"},
                    "timeout": 1500, "alwaysLoad": true},
        }));
        assert!(broken.is_empty(), "{broken:?}");
        let Transport::Stdio { args, env, .. } = &good[0].transport else { panic!() };
        assert_eq!((args[1].as_str(), env["T"].as_str()), ("server", "t1"));
        let Transport::Http { url, headers, .. } = &good[1].transport else { panic!() };
        assert_eq!((url.as_str(), headers["A"].as_str()), ("https://h/t1", "B t1"));
        assert_eq!(good[1].timeout, Some(Duration::from_millis(1_500)));
        assert!(good[1].always_load && !good[0].always_load);
    }

    #[test]
    fn q5_broken_entries_are_named() {
        let (good, broken) = read(&json!({
            "a": {}, "b": {"type": "sse", "url": "http://x"}, "c": {"command": "${NONE}"}, "d": 3,
            "e__f": {"command": "x"}, "g": {"type": "http", "url": "ftp://x"}, "h": {"type": "ws"},
        }));
        assert!(good.is_empty());
        assert_eq!(broken.len(), 7, "{broken:?}");
        assert!(broken.iter().any(|b| b.reason.contains("NONE is not set")));
    }
}
