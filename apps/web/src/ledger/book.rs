//! What is kept of each session: enough for lists and sums, and no more, so that
//! ten thousand of them fit.

use everfold_agent::bills::{Group, SessionBill};
use everfold_agent::session_files::SessionFile;
use everfold_kernel::{Timestamp, Usage};
use everfold_memory_judge::secrets;
use everfold_replay::{BillCause, BilledRequest};
use jiff::civil::Date;
use jiff::tz::TimeZone;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// One session in lists and sums.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SessionRow {
    /// What it is called in addresses.
    pub(crate) key: String,
    /// Its id, or the name of its file.
    pub(crate) name: String,
    pub(crate) path: PathBuf,
    pub(crate) agent: String,
    pub(crate) project: Option<String>,
    /// How the person's first message begins.
    pub(crate) title: Option<String>,
    /// Its first request and its last.
    pub(crate) span: Option<(Timestamp, Timestamp)>,
    pub(crate) total: Group,
    /// The prompt of its largest request.
    pub(crate) largest: u64,
    /// Breaks of the cache inside its lifetime, and what they cost.
    pub(crate) breaks: (usize, f64),
    pub(crate) days: Vec<DayCell>,
    pub(crate) causes: Vec<CauseCell>,
    pub(crate) bytes: u64,
    pub(crate) modified: i64,
    /// Its requests, so that a copy of them is not counted.
    keys: Box<[u64]>,
}

/// Requests of one day by one model.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct DayCell {
    pub(crate) day: Date,
    pub(crate) model: Arc<str>,
    pub(crate) sum: Group,
}

/// What a cause cost on one day.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct CauseCell {
    pub(crate) day: Date,
    pub(crate) cause: BillCause,
    pub(crate) usd: f64,
    /// What of it could have been saved.
    pub(crate) avoidable: f64,
}

impl SessionRow {
    fn of(bill: SessionBill, (bytes, modified): (u64, i64), models: &mut Models) -> Option<Self> {
        let zone = TimeZone::system();
        let agent = bill.agent.clone()?;
        let mut row = Self {
            key: key_of(&bill.path),
            name: bill.name(),
            agent,
            title: bill.title.as_deref().map(secrets::mask),
            span: None,
            total: Group::default(),
            largest: 0,
            breaks: (bill.bill.breaks.len(), bill.bill.breaks.iter().map(|own| own.usd).sum()),
            days: Vec::new(),
            causes: causes(&bill, &zone),
            bytes,
            modified,
            keys: bill.bill.requests.iter().map(|own| own.key).filter(|key| *key != 0).collect(),
            path: bill.path,
            project: bill.project,
        };
        for request in &bill.bill.requests {
            row.add(request, &zone, models);
        }
        row.days.shrink_to_fit();
        Some(row)
    }

    fn add(&mut self, request: &BilledRequest, zone: &TimeZone, models: &mut Models) {
        self.total.add(request);
        self.largest = self.largest.max(request.usage.prompt().0);
        let (from, to) = self.span.unwrap_or((request.at, request.at));
        self.span = Some((from.min(request.at), to.max(request.at)));
        let day = request.at.to_zoned(zone.clone()).date();
        let model = models.shared(request.model.as_str());
        let cell = self.days.iter_mut().rev().find(|cell| cell.day == day && cell.model == model);
        if let Some(cell) = cell {
            cell.sum.add(request);
        } else {
            let mut sum = Group::default();
            sum.add(request);
            self.days.push(DayCell { day, model, sum });
        }
    }

    /// When it was last heard of.
    pub(crate) fn last(&self) -> Timestamp {
        let written = Timestamp::from_millisecond(self.modified).unwrap_or_default();
        self.span.map_or(written, |(_, last)| last)
    }

    /// The share of its prompts that was read from the cache.
    pub(crate) fn cached(&self) -> f64 {
        Usage::hit_rate(&self.total.usage)
    }
}

/// The causes of a bill by day; what could have been saved of each in proportion.
fn causes(bill: &SessionBill, zone: &TimeZone) -> Vec<CauseCell> {
    let mut spent: BTreeMap<BillCause, (f64, f64)> = BTreeMap::new();
    for ((cause, _), own) in &bill.bill.causes {
        let sum = spent.entry(*cause).or_default();
        (sum.0, sum.1) = (sum.0 + own.usd, sum.1 + own.avoidable_usd);
    }
    let mut cells: BTreeMap<(Date, BillCause), f64> = BTreeMap::new();
    for ((hour, cause), usd) in &bill.bill.hours {
        let Ok(at) = Timestamp::from_second(hour.saturating_mul(3_600)) else { continue };
        *cells.entry((at.to_zoned(zone.clone()).date(), *cause)).or_default() += usd;
    }
    let cell = |((day, cause), usd): ((Date, BillCause), f64)| {
        let (all, avoidable) = spent.get(&cause).copied().unwrap_or_default();
        let share = if all > 0.0 { avoidable / all } else { 0.0 };
        CauseCell { day, cause, usd, avoidable: usd * share }
    };
    cells.into_iter().map(cell).collect()
}

/// Names of models, each held once.
#[derive(Default)]
struct Models(BTreeSet<Arc<str>>);

