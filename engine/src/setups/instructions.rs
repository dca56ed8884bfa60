//! Instruction files at work: what is read when a conversation starts, and
//! what joins it when tools touch files (I1, I2).
//!
//! `everfold-rules` says where to look and in which order; here the looking is
//! done. What was loaded is known by the attachments that are still shown, so a
//! resumed session knows it, and a compaction lets everything load again.

use crate::config::InstructionSources;
use crate::permit::Footprint;
use crate::session::prelude::{INSTRUCTIONS, NESTED};
use crate::session::{Error, Session, status};
use crate::setups::hooks::session_events;
use crate::setups::skills;
use everfold_kernel::ports::{FileError, Files};
use everfold_kernel::provenance::Source;
use everfold_kernel::tokens::estimate_text;
use everfold_kernel::{Attachment, Entry, Limits};
use everfold_rules::{
    Bounds, FileFate, Given, InstructionCandidate, InstructionFile, InstructionText, Instructions,
    Lazy, LoadRequest, Loader, Patterns, Touch, compact_instructions, plan, render,
};
use serde_json::json;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The field of an attachment's data that holds what a summary is to keep in mind.
const COMPACT_FIELD: &str = "compactInstructions";
/// The most files of one directory of rules.
const RULE_FILES: usize = 1_000;

impl InstructionSources {
    fn bounds(&self, limits: &Limits) -> Bounds {
        Bounds {
            tree: self.tree.clone(),
            user_dir: self.user_dir.clone(),
            excludes: Patterns::new(&self.excludes, &limits.rules),
            own_excludes: Patterns::new(&self.own_excludes, &limits.rules),
        }
    }

    /// What a session starts with.
    pub async fn start(&self, files: &dyn Files, limits: &Limits) -> Instructions {
        self.load(plan(&self.places), BTreeSet::new(), files, limits).await
    }

    /// What joins it when these files are touched.
    pub async fn touched(
        &self,
        start: &Instructions,
        touched: &[(PathBuf, Touch)],
        files: &dyn Files,
        limits: &Limits,
    ) -> Instructions {
        let mut lazy = lazy(self, start);
        let due = touched.iter().flat_map(|(path, touch)| lazy.touch(path, *touch)).collect();
        self.load(due, lazy.loaded().clone(), files, limits).await
    }

    /// Loads candidates, without what is known already.
    pub async fn load(
        &self,
        candidates: Vec<InstructionCandidate>,
        known: BTreeSet<PathBuf>,
        files: &dyn Files,
        limits: &Limits,
    ) -> Instructions {
        let bounds = self.bounds(limits);
        let mut loader = Loader::new(candidates, known, &bounds, limits);
        while let Some(need) = loader.need() {
            loader.give(answer(files, &loader, need, limits.rules.file_bytes).await);
        }
        loader.finish()
    }
}

/// What there is. Nothing is read that the loader does not admit.
async fn answer(
    files: &dyn Files,
    loader: &Loader<'_>,
    need: LoadRequest,
    max_bytes: u64,
) -> Given {
    let (LoadRequest::File(path) | LoadRequest::Listing(path)) = &need;
    let real = match files.find(path).await {
        Ok(real) => real,
        Err(error) => return of_error(error),
    };
    match need {
        _ if !loader.admits(&real) => Given::Outside { real },
        LoadRequest::Listing(dir) => list(files, &dir).await,
        LoadRequest::File(path) => match files.read(&path, max_bytes).await {
            Ok(found) => Given::File { real, bytes: found.bytes.to_vec() },
            Err(error) => of_error(error),
        },
    }
}

async fn list(files: &dyn Files, dir: &Path) -> Given {
    files.list(dir, RULE_FILES).await.map_or_else(of_error, Given::Listing)
}

