//! `list`, `show`, `path`.

use super::Bench;
use super::lookup::Meant;
use crate::args::memory::{Named, Tier};
use crate::presenter::{Presenter, TextStyle, counted, cut, size};
use crate::session_picker;
use anyhow::Result;
use everfold_memory_file::Memory;
use everfold_memory_store::Store;
use everfold_memory_store::location::{LocationSource, SetBy};
use everfold_memory_store::store::{Note, TopicHead};
use everfold_memory_store::usage::Count;
use everfold_tui::Table;
use serde_json::{Value, json};

/// Characters of a preview.
const PREVIEW_CHARS: usize = 100;

/// A memory in the list.
struct Row {
    tier: Tier,
    topic: TopicHead,
    count: Count,
    preview: String,
}

impl Bench<'_> {
    fn rows(&self, scope: Option<Tier>) -> Result<Vec<Row>> {
        let mut rows = Vec::new();
        for (tier, store) in self.stores(scope)? {
            // A store that can only be read has no counts; that is no reason
            // not to list it.
            let mut counts = store.usage().unwrap_or_default();
            for topic in store.scan(usize::MAX)? {
                let count = counts.remove(&topic.path).unwrap_or_default();
                let preview = preview(&store, &topic);
                rows.push(Row { tier, topic, count, preview });
            }
        }
        Ok(rows)
    }

    /// Memories for the screen.
    pub(super) fn memories(&self) -> Result<Table> {
        let rows = self.rows(None)?.iter().map(|row| self.shown(row)).collect();
        let head = ["memory", "type", "where", "age", "used", "what it says"];
        let empty = "no memories yet; they come as you work, or with # and a sentence";
        Ok(Table { head: head.map(str::to_owned).to_vec(), rows, empty: empty.to_owned() })
    }

    fn shown(&self, row: &Row) -> everfold_tui::TableRow {
        let front = &row.topic.front;
        let path = row.topic.path.as_str();
        let mut more = vec![row.preview.clone()];
        more.extend(front.basis.map(|basis| format!("basis: {}", basis.as_str())));
        more.extend(front.date.map(|date| format!("from: {date}")));
        more.extend(front.session.as_ref().map(|session| format!("session: {session}")));
        more.push(format!(
            "recalled {}, used {}",
            counted(row.count.recalled, "time"),
            row.count.used
        ));
        everfold_tui::TableRow {
            id: format!("\"{path}\" --scope {}", row.tier.as_str()),
            cells: vec![
                path.strip_suffix(".md").unwrap_or(path).to_owned(),
                front.kind.map_or("-", everfold_memory_file::MemoryType::as_str).to_owned(),
                row.tier.as_str().to_owned(),
                session_picker::age(row.topic.modified, self.at()),
                row.count.used.to_string(),
                row.preview.clone(),
            ],
            look: if row.topic.fault.is_some() { TextStyle::Yellow } else { TextStyle::Normal },
            more: more.join("\n"),
        }
    }

    pub(super) fn list(&self, scope: Option<Tier>, json: bool) -> Result<()> {
        let rows = self.rows(scope)?;
        if json {
            let rows: Vec<Value> = rows.iter().map(|row| self.row_json(row)).collect();
            return Ok(Presenter::json(&rows)?);
        }
        if rows.is_empty() {
            return Ok(self.presenter.line("no memories yet")?);
        }
        let cells: Vec<Vec<String>> = rows.iter().map(|row| self.cells(row)).collect();
        Ok(self.presenter.table(&cells)?)
    }

    fn cells(&self, row: &Row) -> Vec<String> {
        let kind = row.topic.front.kind.map_or("-", everfold_memory_file::MemoryType::as_str);
        vec![
            row.topic.path.to_string(),
            kind.to_owned(),
            row.tier.as_str().to_owned(),
            session_picker::age(row.topic.modified, self.at()),
            format!("used {}", row.count.used),
            size(row.topic.bytes),
            row.preview.clone(),
        ]
    }

    fn row_json(&self, row: &Row) -> Value {
        let Row { tier, topic, count, preview } = row;
        json!({
            "path": topic.path,
            "file": self.memories.dir(tier.scope()).join(topic.path.as_path()),
            "scope": tier.as_str(),
            "name": topic.front.name,
            "description": topic.front.description,
            "type": topic.front.kind,
            "bytes": topic.bytes,
            "modified": topic.modified,
            "age_days": self.age_days(topic),
            "used": count.used,
            "recalled": count.recalled,
            "preview": preview,
            "fault": topic.fault,
        })
    }

    fn age_days(&self, topic: &TopicHead) -> i64 {
        self.at().duration_since(topic.modified).as_hours().max(0) / 24
    }

    pub(super) fn show(&self, named: &Named) -> Result<()> {
        let Meant { tier, store, topic } = self.find(&named.name, named.scope)?;
        let read = store.read(&topic.path)?;
        let note = read.note.map(|note| match note {
            Note::Cut { bytes } => format!("it has {bytes} bytes; only its start is shown"),
            Note::NotUtf8 => "parts of it are not UTF-8 and were replaced".to_owned(),
        });
        let memory = Memory::parse(&read.text);
        if named.json {
            return Ok(Presenter::json(&json!({
                "path": topic.path,
                "file": store.dir().join(topic.path.as_path()),
                "scope": tier.as_str(),
                "name": memory.front.name,
                "description": memory.front.description,
                "type": memory.front.kind,
                "modified": topic.modified,
                "age_days": self.age_days(&topic),
                "bytes": topic.bytes,
                "frontmatter": memory.front.all,
                "body": memory.body,
                "text": read.text,
                "fault": memory.fault.map(|fault| fault.to_string()),
                "note": note,
            }))?);
        }
        self.presenter.text(&read.text)?;
        if !read.text.ends_with('\n') {
            self.presenter.text("\n")?;
        }
        for said in note.into_iter().chain(memory.fault.map(|fault| fault.to_string())) {
            self.presenter.note(TextStyle::Yellow, &format!("{}: {said}", topic.path));
        }
        Ok(())
    }

    pub(super) fn path(&self, scope: Tier, json: bool) -> Result<()> {
        let source = match self.memories.source() {
            LocationSource::Override => "environment",
            LocationSource::Setting(SetBy::Managed) => "managed settings",
            LocationSource::Setting(SetBy::User) => "user settings",
            LocationSource::Setting(SetBy::Local | SetBy::Repository) => "local settings",
            LocationSource::Default => "default",
        };
        if let Some(refused) = self.memories.refused() {
            self.presenter.note(TextStyle::Yellow, refused);
        }
        let dir = self.memories.dir(scope.scope());
        if json {
            let place = |tier: Tier| {
                let dir = self.memories.dir(tier.scope());
                json!({"dir": dir, "exists": dir.is_dir()})
            };
            return Ok(Presenter::json(&json!({
                "path": dir,
                "source": source,
                "refused": self.memories.refused(),
                "project": place(Tier::Project),
                "global": place(Tier::Global),
                "team": place(Tier::Team),
            }))?);
        }
        Ok(self.presenter.line(&dir.display().to_string())?)
    }
}

/// What a memory says in a line: its description, else how it starts.
fn preview(store: &Store, topic: &TopicHead) -> String {
    if let Some(fault) = &topic.fault {
        return cut(&format!("({fault})"), PREVIEW_CHARS);
    }
    if let Some(description) = &topic.front.description {
        return cut(description, PREVIEW_CHARS);
    }
    let text = store.read(&topic.path).map(|read| read.text).unwrap_or_default();
    let body = Memory::parse(&text).body;
    let line = body.lines().map(str::trim).find(|line| !line.is_empty());
    cut(line.unwrap_or_default(), PREVIEW_CHARS)
}
