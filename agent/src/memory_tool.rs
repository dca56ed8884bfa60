//! Anthropic's memory tool (`memory_20250818`) over a store of ours (X4).
//!
//! A model that was trained on that tool sees the folder `/memories`; what it
//! writes there are memories like any other, with their lines in the index and
//! their entries in the history. The sentences it gets back are those it knows,
//! from the file tool of Anthropic's SDK.
//!
//! Three things differ from a plain folder. Memories are Markdown files, so a
//! name that does not end in `.md` is kept with that ending and shown without
//! it. The index, `MEMORY.md`, can be read and changed, but stays. And what does
//! not rest on the person's words waits in the inbox (L5.33): the model sees it
//! as written, sessions do not see it before the person says yes.

mod error;
mod keep;
mod path;
mod view;

use error::Refused;
use everfold_kernel::Testimony;
use everfold_memory_file::index::INDEX_FILE;
use everfold_memory_service::Service;
use everfold_memory_store::{By, Store, TopicPath};
use jiff::Timestamp;
use keep::Open;
use path::Target;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use view::{numbered, snippet};

/// Who made a change, in the history.
const SOURCE: &str = "memory_tool";

/// What a model asks of its memory.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(tag = "command", rename_all = "snake_case")]
pub enum Command {
    /// Shows a file, or what is in a folder.
    View {
        /// What.
        path: String,
        /// The first and the last line, from 1; -1 is the end.
        #[serde(default)]
        view_range: Option<Vec<i64>>,
    },
    /// Writes a new file.
    Create {
        /// Which.
        path: String,
        /// Its text.
        file_text: String,
    },
    /// Replaces a text that is in a file once.
    StrReplace {
        /// Which file.
        path: String,
        /// The text.
        old_str: String,
        /// What comes in its place.
        #[serde(default)]
        new_str: String,
    },
    /// Puts a text behind a line.
    Insert {
        /// Which file.
        path: String,
        /// Which line; 0 is the top.
        insert_line: i64,
        /// The text.
        insert_text: String,
    },
    /// Removes a file, or a folder and all in it.
    Delete {
        /// Which.
        path: String,
    },
    /// Gives a file or a folder another path.
    Rename {
        /// The path it has.
        old_path: String,
        /// The path it gets.
        new_path: String,
    },
}

/// What a model gets back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToolAnswer {
    /// It was done; this is the result.
    Done(String),
    /// It was not; this says why, and goes back with `is_error`.
    Failed(String),
}

impl ToolAnswer {
    /// What the model reads.
    #[must_use]
    pub fn text(&self) -> &str {
        match self {
            Self::Done(text) | Self::Failed(text) => text,
        }
    }
}

/// Whose memories a model works on, and what it can rest on.
pub struct MemoryAccess<'a> {
    /// The memories.
    pub service: &'a Service,
    /// The place that is `/memories`.
    pub store: &'a Store,
    /// What was said in the conversation that the model is in, if that is known:
    /// what rests on the person's words is kept at once.
    pub testimony: &'a Testimony,
}

/// Does what a model asks, at a moment.
#[must_use]
pub fn run(desk: &MemoryAccess<'_>, command: &Command, at: Timestamp) -> ToolAnswer {
    let by = By::agent(SOURCE, "", at);
    let tool = Tool { desk, store: desk.store, by: &by };
    let done = match command {
        Command::View { path, view_range } => tool.view(path, view_range.as_deref()),
        Command::Create { path, file_text } => tool.create(path, file_text),
        Command::StrReplace { path, old_str, new_str } => tool.replace(path, old_str, new_str),
        Command::Insert { path, insert_line, insert_text } => {
            tool.insert(path, *insert_line, insert_text)
        }
        Command::Delete { path } => tool.delete(path),
        Command::Rename { old_path, new_path } => tool.rename(old_path, new_path),
    };
    match done {
        Ok(text) => ToolAnswer::Done(text),
        Err(refused) => ToolAnswer::Failed(refused.to_string()),
    }
}

/// A store at work.
struct Tool<'a> {
    desk: &'a MemoryAccess<'a>,
    store: &'a Store,
    by: &'a By,
}