fn of_error(error: FileError) -> Given {
    match error {
        FileError::NotFound { .. } | FileError::IsDirectory { .. } => Given::Missing,
        FileError::TooLarge { bytes, .. } => Given::TooLarge { bytes },
        error => Given::Unreadable { message: error.to_string() },
    }
}

/// Reads the instruction files of the start, and brings them in.
pub(crate) async fn attach_instructions(session: &mut Session) -> Result<(), Error> {
    let Some(sources) = session.config.setups.instructions.clone() else { return Ok(()) };
    let start = load_start(session, &sources).await;
    tell_left_out(session, &start.rows);
    session_events::told_instructions(session, &start.rows).await?;
    session.runtime.branch.lazy = Some(lazy(&sources, &start));
    attach_texts(session, INSTRUCTIONS, &start).await
}

/// Brings in what becomes due by the files that tools touched.
pub(crate) async fn attach_touched(session: &mut Session) -> Result<(), Error> {
    let touched = std::mem::take(&mut session.runtime.branch.touched);
    let paths: Vec<PathBuf> = touched.iter().map(|(path, _)| path.clone()).collect();
    skills::attach_skills_for(session, &paths).await?;
    let Some(sources) = session.config.setups.instructions.clone() else { return Ok(()) };
    if touched.is_empty() {
        return Ok(());
    }
    let mut lazy = match session.runtime.branch.lazy.take() {
        Some(lazy) => lazy,
        None => rebuilt_lazy(session, &sources).await,
    };
    let due: Vec<InstructionCandidate> =
        touched.iter().flat_map(|(path, touch)| lazy.touch(path, *touch)).collect();
    let known = lazy.loaded().clone();
    let files = Arc::clone(&session.world.files);
    let limits = Arc::clone(&session.config.limits);
    let more = sources.load(due, known, &*files, &limits).await;
    lazy.absorb(&more);
    session.runtime.branch.lazy = Some(lazy);
    tell_left_out(session, &more.rows);
    session_events::told_instructions(session, &more.rows).await?;
    attach_texts(session, NESTED, &more).await
}

async fn load_start(session: &Session, sources: &InstructionSources) -> Instructions {
    sources.start(&*session.world.files, &session.config.limits).await
}

/// What may still load in a session that was resumed: rules wait as they
/// do at a start, and what is shown is loaded.
async fn rebuilt_lazy(session: &Session, sources: &InstructionSources) -> Lazy {
    let mut lazy = lazy(sources, &load_start(session, sources).await);
    let shown = session.state.shown_data(INSTRUCTIONS).chain(session.state.shown_data(NESTED));
    let paths = shown.filter_map(|data| data.get("paths")?.as_array()).flatten();
    let loaded = paths.filter_map(|path| path.as_str().map(PathBuf::from)).collect();
    lazy.absorb(&Instructions { loaded, ..Instructions::default() });
    lazy
}

async fn attach_texts(
    session: &mut Session,
    kind: &str,
    loaded: &Instructions,
) -> Result<(), Error> {
    let texts = fitted(session, &loaded.texts);
    let Some(rendered) = render(&texts) else { return Ok(()) };
    let paths: Vec<String> = loaded.loaded.iter().map(|path| path.display().to_string()).collect();
    let mut data = json!({ "paths": paths });
    let wishes: Vec<String> =
        loaded.texts.iter().filter_map(|text| compact_instructions(&text.text)).collect();
    if let (Some(fields), false) = (data.as_object_mut(), wishes.is_empty()) {
        fields.insert(COMPACT_FIELD.to_owned(), wishes.join("\n\n").into());
    }
    session
        .append(Entry::Attachment(Attachment {
            kind: kind.into(),
            rendered,
            data,
            provenance: Some(Source::Repository.into()),
        }))
        .await?;
    Ok(())
}

