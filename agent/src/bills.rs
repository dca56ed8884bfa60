//! The bills of many sessions, read once and remembered (PC9, PC10).
//!
//! A session is read when its file is new or has grown; what was made of it is
//! kept in an index, a line for each file. The index holds for one table of
//! prices, and nothing but time is lost where it is.

mod groups;

pub use groups::{Group, GroupBy, causes, groups, monday};

use crate::error::Error;
use crate::replay::{Replayed, replay_file};
use crate::session_files::{SessionFile, head_of, is_there};
use everfold_disk::atomic::{self, FileReaders};
use everfold_disk::jsonl;
use everfold_foreign::Format;
use everfold_kernel::{ModelId, ModelTable, Timestamp, Usage};
use everfold_replay::{
    Bill, BillCause, BilledBreak, BilledRequest, CauseCost, Options, OtherLifetime, Policy,
};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The bill of one session.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionBill {
    /// Its file.
    pub path: PathBuf,
    /// Who wrote it; none where it is no transcript.
    pub agent: Option<String>,
    /// Its id, as the file says.
    pub session: Option<String>,
    /// The directory that it worked in.
    pub project: Option<String>,
    /// How the person's first message begins.
    pub title: Option<String>,
    /// Parts that could not be read.
    pub skipped: u64,
    /// What it cost.
    pub bill: Bill,
}

impl SessionBill {
    /// What it is called: its id, else its file.
    #[must_use]
    pub fn name(&self) -> String {
        let file = || self.path.file_stem().map(|name| name.to_string_lossy().into_owned());
        self.session.clone().or_else(file).unwrap_or_default()
    }
}

/// Bills, and files that could not be read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BillBook {
    /// One for each session, in the order of its first request.
    pub sessions: Vec<SessionBill>,
    /// Files that could not be read, with the reason.
    pub failed: Vec<(PathBuf, String)>,
    /// How many were read anew.
    pub read: usize,
}

/// Where the index of a home is; none where there is no home to put it in.
#[must_use]
pub fn bill_index(home: &Path) -> Option<PathBuf> {
    home.is_dir().then(|| home.join("cache").join("bills.jsonl"))
}

/// Reads the bills of these files. `progress` is told after each file that had
/// to be read how many bytes of how many are done.
#[must_use]
pub fn read_bills(
    files: &[SessionFile],
    options: &Options,
    index: Option<&Path>,
    progress: &mut dyn FnMut(u64, u64),
) -> BillBook {
    let mut sessions = Vec::new();
    let reading = each_bill(files, options, index, progress, &mut |bill| sessions.push(bill));
    let first = |own: &SessionBill| own.bill.requests.iter().map(|request| request.at).min();
    sessions.sort_by_key(first);
    drop_copies(&mut sessions);
    let BillReading { failed, read } = reading;
    BillBook { sessions, failed, read }
}

/// What came of reading bills one by one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BillReading {
    /// Files that could not be read, with the reason.
    pub failed: Vec<(PathBuf, String)>,
    /// How many were read anew.
    pub read: usize,
}

/// Hands over the bills of these files one by one, in no order, so that who has
/// ten thousand of them need not hold them all. A request that stands in two
/// files is in both.
pub fn each_bill(
    files: &[SessionFile],
    options: &Options,
    index: Option<&Path>,
    progress: &mut dyn FnMut(u64, u64),
    sink: &mut dyn FnMut(SessionBill),
) -> BillReading {
    let options = Options {
        policies: vec![Policy::Recorded],
        // The window says nothing of what was billed.
        window_tokens: Some(options.limits.long_window_tokens),
        ..options.clone()
    };
    let head = fingerprint(&options.table);
    let mut left: BTreeMap<&Path, &SessionFile> =
        files.iter().map(|file| (file.path.as_path(), file)).collect();
    if let Some(path) = index {
        read_index(path, &head, &mut |_, own| {
            let wanted = left.get(own.path.as_path());
            if wanted.is_some_and(|file| (own.bytes, own.modified) == (file.bytes, file.modified)) {
                left.remove(own.path.as_path());
                sink(own.bill(&options.table));
            }
        });
    }
    let all: u64 = left.values().map(|own| own.bytes).sum();
    let (mut reading, mut done) = (BillReading::default(), 0);
    let mut fresh = FreshLines::new(&head);
    // In the order in which they were given.
    for file in files.iter().filter(|file| left.contains_key(file.path.as_path())) {
        match replay_file(&file.path, &options) {
            Ok(found) => {
                let own = Indexed::of(file, found);
                if index.is_some() {
                    fresh.add(&own);
                }
                sink(own.bill(&options.table));
                reading.read += 1;
            }
            Err(error) => reading.failed.push((file.path.clone(), error.to_string())),
        }
        done += file.bytes;
        progress(done, all);
    }
    if let Some(path) = index.filter(|_| !fresh.paths.is_empty()) {
        // Without an index the next look takes longer, and nothing else.
        let _ = fresh.write(path, &head);
    }
    reading
}

/// A session that was resumed in another file has its requests in both: they
/// were paid for once.
fn drop_copies(sessions: &mut [SessionBill]) {
    let mut seen = BTreeSet::new();
    for session in sessions {
        session.bill.requests.retain(|request| request.key == 0 || seen.insert(request.key));
    }
}

/// A request of the index.
type Row = (i64, u64, usize, u64, u64, u64, u64, u64, u64);