impl Tool<'_> {
    fn view(&self, path: &str, range: Option<&[i64]>) -> Result<String, Refused> {
        let target = Target::parse(path)?;
        if let Some(open) = self.read(&target)? {
            return numbered(path, &open.text, range);
        }
        let folder = target.folder();
        let inside = self.inside(&folder)?;
        if inside.is_empty() && !folder.is_empty() {
            return Err(Refused::NothingThere(path.to_owned()));
        }
        let index = folder.is_empty() && self.store.dir().join(INDEX_FILE).is_file();
        let files = inside.iter().map(TopicPath::as_str).chain(index.then_some(INDEX_FILE));
        let waiting: BTreeMap<String, usize> = self
            .proposed()?
            .into_iter()
            .filter_map(|(_, path, text)| Some((path.to_string(), text?.len())))
            .collect();
        let sizes = view::Shelf { dir: self.store.dir(), waiting: &waiting };
        Ok(view::listing(path, sizes, &folder, files))
    }

    fn create(&self, path: &str, text: &str) -> Result<String, Refused> {
        let target = Target::parse(path)?;
        let is_taken = match &target {
            Target::Top => true,
            Target::Index => self.read(&target)?.is_some(),
            Target::Topic(_) => {
                self.read(&target)?.is_some() || !self.inside(&target.folder())?.is_empty()
            }
        };
        if is_taken {
            return Err(Refused::Exists(path.to_owned()));
        }
        self.write(&target, text, &Open::nothing())?;
        Ok(format!("File created successfully at: {path}"))
    }

    fn replace(&self, path: &str, old: &str, new: &str) -> Result<String, Refused> {
        let target = Target::parse(path)?;
        let open = self.opened(path, &target)?;
        let lines = view::lines_of(&open.text, old);
        if lines.is_empty() {
            return Err(Refused::NotFound { old: old.to_owned(), path: path.to_owned() });
        }
        if lines.len() > 1 {
            let lines: Vec<String> = lines.iter().map(usize::to_string).collect();
            return Err(Refused::Ambiguous { old: old.to_owned(), lines: lines.join(", ") });
        }
        let changed = open.text.replacen(old, new, 1);
        self.write(&target, &changed, &open)?;
        let line = lines.first().copied().unwrap_or(1);
        Ok(format!(
            "The memory file has been edited. Here is the snippet showing the change \
             (with line numbers):\n{}",
            snippet(&changed, line)
        ))
    }

    fn insert(&self, path: &str, at: i64, text: &str) -> Result<String, Refused> {
        let target = Target::parse(path)?;
        let open = self.opened(path, &target)?;
        let mut lines: Vec<&str> = open.text.split('\n').collect();
        if lines.last().is_some_and(|last| last.is_empty()) {
            lines.pop();
        }
        let place = usize::try_from(at).ok().filter(|place| *place <= lines.len());
        let Some(place) = place else {
            return Err(Refused::NoSuchLine { at, most: lines.len() });
        };
        lines.insert(place, text.trim_end_matches('\n'));
        let mut changed = lines.join("\n");
        if !changed.ends_with('\n') {
            changed.push('\n');
        }
        self.write(&target, &changed, &open)?;
        Ok(format!("The file {path} has been edited."))
    }

    /// A file that is to be changed.
    fn opened(&self, path: &str, target: &Target) -> Result<Open, Refused> {
        if let Some(open) = self.read(target)? {
            return Ok(open);
        }
        let is_folder = match target {
            Target::Top => true,
            Target::Index => false,
            Target::Topic(_) => !self.inside(&target.folder())?.is_empty(),
        };
        let path = path.to_owned();
        Err(if is_folder { Refused::NoFile(path) } else { Refused::NothingThere(path) })
    }

    fn delete(&self, path: &str) -> Result<String, Refused> {
        let topics = match Target::parse(path)? {
            Target::Top => return Err(Refused::Top("delete")),
            Target::Index => return Err(Refused::Index("deleted")),
            target @ Target::Topic(_) => self.meant(&target)?,
        };
        if topics.is_empty() {
            return Err(Refused::Missing(path.to_owned()));
        }
        for topic in &topics {
            self.forget(topic)?;
        }
        self.sweep(&topics);
        Ok(format!("Successfully deleted {path}"))
    }

    fn rename(&self, old_path: &str, new_path: &str) -> Result<String, Refused> {
        let (from, to) = (Target::parse(old_path)?, Target::parse(new_path)?);
        let taken = || Refused::Taken(new_path.to_owned());
        let topics = match &from {
            Target::Top => return Err(Refused::Top("rename")),
            Target::Index => return Err(Refused::Index("renamed")),
            target @ Target::Topic(_) => self.meant(target)?,
        };
        let Target::Topic(new) = &to else { return Err(taken()) };
        if !self.meant(&to)?.is_empty() {
            return Err(taken());
        }
        if topics.is_empty() {
            return Err(Refused::Missing(old_path.to_owned()));
        }
        let (old_folder, new_folder) = (from.folder(), to.folder());
        for topic in &topics {
            let inside = topic.as_str().strip_prefix(&format!("{old_folder}/"));
            let renamed = match inside {
                Some(rest) => TopicPath::new(&format!("{new_folder}/{rest}")),
                None => Ok(new.clone()),
            };
            self.move_to(topic, renamed?)?;
        }
        self.sweep(&topics);
        Ok(format!("Successfully renamed {old_path} to {new_path}"))
    }

    /// Removes the folders that memories left empty.
    fn sweep(&self, gone: &[TopicPath]) {
        for folder in gone.iter().flat_map(|topic| topic.as_path().ancestors().skip(1)) {
            if folder != Path::new("") {
                // One that still holds something stays.
                let _ = std::fs::remove_dir(self.store.dir().join(folder));
            }
        }
    }

    /// The memories that a path stands for: one, or all in a folder.
    fn meant(&self, target: &Target) -> Result<Vec<TopicPath>, Refused> {
        match target {
            Target::Topic(topic) if self.read(target)?.is_some() => Ok(vec![topic.clone()]),
            target => self.inside(&target.folder()),
        }
    }

    /// The memories in a folder, by path; all of them at the top.
    fn inside(&self, folder: &str) -> Result<Vec<TopicPath>, Refused> {
        let all = self.store.scan(usize::MAX)?;
        let mut topics: BTreeSet<TopicPath> = all.into_iter().map(|topic| topic.path).collect();
        for (_, path, text) in self.proposed()? {
            match text {
                Some(_) => topics.insert(path),
                None => topics.remove(&path),
            };
        }
        let mut topics: Vec<TopicPath> = topics.into_iter().collect();
        let start = if folder.is_empty() { String::new() } else { format!("{folder}/") };
        topics.retain(|topic| topic.as_str().starts_with(&start));
        topics.sort();
        Ok(topics)
    }
}