/// The texts as far as they leave room for a conversation: none is longer
/// than what lets all of them fit (I4). What is cut is told.
fn fitted(session: &mut Session, texts: &[InstructionText]) -> Vec<InstructionText> {
    let limits = Arc::clone(&session.config.limits);
    let percent = limits.rules.window_percent;
    let room = session.window().effective.0 * percent / 100;
    let needed: u64 = texts.iter().map(|text| estimate_text(&text.text, &limits).0).sum();
    if needed <= room || needed == 0 {
        return texts.to_vec();
    }
    let chars: Vec<usize> = texts.iter().map(|text| text.text.chars().count()).collect();
    let total: usize = chars.iter().sum();
    let fits = u64::try_from(total).unwrap_or(u64::MAX).saturating_mul(room) / needed;
    let most = longest_that_fit(chars, usize::try_from(fits).unwrap_or(usize::MAX));
    let mut cut = Vec::new();
    let own = texts.iter().map(|text| {
        let all = text.text.chars().count();
        if all <= most {
            return text.clone();
        }
        let start: String = text.text.chars().take(most).collect();
        let path = text.path.display();
        cut.push(format!("{path} was cut: {most} of its {all} characters are shown"));
        let note = format!("[cut here: {} more characters of {path}]", all - most);
        InstructionText { text: format!("{start}\n\n{note}"), ..text.clone() }
    });
    let own = own.collect();
    status::say_once(session, "long instructions", || {
        let why = format!("instruction files may take {percent} % of the window");
        format!("{}; {why}; make them shorter", cut.join("; "))
    });
    own
}

/// The length to which texts are cut so that together they have no more than
/// `room`: short ones stay whole, and leave what they do not need to others.
fn longest_that_fit(mut lengths: Vec<usize>, mut room: usize) -> usize {
    lengths.sort_unstable();
    let mut left = lengths.len();
    for length in lengths {
        let share = room / left.max(1);
        if length > share {
            return share;
        }
        room -= length;
        left -= 1;
    }
    usize::MAX
}

/// What the instruction files in view want a summary to keep in mind (L4.16).
pub(crate) fn compact_wishes(session: &Session) -> Option<String> {
    let shown = session.state.shown_data(INSTRUCTIONS).chain(session.state.shown_data(NESTED));
    let wishes: Vec<&str> = shown.filter_map(|data| data.get(COMPACT_FIELD)?.as_str()).collect();
    (!wishes.is_empty()).then(|| wishes.join("\n\n"))
}

/// Says what was left out and can be mended by the person (I4, I5).
fn tell_left_out(session: &mut Session, rows: &[InstructionFile]) {
    let left_out: Vec<String> = rows.iter().filter_map(left_out).collect();
    if !left_out.is_empty() {
        status::say_once(session, "instructions", || left_out.join("; "));
    }
}

fn lazy(sources: &InstructionSources, start: &Instructions) -> Lazy {
    Lazy::new(sources.places.cwd.clone(), sources.tree.root.clone(), start)
}

fn left_out(row: &InstructionFile) -> Option<String> {
    let path = row.path.display();
    match &row.fate {
        FileFate::NeedsApproval { real } if *real == row.path => Some(format!(
            "{path} was not loaded: a file of the repository imports it from outside, which needs \
             your approval (`everfold trust`)"
        )),
        FileFate::NeedsApproval { real } => Some(format!(
            "{path} was not loaded: it leads outside of the repository, to {}, which needs your \
             approval (`everfold trust`)",
            real.display()
        )),
        FileFate::TooLarge { bytes } => {
            Some(format!("{path} was not loaded: it has {bytes} bytes; make it shorter"))
        }
        FileFate::Unreadable { message } => Some(format!("{path} was not loaded: {message}")),
        _ => None,
    }
}

/// How a tool's access touches a file.
pub(crate) fn touch(deed: &Footprint) -> Option<(PathBuf, Touch)> {
    match deed {
        Footprint::Read(path) => Some((path.clone(), Touch::Read)),
        Footprint::Edit(path) => Some((path.clone(), Touch::Write)),
        _ => None,
    }
}