/// A file of the index.
#[derive(Debug, Serialize, Deserialize)]
struct Indexed {
    path: PathBuf,
    bytes: u64,
    modified: i64,
    agent: Option<String>,
    session: Option<String>,
    project: Option<String>,
    title: Option<String>,
    skipped: u64,
    models: Vec<String>,
    /// Time, key, model, input, read, written for five minutes and an hour,
    /// output, searches.
    requests: Vec<Row>,
    causes: Vec<(BillCause, String, CauseCost)>,
    hours: Vec<(i64, BillCause, f64)>,
    breaks: Vec<BilledBreak>,
    lifetime: OtherLifetime,
}

impl Indexed {
    fn of(file: &SessionFile, found: Replayed) -> Self {
        let Replayed { about, outcome, .. } = found;
        let bill = outcome.lanes.into_iter().find_map(|lane| lane.bill).unwrap_or_default();
        let mut models: Vec<String> = Vec::new();
        let mut place = |model: &ModelId| {
            let at = models.iter().position(|own| own == model.as_str());
            at.unwrap_or_else(|| {
                models.push(model.as_str().to_owned());
                models.len() - 1
            })
        };
        let row = |own: &BilledRequest| {
            let used = &own.usage;
            let (short, long) = (used.cache_write_5m, used.cache_write_1h);
            let (at, model) = (own.at.as_millisecond(), place(&own.model));
            let (read, output) = (used.cache_read, used.output);
            (at, own.key, model, used.input, read, short, long, output, used.web_searches)
        };
        let requests = bill.requests.iter().map(row).collect();
        Self {
            path: file.path.clone(),
            bytes: file.bytes,
            modified: file.modified,
            agent: about.format.map(Format::as_str).map(str::to_owned),
            session: about.session.map(|own| own.as_str().to_owned()),
            project: about.cwd,
            title: head_of(&file.path).title,
            skipped: about.tally.skips(),
            models,
            requests,
            causes: bill
                .causes
                .into_iter()
                .map(|((cause, tool), own)| (cause, tool, own))
                .collect(),
            hours: bill.hours.into_iter().map(|((hour, cause), usd)| (hour, cause, usd)).collect(),
            breaks: bill.breaks,
            lifetime: bill.lifetime,
        }
    }

    fn bill(self, table: &ModelTable) -> SessionBill {
        let models: Vec<ModelId> = self.models.into_iter().map(ModelId::new).collect();
        let requests = self.requests.into_iter().filter_map(|row| {
            let (at, key, model, input, cache_read, five, hour, output, web_searches) = row;
            let usage = Usage {
                input,
                cache_read,
                cache_write_5m: five,
                cache_write_1h: hour,
                output,
                web_searches,
            };
            let model = models.get(model)?.clone();
            let usd = table.spec(&model).cost(&usage).map(|usd| usd.0);
            let at = Timestamp::from_millisecond(at).ok()?;
            Some(BilledRequest { at, key, model, usage, usd })
        });
        let bill = Bill {
            causes: self
                .causes
                .into_iter()
                .map(|(cause, tool, own)| ((cause, tool), own))
                .collect(),
            hours: self.hours.into_iter().map(|(hour, cause, usd)| ((hour, cause), usd)).collect(),
            breaks: self.breaks,
            requests: requests.collect(),
            lifetime: self.lifetime,
        };
        SessionBill {
            path: self.path,
            agent: self.agent,
            session: self.session,
            project: self.project,
            title: self.title,
            skipped: self.skipped,
            bill,
        }
    }
}

/// The first line of an index.
#[derive(Debug, Serialize, Deserialize, PartialEq, Eq)]
struct Head {
    version: u32,
    prices: String,
}

/// The form of the lines. Another one is made anew.
const VERSION: u32 = 3;

/// What prices and the form of the index come to.
fn fingerprint(table: &ModelTable) -> Head {
    let specs: Vec<String> = table
        .iter()
        .map(|(name, spec)| format!("{name} {:?} {:?}", spec.prices, spec.long_prices))
        .collect();
    let hash = everfold_prefix::sim::hash(specs.join("\n").as_bytes());
    let prices = u128::from_be_bytes(hash).to_string();
    Head { version: VERSION, prices }
}

/// Every line of an index that holds for this head, as it is and as it was read.
fn read_index(path: &Path, head: &Head, sink: &mut dyn FnMut(&[u8], Indexed)) {
    let mut holds = None;
    // What cannot be read is made anew.
    let _ = jsonl::read(path, u64::MAX, &mut |line| match holds {
        None => holds = Some(serde_json::from_slice::<Head>(line).is_ok_and(|own| own == *head)),
        Some(true) => {
            if let Ok(own) = serde_json::from_slice::<Indexed>(line) {
                sink(line, own);
            }
        }
        Some(false) => {}
    });
}

/// An index that is written anew: lines that are new, then those that still
/// hold. Held once, as the bytes that are written.
struct FreshLines {
    bytes: Vec<u8>,
    paths: BTreeSet<PathBuf>,
}

impl FreshLines {
    fn new(head: &Head) -> Self {
        Self { bytes: serde_json::to_vec(head).unwrap_or_default(), paths: BTreeSet::new() }
    }

    fn add(&mut self, own: &Indexed) {
        self.bytes.push(b'\n');
        // Writing to memory does not fail.
        let _ = serde_json::to_writer(&mut self.bytes, own);
        self.paths.insert(own.path.clone());
    }

    fn write(self, path: &Path, head: &Head) -> Result<(), Error> {
        let Self { mut bytes, paths } = self;
        read_index(path, head, &mut |line, own| {
            // Files that are gone need no line.
            if !paths.contains(&own.path) && is_there(&own.path) {
                bytes.push(b'\n');
                bytes.extend_from_slice(line.trim_ascii_end());
            }
        });
        bytes.push(b'\n');
        Ok(atomic::write(path, &bytes, FileReaders::Private)?)
    }
}