impl Models {
    fn shared(&mut self, name: &str) -> Arc<str> {
        if let Some(known) = self.0.get(name) {
            return Arc::clone(known);
        }
        let own: Arc<str> = name.into();
        self.0.insert(Arc::clone(&own));
        own
    }
}

/// All sessions, the last heard of first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Book {
    pub(crate) rows: Vec<Arc<SessionRow>>,
    /// Every file that was looked at, with its size and time: also those that
    /// are no sessions.
    files: BTreeMap<PathBuf, (u64, i64)>,
}

impl Book {
    /// The same with some sessions read anew.
    pub(crate) fn with(
        &self,
        files: &[SessionFile],
        changed: &[SessionFile],
        bills: Vec<SessionBill>,
    ) -> Self {
        let known = marks(files);
        let anew: BTreeSet<&Path> = changed.iter().map(|file| file.path.as_path()).collect();
        let stays = |row: &&Arc<SessionRow>| {
            known.contains_key(&row.path) && !anew.contains(row.path.as_path())
        };
        let mut rows: Vec<Arc<SessionRow>> = self.rows.iter().filter(stays).cloned().collect();
        let wanted: BTreeSet<u64> =
            bills.iter().flat_map(|own| &own.bill.requests).map(|own| own.key).collect();
        // A session that was resumed in another file has its requests in both.
        let elsewhere: BTreeSet<u64> = rows
            .iter()
            .flat_map(|row| row.keys.iter().copied())
            .filter(|key| wanted.contains(key))
            .collect();
        let mut models = Models::default();
        for mut bill in bills {
            bill.bill.requests.retain(|own| own.key == 0 || !elsewhere.contains(&own.key));
            let mark = known.get(&bill.path).copied().unwrap_or_default();
            rows.extend(SessionRow::of(bill, mark, &mut models).map(Arc::new));
        }
        sort(&mut rows);
        Self { rows, files: known }
    }

    /// Whether a file is known as it is.
    pub(crate) fn has(&self, file: &SessionFile) -> bool {
        self.files.get(&file.path) == Some(&(file.bytes, file.modified))
    }

    /// Whether a file was there before.
    pub(crate) fn knows(&self, file: &SessionFile) -> bool {
        self.files.contains_key(&file.path)
    }

    /// How many files there were.
    pub(crate) fn files(&self) -> usize {
        self.files.len()
    }

    /// A session by what it is called in an address, or by its id.
    pub(crate) fn find(&self, key: &str) -> Option<&Arc<SessionRow>> {
        let by_key = self.rows.iter().find(|row| row.key == key);
        by_key.or_else(|| self.rows.iter().find(|row| row.name == key))
    }
}

impl Book {
    /// The sessions that hold requests of an earlier one.
    pub(crate) fn copies(&self, files: &[SessionFile]) -> Vec<SessionFile> {
        let began = |row: &SessionRow| row.span.map(|(first, _)| first);
        let mut rows: Vec<&Arc<SessionRow>> = self.rows.iter().collect();
        rows.sort_by_key(|row| began(row));
        let mut keys: Vec<(u64, usize)> = rows
            .iter()
            .enumerate()
            .flat_map(|(at, row)| row.keys.iter().map(move |key| (*key, at)))
            .collect();
        keys.sort_unstable();
        let pairs = keys.iter().zip(keys.iter().skip(1));
        let later = pairs.filter(|(one, other)| one.0 == other.0 && one.1 != other.1);
        let copies: BTreeSet<&Path> =
            later.filter_map(|(_, (_, at))| Some(rows.get(*at)?.path.as_path())).collect();
        files.iter().filter(|file| copies.contains(file.path.as_path())).cloned().collect()
    }
}

/// A book to which sessions come one by one.
pub(super) struct BookBuilder {
    files: BTreeMap<PathBuf, (u64, i64)>,
    rows: Vec<Arc<SessionRow>>,
    models: Models,
}

impl BookBuilder {
    pub(super) fn new(files: &[SessionFile]) -> Self {
        Self { files: marks(files), rows: Vec::new(), models: Models::default() }
    }

    pub(super) fn add(&mut self, bill: SessionBill) {
        let mark = self.files.get(&bill.path).copied().unwrap_or_default();
        self.rows.extend(SessionRow::of(bill, mark, &mut self.models).map(Arc::new));
    }

    pub(super) fn finish(self) -> Book {
        let Self { files, mut rows, .. } = self;
        sort(&mut rows);
        Book { rows, files }
    }
}

fn sort(rows: &mut [Arc<SessionRow>]) {
    rows.sort_by(|one, other| (other.last(), &one.key).cmp(&(one.last(), &other.key)));
}

/// Size and time of files.
fn marks(files: &[SessionFile]) -> BTreeMap<PathBuf, (u64, i64)> {
    files.iter().map(|file| (file.path.clone(), (file.bytes, file.modified))).collect()
}

/// What a session is called in addresses: nothing of where its file lies.
fn key_of(path: &Path) -> String {
    let hash = everfold_prefix::sim::hash(path.to_string_lossy().as_bytes());
    hash.iter().take(8).fold(String::new(), |mut key, byte| {
        // Writing to a string does not fail.
        let _ = write!(key, "{byte:02x}");
        key
    })
}
