//! What the tools do, for one project. Everything here blocks; errors are
//! sentences for the model that called.

use crate::arguments::Arguments;
use everfold::beside::{Beside, Keep, Kept, NotKept};
use everfold::kernel::Flag;
use everfold::kernel::ports::PastHit;
use everfold::memdir::{By, Scope, TopicPath};
use everfold::memfile::MemoryType;
use everfold::memory_dirs::recall;
use jiff::Timestamp;
use serde_json::{Value, json};
use tokio::runtime::Handle;

/// Memories that a search gives where no number is asked for.
const MEMORIES: usize = 8;
/// The most that can be asked for.
const MOST: usize = 50;
/// Who made a change, in the history.
const SOURCE: &str = "mcp";

/// One project, opened for a call.
pub(crate) struct Desk {
    pub(crate) beside: Beside,
    pub(crate) now: Timestamp,
    /// Where what does not block runs.
    pub(crate) runtime: Handle,
}

/// A memory's name to a client: its scope and its path.
pub(crate) struct Id {
    pub(crate) scope: Scope,
    pub(crate) path: TopicPath,
}

impl Id {
    /// Reads `project/deploys.md` or `global/me.md`.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "{text:?} is no id of a memory; memory_search gives ids such as project/deploys.md"
            )
        };
        let (scope, path) = text.split_once('/').ok_or_else(wrong)?;
        let scope = match scope {
            "project" => Scope::Project,
            "global" => Scope::Global,
            _ => return Err(wrong()),
        };
        Ok(Self { scope, path: TopicPath::new(path).map_err(|error| error.to_string())? })
    }
}

/// The word for a scope.
pub(crate) fn word(scope: Scope) -> &'static str {
    match scope {
        Scope::Project => "project",
        Scope::Global => "global",
        Scope::Team => "team",
    }
}

impl Desk {
    /// Runs a tool.
    pub(crate) fn call(&self, tool: &str, arguments: &Arguments) -> Result<Value, String> {
        match tool {
            "memory_search" => self.search(arguments),
            "memory_read" => self.read(arguments),
            "memory_save" => self.save(arguments),
            "memory_forget" => self.forget(arguments),
            "session_search" => self.sessions(arguments),
            "result_read" => self.result(arguments),
            other => Err(format!("there is no tool {other}")),
        }
    }

    fn age_days(&self, modified: Timestamp) -> i64 {
        self.now.duration_since(modified).as_hours().max(0) / 24
    }

    fn search(&self, arguments: &Arguments) -> Result<Value, String> {
        let query = arguments.text("query")?;
        let most = arguments.number("limit", MEMORIES)?.clamp(1, MOST);
        let found =
            recall(self.beside.memories(), query, self.now).map_err(|error| error.to_string())?;
        let row = |hit: &everfold::memory_dirs::Called| {
            json!({
                "id": format!("{}/{}", word(hit.scope.unwrap_or(Scope::Project)), hit.path),
                "name": hit.name.as_ref().unwrap_or(&hit.path),
                "description": hit.description.as_deref().unwrap_or_default(),
                "type": hit.kind.map_or("", MemoryType::as_str),
                "age_days": self.age_days(hit.modified),
                "score": (hit.score * 100.0).round() / 100.0,
            })
        };
        let rows: Vec<Value> = found.hits.iter().take(most).map(row).collect();
        Ok(json!({"memories": rows, "looked_at": found.looked_at}))
    }

    fn read(&self, arguments: &Arguments) -> Result<Value, String> {
        let id = arguments.text("id")?;
        let (text, modified) = self.text(id)?;
        Ok(json!({"id": id, "text": text, "age_days": self.age_days(modified)}))
    }

    /// A memory's text, and when it was written.
    pub(crate) fn text(&self, id: &str) -> Result<(String, Timestamp), String> {
        let Id { scope, path } = Id::parse(id)?;
        let missing = || format!("there is no memory {id}; memory_search finds those that are");
        let store = self
            .beside
            .memories()
            .existing(scope)
            .map_err(|error| error.to_string())?
            .ok_or_else(missing)?;
        let text = match store.read(&path) {
            Ok(read) => read.text,
            Err(everfold::memdir::Error::NotFound { .. }) => return Err(missing()),
            Err(error) => return Err(error.to_string()),
        };
        let about = std::fs::metadata(store.dir().join(path.as_path()));
        let modified = about.ok().and_then(|about| about.modified().ok());
        let modified = modified.and_then(|time| Timestamp::try_from(time).ok());
        Ok((text, modified.unwrap_or(self.now)))
    }

