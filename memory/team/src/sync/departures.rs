//! What we publish.

use super::arrivals::{Unshared, sharable};
use super::{FOLDER, HeldMemory, HeldSide, SyncReport, TeamSync, base_file};
use crate::ancestor::TeamBase;
use crate::plan::TeamPlan;
use everfold_kernel::ports::{TeamChange, TeamError, TeamHead};
use serde::Deserialize;
use std::collections::BTreeMap;

/// What says which form the shared place has.
const FORMAT_FILE: &str = "everfold-team.json";
/// The newest form that we write.
const FORMAT: u64 = 1;
/// What people find who look into the shared place.
const README_FILE: &str = "README.md";
const README: &str = "# Memories of a team\n\nWhat the members and their agents share, one file \
                      per memory under `memory/`. Written and merged by `everfold team`.\n";
/// Largest file of that kind that is read.
const FORMAT_BYTES: u64 = 64 * 1024;
/// Memories that a note names.
const NAMED: usize = 5;

#[derive(Deserialize)]
struct Form {
    format: u64,
}

/// What the others are to have.
pub(super) struct Departures {
    pub(super) changes: Vec<TeamChange>,
    pub(super) note: String,
    texts: BTreeMap<String, Option<String>>,
}

/// What can be published of a plan; the rest is named.
pub(super) fn wanted(sync: &TeamSync<'_>, plan: &TeamPlan, report: &mut SyncReport) -> Departures {
    let mut texts = BTreeMap::new();
    for (path, text) in &plan.there {
        match text.as_deref().map(|text| fit(sync, path, text)) {
            Some(Err(why)) => {
                let why = why.to_string();
                report.held.push(HeldMemory { path: path.clone(), why, side: HeldSide::Here });
            }
            _ => {
                texts.insert(path.clone(), text.clone());
            }
        }
    }
    let one = |(path, text): (&String, &Option<String>)| TeamChange {
        path: format!("{FOLDER}{path}"),
        content: text.clone().map(String::into_bytes),
    };
    let changes: Vec<TeamChange> = texts.iter().map(one).collect();
    let note = note(&texts);
    Departures { changes, note, texts }
}

/// What makes an empty place one that a team meets in.
pub(super) fn first_files() -> Vec<TeamChange> {
    let file = |path: &str, text: String| TeamChange {
        path: path.to_owned(),
        content: Some(text.into_bytes()),
    };
    let format = format!("{{\"format\": {FORMAT}}}\n");
    vec![file(FORMAT_FILE, format), file(README_FILE, README.to_owned())]
}

/// The form of the shared place, where it is newer than what we write.
pub(super) fn newer_form(sync: &TeamSync<'_>, head: &TeamHead) -> Result<Option<u64>, TeamError> {
    let Some(file) = head.files.get(FORMAT_FILE).filter(|file| file.bytes <= FORMAT_BYTES) else {
        return Ok(None);
    };
    let read = sync.remote.contents(std::slice::from_ref(&file.version))?;
    let text = read.first().and_then(|bytes| serde_json::from_slice::<Form>(bytes).ok());
    Ok(text.map(|form| form.format).filter(|format| *format > FORMAT))
}

fn fit(sync: &TeamSync<'_>, path: &str, text: &str) -> Result<(), Unshared> {
    let (bytes, most) = (text.len() as u64, sync.limits.file_bytes);
    if bytes > most {
        return Err(Unshared::TooLong { bytes, most });
    }
    sharable(path, text)
}

/// What a commit says: the memories by their names.
fn note(texts: &BTreeMap<String, Option<String>>) -> String {
    if texts.is_empty() {
        return "Consolidate the memories".to_owned();
    }
    let verb = if texts.values().all(Option::is_none) { "Forget" } else { "Keep" };
    let names: Vec<&str> =
        texts.keys().map(|path| path.strip_suffix(".md").unwrap_or(path)).take(NAMED).collect();
    let more = texts.len().saturating_sub(names.len());
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{verb} {}{more}", names.join(", "))
}

impl Departures {
    pub(super) fn paths(&self) -> impl Iterator<Item = String> {
        self.texts.keys().cloned()
    }

    /// The state in common once the others have it.
    pub(super) fn published(&self, common: &mut TeamBase, new: &TeamHead) {
        common.revision.clone_from(&new.revision);
        for (path, text) in &self.texts {
            common.files.remove(path);
            let file = new.files.get(&format!("{FOLDER}{path}"));
            if let Some((file, text)) = file.zip(text.as_ref()) {
                common.files.insert(path.clone(), base_file(&file.version, text));
            }
        }
    }
}
