//! One sync: look, merge, take in, publish.

mod arrivals;
mod aside;
mod departures;

use crate::ancestor::{BaseFile, TeamBase};
use crate::consolidation::TeamNights;
use crate::error::Error;
use crate::plan::{Meeting, TeamPlan, planned};
use arrivals::Arrivals;
use aside::Aside;
use everfold_disk::Lock;
use everfold_kernel::limits::TeamLimits;
use everfold_kernel::ports::{TeamChange, TeamHead, TeamPublished, TeamRemote};
use everfold_memory_store::dream::lock;
use everfold_memory_store::store::{StoredText, TakenIn};
use everfold_memory_store::{By, ContentId, Store, TopicPath};
use jiff::Timestamp;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::{Duration, Instant};

/// Where memories are among what a team shares.
pub(crate) const FOLDER: &str = "memory/";
/// The shortest pause before another try, when somebody was faster.
const PAUSE: Duration = Duration::from_millis(5);
/// The longest.
const LONG_PAUSE: Duration = Duration::from_millis(400);
/// How long to sleep between two tries for the lock.
const LOCK_PAUSE: Duration = Duration::from_millis(10);
/// Local copies of fewer memories are not taken for lost.
const FEW: usize = 3;

/// A team that is to be kept in step.
pub struct TeamSync<'a> {
    /// What it is called.
    pub name: &'a str,
    /// What the others know us by.
    pub member: &'a str,
    /// Where its files are.
    pub dir: &'a Path,
    pub store: &'a Store,
    /// What the others have.
    pub remote: &'a dyn TeamRemote,
    pub limits: &'a TeamLimits,
    pub now: Timestamp,
    /// When it gives up.
    pub deadline: Instant,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SyncReport {
    /// The state that all have in common now.
    pub revision: String,
    /// Memories that were changed here by others, by their paths.
    pub taken_in: BTreeSet<String>,
    /// Memories that the others have now.
    pub shared: BTreeSet<String>,
    /// Memories of which a version waits in the inbox.
    pub waits: BTreeSet<String>,
    /// What is not taken in, or not shared, and why.
    pub held: Vec<HeldMemory>,
}

/// A file that stays where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldMemory {
    pub path: String,
    pub why: String,
    pub side: HeldSide,
}

/// Where a file is that is not shared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeldSide {
    Here,
    /// The others have it.
    There,
}

/// What a round came to.
enum Round {
    Done,
    /// Something changed meanwhile: look again.
    Again,
}

