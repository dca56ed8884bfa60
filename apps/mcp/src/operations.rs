//! What the tools do, for one project. Everything here blocks.

use crate::arguments::Arguments;
use crate::refusal::CallRefusal;
use everfold_agent::hosts::HostService;
use everfold_kernel::ports::{
    Haste, Kept, MemoryAuthor, MemoryBefore, MemoryPlacement, MemoryProposal, MemoryRef,
    MemoryScope, MemoryWriter, PastHit, RecallHit, RecallQuery,
};
use everfold_kernel::{Flag, Provenance, RecordId, Testimony, Utterance};
use everfold_memory_file::{MemoryDraft, MemoryType};
use everfold_memory_service::HitFilter;
use everfold_memory_store::{StoreScope, TopicPath};
use jiff::Timestamp;
use serde_json::{Value, json};
use std::path::PathBuf;
use tokio::runtime::Handle;

/// Memories that a search gives where no number is asked for.
const MEMORIES: usize = 8;
/// The most that can be asked for.
const MOST: usize = 50;
/// Who made a change, in the history.
const SOURCE: &str = "mcp";

/// One project, opened for a call.
pub(crate) struct Project {
    pub(crate) host: HostService,
    pub(crate) now: Timestamp,
    /// Where what does not block runs.
    pub(crate) runtime: Handle,
}

/// A memory's name to a client: its scope and its path.
pub(crate) struct Id {
    pub(crate) scope: StoreScope,
    pub(crate) path: TopicPath,
}

impl Id {
    /// Reads `project/deploys.md` or `global/me.md`.
    pub(crate) fn parse(text: &str) -> Result<Self, CallRefusal> {
        let wrong = || CallRefusal::NoId(text.to_owned());
        let (scope, path) = text.split_once('/').ok_or_else(wrong)?;
        let scope = match scope {
            "project" => StoreScope::Project,
            "global" => StoreScope::Global,
            _ => return Err(wrong()),
        };
        Ok(Self { scope, path: TopicPath::new(path)? })
    }
}

/// The word for a scope.
pub(crate) fn word(scope: StoreScope) -> &'static str {
    match scope {
        StoreScope::Project => "project",
        StoreScope::Global => "global",
        StoreScope::Team => "team",
    }
}

impl Project {
    pub(crate) fn call(&self, tool: &str, arguments: &Arguments) -> Result<Value, CallRefusal> {
        match tool {
            "memory_search" => self.search(arguments),
            "memory_read" => self.read(arguments),
            "memory_save" => self.save(arguments),
            "memory_forget" => self.forget(arguments),
            "session_search" => self.sessions(arguments),
            "result_read" => self.result(arguments),
            other => Err(CallRefusal::NoTool(other.to_owned())),
        }
    }

    fn age_days(&self, modified: Timestamp) -> i64 {
        self.now.duration_since(modified).as_hours().max(0) / 24
    }

    fn search(&self, arguments: &Arguments) -> Result<Value, CallRefusal> {
        let query = arguments.text("query")?;
        let most = arguments.number("limit", MEMORIES)?.clamp(1, MOST);
        let query = RecallQuery { text: query.to_owned(), ..RecallQuery::default() };
        let found = self.host.service().recall(&query, HitFilter::All)?;
        let row = |hit: &RecallHit| {
            json!({
                "id": format!("{}/{}", hit.scope.unwrap_or(MemoryScope::Project).as_str(), hit.file),
                "name": hit.name.as_ref().unwrap_or(&hit.file),
                "description": hit.description.as_deref().unwrap_or_default(),
                "type": hit.kind.as_deref().unwrap_or_default(),
                "age_days": self.age_days(hit.modified),
                "score": (hit.score * 100.0).round() / 100.0,
            })
        };
        let rows: Vec<Value> = found.hits.iter().take(most).map(row).collect();
        Ok(json!({"memories": rows, "looked_at": found.looked_at}))
    }

    fn read(&self, arguments: &Arguments) -> Result<Value, CallRefusal> {
        let id = arguments.text("id")?;
        let (text, modified) = self.text(id)?;
        Ok(json!({"id": id, "text": text, "age_days": self.age_days(modified)}))
    }

    /// A memory's text, and when it was written.
    pub(crate) fn text(&self, id: &str) -> Result<(String, Timestamp), CallRefusal> {
        let Id { scope, path } = Id::parse(id)?;
        let missing = || CallRefusal::NoMemory(id.to_owned());
        let store = self.host.memories().existing(scope)?.ok_or_else(missing)?;
        let text = match store.read(&path) {
            Ok(read) => read.text,
            Err(everfold_memory_store::Error::NotFound { .. }) => return Err(missing()),
            Err(error) => return Err(error.into()),
        };
        let about = std::fs::metadata(store.dir().join(path.as_path()));
        let modified = about.ok().and_then(|about| about.modified().ok());
        let modified = modified.and_then(|time| Timestamp::try_from(time).ok());
        Ok((text, modified.unwrap_or(self.now)))
    }