    fn save(&self, arguments: &Arguments) -> Result<Value, String> {
        let kind = arguments.text("type")?;
        let kind = MemoryType::by_name(kind).ok_or_else(|| {
            format!("`type` is one of user, feedback, project and reference, not {kind:?}")
        })?;
        let id = arguments.optional("id")?.map(Id::parse).transpose()?;
        let scope = match (&id, arguments.optional("scope")?) {
            (Some(id), _) => id.scope,
            (None, None | Some("project")) => Scope::Project,
            (None, Some("global")) => Scope::Global,
            (None, Some(other)) => {
                return Err(format!("`scope` is project or global, not {other:?}"));
            }
        };
        let keep = Keep {
            name: arguments.text("name")?,
            description: arguments.text("description")?,
            kind,
            body: arguments.text("text")?,
            scope,
            replaces: id.as_ref().map(|id| &id.path),
        };
        let kept = self.beside.keep(&keep, &self.by("saved by a tool call"));
        let kept = kept.map_err(|error| match error {
            NotKept::Copy { of } => {
                format!(
                    "{0}/{of} says nearly the same; to change it, give {0}/{of} as id",
                    word(scope)
                )
            }
            error => error.to_string(),
        })?;
        let id = |path: &TopicPath| format!("{}/{path}", word(scope));
        Ok(match kept {
            Kept::Saved { path, entry } => {
                let note = match entry {
                    Some(entry) => {
                        format!("the person can take it back: everfold memory undo {entry}")
                    }
                    None => "it was there already, word for word".to_owned(),
                };
                let state = if entry.is_some() { "saved" } else { "unchanged" };
                json!({"id": id(&path), "state": state, "note": note})
            }
            Kept::Waiting { path } => {
                let note = "it waits for the person's word: everfold memory inbox";
                json!({"id": id(&path), "state": "waiting", "note": note})
            }
        })
    }

    fn forget(&self, arguments: &Arguments) -> Result<Value, String> {
        let text = arguments.text("id")?;
        let Id { scope, path } = Id::parse(text)?;
        let by = self.by(arguments.text("reason")?);
        let forgotten = self.beside.forget(scope, &path, &by).map_err(|error| error.to_string())?;
        Ok(match forgotten {
            Kept::Saved { entry, .. } => {
                let entry = entry.map(|entry| entry.to_string()).unwrap_or_default();
                let note = format!("the person can take it back: everfold memory undo {entry}");
                json!({"id": text, "state": "forgotten", "note": note})
            }
            Kept::Waiting { .. } => {
                let note = "the person wrote it; it waits for their word: everfold memory inbox";
                json!({"id": text, "state": "waiting", "note": note})
            }
        })
    }

    fn sessions(&self, arguments: &Arguments) -> Result<Value, String> {
        if !self.beside.is_on(Flag::PastSearch) {
            return Err("searching past conversations is switched off (past_search)".into());
        }
        let query = arguments.text("query")?;
        let limits = &self.beside.limits().past;
        let most = arguments.number("limit", limits.places)?.clamp(1, limits.most_places);
        let found = self.runtime.block_on(self.beside.past().search(query, most));
        let found = found.map_err(|error| error.to_string())?;
        let row = |hit: &PastHit| {
            json!({
                "id": hit.record,
                "session": hit.session,
                "at": hit.at,
                "who": hit.who,
                "excerpt": hit.excerpt,
            })
        };
        let rows: Vec<Value> = found.hits.iter().map(row).collect();
        Ok(json!({"messages": rows, "more": found.more}))
    }

    fn result(&self, arguments: &Arguments) -> Result<Value, String> {
        let id = arguments.text("id")?;
        let offset = arguments.number("offset", 0)?;
        let page = self.beside.limits().past.page_chars;
        let whole = self.beside.past().whole(id).ok_or_else(|| {
            format!(
                "there is no message or result {id:?} in this project; session_search gives ids"
            )
        })?;
        let total = whole.chars().count();
        let text: String = whole.chars().skip(offset).take(page).collect();
        let next = offset.saturating_add(page);
        let next = (next < total).then_some(next);
        Ok(json!({"id": id, "text": text, "total_chars": total, "next_offset": next}))
    }

    fn by(&self, reason: &str) -> By {
        By::agent(SOURCE, reason, self.now)
    }
}