impl TeamSync<'_> {
    /// Takes in what is new, and publishes what is ours.
    ///
    /// # Errors
    /// If the others cannot be reached, or something cannot be read or written.
    /// What was done until then stays, and the next sync goes on.
    pub fn run(&self) -> Result<SyncReport, Error> {
        let _lock = self.lock()?;
        let mut report = SyncReport::default();
        Aside::recover(self, &mut report)?;
        for turn in 0..self.limits.tries.max(1) {
            if let Round::Done = self.round(&mut report)? {
                return Ok(report);
            }
            Self::pause(turn);
        }
        Err(Error::Overtaken { tries: self.limits.tries })
    }

    fn lock(&self) -> Result<Lock, Error> {
        loop {
            if let Some(lock) = Lock::try_acquire(&self.dir.join("sync.lock"))? {
                return Ok(lock);
            }
            if Instant::now() >= self.deadline {
                return Err(Error::Busy);
            }
            std::thread::sleep(LOCK_PAUSE);
        }
    }

    /// Waits a little, each process for another time.
    fn pause(turn: u32) {
        let longest = PAUSE.saturating_mul(1 << turn.min(8)).min(LONG_PAUSE);
        let seed = blake_share(&format!("{}{turn}{:?}", std::process::id(), Instant::now()));
        std::thread::sleep(longest.mul_f64(0.3 + 0.7 * seed));
    }

    fn round(&self, report: &mut SyncReport) -> Result<Round, Error> {
        let base = TeamBase::load(self.dir)?;
        let head = self.remote.newest()?;
        let local = self.store.texts()?;
        let news = Arrivals::read(self, &base, &head)?;
        report.held = news.held();
        let lost = local.is_empty() && base.files.len() >= FEW;
        let compared = self.compare(&base, &news, &local, lost);
        let plan = compared.plan(&base, &local);
        if !self.take_in(&plan, &base, &head, &local, report)? {
            return Ok(Round::Again);
        }
        let mut common = news.common(&base, &head);
        if common != base {
            common.save(self.dir)?;
        }
        let mut wanted = departures::wanted(self, &plan, report);
        wanted.changes.extend(self.nights(&head)?);
        report.revision.clone_from(&head.revision);
        if wanted.changes.is_empty() {
            return Ok(Round::Done);
        }
        if let Some(format) = departures::newer_form(self, &head)? {
            return Err(Error::Newer { format });
        }
        match self.remote.publish(&head, &wanted.changes, &wanted.note)? {
            TeamPublished::Behind => Ok(Round::Again),
            TeamPublished::Done(new) => {
                wanted.published(&mut common, &new);
                common.save(self.dir)?;
                report.revision.clone_from(&new.revision);
                report.shared.extend(wanted.paths());
                Ok(Round::Done)
            }
        }
    }

    /// Takes over when the others consolidated the memories, and says what they
    /// are to know of us.
    fn nights(&self, head: &TeamHead) -> Result<Option<TeamChange>, Error> {
        let nights = TeamNights::read(self.remote, head)?;
        let (here, there) = (lock::last(self.store)?, nights.last(self.now));
        if let Some(there) = there.filter(|there| here.is_none_or(|here| here < *there)) {
            lock::adopt(self.store, there)?;
            return Ok(None);
        }
        Ok(nights.news(here, self.member, self.now))
    }

    /// Texts of all that differs.
    fn compare(
        &self,
        base: &TeamBase,
        news: &Arrivals,
        local: &BTreeMap<TopicPath, StoredText>,
        lost: bool,
    ) -> Compared {
        let mut compared = Compared::default();
        let here: BTreeMap<&str, &StoredText> =
            local.iter().map(|(path, text)| (path.as_str(), text)).collect();
        let paths = base.files.keys().map(String::as_str).chain(here.keys().copied());
        let paths: BTreeSet<&str> = paths.chain(news.paths()).collect();
        let mut needed: Vec<(String, String)> = Vec::new();
        for path in paths.into_iter().filter(|path| !news.is_held(path)) {
            let common = base.files.get(path);
            let ours = here.get(path);
            let same_here = common.map(|file| &file.content) == ours.map(|text| &text.content);
            let change = news.change(path, common);
            if same_here && change.is_none() {
                continue;
            }
            let state = State {
                ours: ours.map(|text| text.text.clone()),
                theirs: change.clone().flatten(),
                base: None,
                is_changed_there: change.is_some(),
                is_lost: lost && ours.is_none(),
            };
            if let Some(common) = common {
                needed.push((path.to_owned(), common.version.clone()));
            }
            compared.states.insert(path.to_owned(), state);
        }
        let versions: Vec<String> = needed.iter().map(|(_, version)| version.clone()).collect();
        // A base whose text is gone is none: both sides are kept.
        let texts = self.remote.contents(&versions).unwrap_or_default();
        for ((path, _), bytes) in needed.into_iter().zip(texts) {
            if let Some(state) = compared.states.get_mut(&path) {
                state.base = String::from_utf8(bytes).ok();
            }
        }
        compared
    }

    /// Makes the changes here; says whether everything was as expected.
    fn take_in(
        &self,
        plan: &TeamPlan,
        base: &TeamBase,
        head: &TeamHead,
        local: &BTreeMap<TopicPath, StoredText>,
        report: &mut SyncReport,
    ) -> Result<bool, Error> {
        let aside = Aside::note(self, &plan.aside)?;
        if !plan.here.is_empty() {
            let by = By::agent("team", &self.reason(base, head), self.now);
            let one = |(path, text): (&String, &Option<String>)| {
                let path = TopicPath::found(path.clone());
                let expect = local.get(&path).map(|there| there.content.clone());
                TakenIn { path, expect, text: text.clone() }
            };
            let files: Vec<TakenIn> = plan.here.iter().map(one).collect();
            match self.store.take_in(&files, &by) {
                Ok(_) => report.taken_in.extend(plan.here.keys().cloned()),
                Err(everfold_memory_store::Error::Changed { .. }) => return Ok(false),
                Err(error) => {
                    tracing::info!(%error, "what the team has is taken in one by one");
                    for file in files {
                        self.take_one(&file, &by, report)?;
                    }
                }
            }
        }
        aside.propose(self, report)?;
        Ok(true)
    }

    /// One file that cannot be there does not keep the others out.
    fn take_one(&self, file: &TakenIn, by: &By, report: &mut SyncReport) -> Result<(), Error> {
        match self.store.take_in(std::slice::from_ref(file), by) {
            Ok(_) => {
                report.taken_in.insert(file.path.to_string());
                Ok(())
            }
            Err(error @ everfold_memory_store::Error::Busy { .. }) => Err(error.into()),
            Err(error) => {
                let (path, why) = (file.path.to_string(), error.to_string());
                report.held.push(HeldMemory { path, why, side: HeldSide::There });
                Ok(())
            }
        }
    }

    /// Whose work it is, for the history.
    fn reason(&self, base: &TeamBase, head: &TeamHead) -> String {
        let makers = self.remote.makers(&base.revision, head, self.limits.makers);
        let named: Vec<String> = makers
            .unwrap_or_default()
            .iter()
            .map(|maker| format!("{} by {}", maker.revision, maker.name))
            .collect();
        if named.is_empty() {
            return format!("team {}", self.name);
        }
        format!("team {}: {}", self.name, named.join(", "))
    }
}