    fn save(&self, arguments: &Arguments) -> Result<Value, CallRefusal> {
        let kind = arguments.text("type")?;
        let kind = MemoryType::by_name(kind).ok_or_else(|| CallRefusal::NoType(kind.to_owned()))?;
        let id = arguments.optional("id")?.map(Id::parse).transpose()?;
        let scope = match arguments.optional("scope")? {
            None => None,
            Some("project") => Some(MemoryScope::Project),
            Some("global") => Some(MemoryScope::Global),
            Some(other) => return Err(CallRefusal::NoScope(other.to_owned())),
        };
        let draft = MemoryDraft {
            name: arguments.text("name")?,
            description: arguments.text("description")?,
            kind,
            body: arguments.text("text")?,
        };
        let place = match (&id, scope) {
            (Some(id), _) => {
                MemoryPlacement::At { path: self.path(id), before: MemoryBefore::Anything }
            }
            (None, Some(scope)) => MemoryPlacement::In { scope },
            (None, None) => MemoryPlacement::Anywhere { scope: None },
        };
        let proposal = MemoryProposal {
            text: draft.render(),
            place,
            testimony: self.testimony(&draft),
            by: by("saved by a tool call"),
            haste: Haste::AtOnce,
        };
        let kept = self.host.service().keep(&proposal)?;
        told(&kept, "saved")
    }

    /// What a memory can rest on here: the model's own words, and what the
    /// person typed lately, as far as the host's hooks or transcripts show it
    /// (L5.33).
    fn testimony(&self, draft: &MemoryDraft<'_>) -> Testimony {
        let mut testimony = self.host.recent_prompts();
        testimony.said.push(Utterance {
            record: RecordId::from(""),
            by: Provenance::MODEL,
            text: [draft.name, draft.description, draft.body].join("\n"),
        });
        testimony
    }

    fn path(&self, id: &Id) -> PathBuf {
        self.host.memories().dir(id.scope).join(id.path.as_path())
    }

    fn forget(&self, arguments: &Arguments) -> Result<Value, CallRefusal> {
        let id = arguments.text("id")?;
        let by = by(self.within_a_memory(arguments.text("reason")?)?);
        // One that is not there is told as it is to who reads it.
        self.text(id)?;
        let path = self.path(&Id::parse(id)?);
        let done = self.host.service().forget(&path, &by)?;
        told(&done, "forgotten")
    }

    /// A text that is no longer than a memory may be: it goes into the history.
    fn within_a_memory<'t>(&self, text: &'t str) -> Result<&'t str, CallRefusal> {
        let most = self.host.limits().extract.file_bytes;
        if text.len() > most {
            return Err(CallRefusal::LongReason { bytes: text.len(), most });
        }
        Ok(text)
    }

    fn sessions(&self, arguments: &Arguments) -> Result<Value, CallRefusal> {
        if !self.host.is_on(Flag::PastSearch) {
            return Err(CallRefusal::PastSearchOff);
        }
        let query = arguments.text("query")?;
        let limits = &self.host.limits().past;
        let most = arguments.number("limit", limits.places)?.clamp(1, limits.most_places);
        let except = self.host.asking_session(query);
        let found = self.runtime.block_on(self.host.past().search(query, most, except));
        let found = found?;
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

    fn result(&self, arguments: &Arguments) -> Result<Value, CallRefusal> {
        let id = arguments.text("id")?;
        let offset = arguments.number("offset", 0)?;
        let page = self.host.limits().past.page_chars;
        let whole = self.host.past().whole(id);
        let whole = whole.ok_or_else(|| CallRefusal::NoRecord(id.to_owned()))?;
        let total = whole.chars().count();
        let text: String = whole.chars().skip(offset).take(page).collect();
        let next = offset.saturating_add(page);
        let next = (next < total).then_some(next);
        Ok(json!({"id": id, "text": text, "total_chars": total, "next_offset": next}))
    }
}

fn by(reason: &str) -> MemoryAuthor {
    MemoryAuthor {
        who: MemoryWriter::Agent(SOURCE.to_owned()),
        reason: reason.to_owned(),
        session: None,
        messages: Vec::new(),
    }
}

/// What became of it, for the model.
fn told(kept: &Kept, done: &str) -> Result<Value, CallRefusal> {
    let state = match kept {
        Kept::Refused { reason } => return Err(CallRefusal::Gate(reason.clone())),
        Kept::Proposed { .. } => "waiting",
        _ if kept.entry().is_none() => "unchanged",
        Kept::Saved { .. } => done,
        Kept::Merged { .. } => "merged",
        Kept::Superseded { .. } => "updated",
    };
    let hint = kept.hint().unwrap_or_default();
    let note = match kept {
        Kept::Proposed { .. } => format!("it waits for the person's review: {hint}"),
        _ if kept.entry().is_none() => "a memory already says this".to_owned(),
        Kept::Merged { .. } | Kept::Superseded { .. } => {
            format!("{}; the person can undo it: {hint}", kept.notice().unwrap_or_default())
        }
        _ => format!("the person can undo it: {hint}"),
    };
    let id = kept.memory().map(MemoryRef::id).unwrap_or_default();
    Ok(json!({"id": id, "state": state, "note": note}))
}