#[derive(Default)]
struct Compared {
    states: BTreeMap<String, State>,
}

struct State {
    base: Option<String>,
    ours: Option<String>,
    theirs: Option<String>,
    is_changed_there: bool,
    /// The local copy is gone, which nobody wanted.
    is_lost: bool,
}

impl State {
    fn meeting<'a>(&'a self, path: &'a str) -> Meeting<'a> {
        let base = self.base.as_deref();
        let theirs = if self.is_changed_there { self.theirs.as_deref() } else { base };
        if self.is_lost {
            // As if it had never been here.
            return Meeting { path, base: None, ours: None, theirs };
        }
        Meeting { path, base, ours: self.ours.as_deref(), theirs }
    }
}

impl Compared {
    fn plan(&self, base: &TeamBase, local: &BTreeMap<TopicPath, StoredText>) -> TeamPlan {
        let meetings: Vec<Meeting<'_>> =
            self.states.iter().map(|(path, state)| state.meeting(path)).collect();
        let here = local.keys().map(ToString::to_string);
        let there = base.files.keys().chain(base.held.keys()).cloned();
        planned(&meetings, &here.chain(there).collect())
    }
}

/// Makes an empty place one that a team meets in.
///
/// # Errors
/// If the others cannot be reached, or somebody was faster.
pub fn begin(remote: &dyn TeamRemote) -> Result<(), Error> {
    let empty = TeamHead::default();
    match remote.publish(&empty, &departures::first_files(), "Begin a team")? {
        TeamPublished::Done(_) => Ok(()),
        TeamPublished::Behind => Err(Error::Overtaken { tries: 1 }),
    }
}

/// The entry of a base for a text.
pub(crate) fn base_file(version: &str, text: &str) -> BaseFile {
    BaseFile { version: version.to_owned(), content: ContentId::of(text.as_bytes()) }
}

/// A share between 0 and 1 that differs from seed to seed.
fn blake_share(seed: &str) -> f64 {
    let hash = ContentId::of(seed.as_bytes());
    let digits = hash.as_str().get(..4).and_then(|four| u16::from_str_radix(four, 16).ok());
    f64::from(digits.unwrap_or_default()) / f64::from(u16::MAX)
}
