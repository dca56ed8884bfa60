//! One dream, from taking the lock to letting go of it.

use super::pairs::DreamReader;
use super::progress::Progress;
use super::{Change, DreamEnd, Dreamer, Dreamt, Gates, Mode, WAITS, workspace};
use crate::background::TaskHandle;
use crate::event::EndReason;
use crate::session::fork::Fork;
use everfold_dream::apply::{EndedDream, Settled, settle};
use everfold_dream::policy;
use everfold_dream::report::{DreamReport, FileReason, Reasons};
use everfold_dream::{
    DreamRules, Material, NoDreamReason, Texts, Tidied, check, drift, texts, tidy,
};
use everfold_kernel::phrase::counted;
use everfold_kernel::ports::{
    Begun, DreamProposal, Dreams, Ending, Gathered, LogsRead, MemoryScope, Night as Held,
    NightPurpose, NightWish, Stored, Swap, Swapped, World,
};
use everfold_kernel::{Limits, SessionId, Usage, Usd, settings};
use everfold_memory_file::Caps;
use everfold_memory_file::index::INDEX_FILE;
use jiff::SignedDuration;
use jiff::tz::TimeZone;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::mpsc;

/// Everything that one dream needs; it outlives the turn that started it.
pub(super) struct Night {
    pub(super) dreams: Arc<dyn Dreams>,
    /// None where rules alone dream.
    pub(super) reader: Option<DreamReader>,
    pub(super) mode: Mode,
    /// Something to tell at the end.
    pub(super) note: Option<String>,
    pub(super) world: World,
    pub(super) session: SessionId,
    pub(super) limits: Arc<Limits>,
    pub(super) memory: settings::MemorySettings,
    pub(super) project: PathBuf,
    pub(super) transcripts: String,
    /// Whether somebody else may have dreamt meanwhile.
    pub(super) gates: Gates,
    /// A gate that is closed: only what is plainly wrong is reason enough.
    pub(super) unless_tidy: Option<NoDreamReason>,
}

/// Why a dream came to nothing.
enum Nothing {
    Needless(String),
    Failed(String),
}

impl<E: std::error::Error> From<E> for Nothing {
    fn from(error: E) -> Self {
        Self::Failed(error.to_string())
    }
}

/// What somebody made of the store.
pub(super) struct Outcome {
    pub(super) texts: Texts,
    pub(super) reasons: Reasons,
    pub(super) by: Dreamer,
    pub(super) usage: Usage,
    pub(super) cost: Usd,
}

impl Outcome {
    pub(super) fn by_rules(tidied: Tidied) -> Self {
        let Tidied { texts, reasons, .. } = tidied;
        Self { texts, reasons, by: Dreamer::Rules, usage: Usage::default(), cost: Usd::default() }
    }
}

/// What a person is told when a dream that nobody waited for has ended.
pub(super) fn notice(end: &DreamEnd) -> Option<String> {
    match end {
        DreamEnd::Done(dreamt)
            if !dreamt.report.is_empty() || !dreamt.report.proposed.is_empty() =>
        {
            let scope = dreamt.scope.as_str();
            let undo =
                |entry| format!("; `everfold memory undo {entry} --scope {scope}` undoes it");
            let undo = dreamt.entry.map(undo).unwrap_or_default();
            let whose = if dreamt.scope == MemoryScope::Team { "the team's " } else { "" };
            Some(format!("{whose}memories were consolidated: {}{undo}", dreamt.report.summary()))
        }
        DreamEnd::Failed(why) => Some(format!("a dream failed; memories are unchanged: {why}")),
        DreamEnd::Waits(why) => Some(format!("{WAITS}: {why}")),
        _ => None,
    }
}

impl Night {
    /// Dreams. Stopped at any point, everything is as it was.
    pub(super) async fn run(mut self, task: &TaskHandle) -> DreamEnd {
        task.phase("starting");
        let wish = self.wish();
        let held = match self.dreams.begin(wish).await {
            Ok(Begun::Night(held)) => held,
            Ok(Begun::Locked(holder)) => return DreamEnd::Locked(holder),
            Ok(Begun::Waits(why)) => return DreamEnd::Waits(why),
            Ok(Begun::Recent(last)) => {
                let closed = policy::time(Some(last), wish.at, &self.limits.dream).err();
                let why = closed.map(|closed| closed.to_string()).unwrap_or_default();
                return DreamEnd::Nothing(why);
            }
            Err(error) => return DreamEnd::Failed(error.to_string()),
        };
        let dreamt = tokio::select! {
            dreamt = self.dream(&*held, task) => Some(dreamt),
            () = task.cancel().cancelled() => None,
        };
        // An agent that was stopped may be the first to say so.
        let dreamt = dreamt.filter(|dreamt| dreamt.is_ok() || !task.cancel().is_cancelled());
        let ending = match &dreamt {
            Some(Ok(dreamt)) if self.mode == Mode::Apply => {
                let logs = match dreamt.by {
                    Dreamer::Model => LogsRead::Yes,
                    Dreamer::Rules | Dreamer::WeakModel => LogsRead::No,
                };
                Ending::Done { at: self.world.clock.now(), logs }
            }
            _ => Ending::Undone,
        };
        if let Err(error) = held.end(ending).await {
            tracing::warn!(%error, "the end of a dream could not be written down");
        }
        match dreamt {
            Some(Ok(dreamt)) => DreamEnd::Done(Box::new(dreamt)),
            Some(Err(Nothing::Needless(why))) => DreamEnd::Nothing(why),
            Some(Err(Nothing::Failed(why))) => DreamEnd::Failed(why),
            None => DreamEnd::Stopped,
        }
    }

    fn wish(&self) -> NightWish {
        let at = self.world.clock.now();
        let since = SignedDuration::from_hours(self.limits.dream.hours);
        NightWish {
            at,
            unless_after: (self.gates == Gates::Kept).then(|| at.checked_sub(since).ok()).flatten(),
            purpose: match self.mode {
                Mode::Apply => NightPurpose::Change,
                Mode::Show => NightPurpose::Look,
            },
        }
    }

    async fn dream(&mut self, held: &dyn Held, task: &TaskHandle) -> Result<Dreamt, Nothing> {
        let base = Arc::new(held.look().await?);
        if base.files.is_empty() && base.logs.is_empty() {
            return Err(Nothing::Needless("no memories yet".to_owned()));
        }
        let tidied = self.tidied(&base).await?;
        if let Some(closed) = self.unless_tidy.filter(|_| tidied.texts == texts(&base)) {
            return Err(Nothing::Needless(closed.to_string()));
        }
        let drift = self.drift(&tidied.texts, &base).await;
        let seen: Vec<String> = tidied.seen.iter().chain(&drift).cloned().collect();
        task.say(format!(
            "{}, {}, {}",
            counted(base.files.len() as u64, "file"),
            counted(base.logs.len() as u64, "daily log"),
            counted(seen.len() as u64, "finding")
        ));
        let result = match self.reader.take() {
            Some(DreamReader::Agent(fork)) => {
                self.ask(*fork, held, task, &base, tidied, &drift).await?
            }
            Some(DreamReader::Pairs(model)) => {
                self.ask_about_pairs(&model, task, &base, tidied).await
            }
            None => Outcome::by_rules(tidied),
        };
        let mut dreamt = self.bring_in(held, &base, result).await?;
        dreamt.report.seen = self.note.take().into_iter().chain(seen).collect();
        Ok(dreamt)
    }

    /// Tidies by rule, on a thread of its own: a large store takes a while.
    async fn tidied(&self, base: &Arc<Stored>) -> Result<Tidied, Nothing> {
        let (base, limits) = (Arc::clone(base), Arc::clone(&self.limits));
        let work = move || tidy(&base, rules(&limits));
        Ok(tokio::task::spawn_blocking(work).await?)
    }

    /// What memories name and no longer holds (L6.8). A team may have other
    /// projects, too, and what is not in this one may be in those.
    async fn drift(&self, texts: &Texts, base: &Stored) -> Vec<String> {
        if self.dreams.scope() == MemoryScope::Team {
            return Vec::new();
        }
        let (root, most) = (self.project.clone(), self.limits.dream.lookup_bytes);
        let missing = self.world.search.missing(root, drift::names(texts), most).await;
        let missing = missing.unwrap_or_else(|error| {
            tracing::warn!(%error, "what memories name was not looked up");
            everfold_kernel::ports::Names::default()
        });
        let today = self.world.clock.now().to_zoned(TimeZone::system()).date();
        drift::findings(texts, base, &missing, today)
    }

    /// Lets an agent work on a copy of what rules left.
    async fn ask(
        &self,
        fork: Fork,
        held: &dyn Held,
        task: &TaskHandle,
        base: &Stored,
        tidied: Tidied,
        drift: &[String],
    ) -> Result<Outcome, Nothing> {
        let mut laid_out = tidied.texts.clone();
        laid_out.extend(base.logs.clone());
        held.lay_out(laid_out).await?;
        let directive = self.material(base, &tidied, drift);
        let directive = directive.directive(Caps::default(), &self.limits.dream)?;
        let place = workspace::on_copy(&self.world, self.dreams.dir(), held.copy());
        let mut fork = fork.sent(directive, place);
        let (events, mut heard) = mpsc::unbounded_channel();
        fork.watch(events);
        let mut progress = Progress::new(task);
        let mut running = fork.run(task.cancel().child_token());
        let report = loop {
            tokio::select! {
                biased;
                Some(event) = heard.recv() => progress.hear(&event),
                report = &mut running => break report,
            }
        };
        while let Ok(event) = heard.try_recv() {
            progress.hear(&event);
        }
        progress.say();
        if report.end.reason != EndReason::Completed {
            return Err(Nothing::Failed(format!(
                "the agent did not finish: {}",
                told(&report.end.reason)
            )));
        }
        let mut reasons = tidied.reasons;
        let texts = self.taken(held.gather().await?, &tidied.texts, base, &mut reasons)?;
        let paths: BTreeSet<String> = texts.keys().chain(tidied.texts.keys()).cloned().collect();
        reasons.hear(&report.end.text, &paths);
        let (usage, cost) = (progress.usage, progress.cost);
        Ok(Outcome { texts, reasons, by: Dreamer::Model, usage, cost })
    }

    fn material(&self, base: &Stored, tidied: &Tidied, drift: &[String]) -> Material {
        let index = tidied.texts.get(INDEX_FILE).map(String::as_str).unwrap_or_default();
        let zone = TimeZone::system();
        Material {
            dir: self.dreams.dir().display().to_string(),
            transcripts: self.transcripts.clone(),
            today: self.world.clock.now().to_zoned(zone).date().to_string(),
            logs: base.logs.keys().cloned().collect(),
            drift: drift.to_vec(),
            seen: tidied.seen.clone(),
            never_used: everfold_dream::tidy::never_used(base),
            index: (index.lines().count(), index.len()),
        }
    }

    /// What an agent left, if it may come in (L6.7).
    fn taken(
        &self,
        gathered: Gathered,
        before: &Texts,
        base: &Stored,
        reasons: &mut Reasons,
    ) -> Result<Texts, Nothing> {
        let rules = rules(&self.limits);
        let mut left = check::left(gathered);
        check::mend(&mut left.files, base, reasons, rules);
        let faults = check::validate(before, &left, base, rules);
        if !faults.is_empty() {
            for fault in &faults {
                tracing::warn!(%fault, "a dream is thrown away");
            }
            let said: Vec<String> = faults.iter().take(3).map(ToString::to_string).collect();
            let more = faults.len().saturating_sub(said.len());
            let more = if more > 0 { format!(", and {more} more") } else { String::new() };
            return Err(Nothing::Failed(format!(
                "its result is not valid: {}{more}",
                said.join("; ")
            )));
        }
        left.files.retain(|path, _| !base.logs.contains_key(path));
        Ok(left.files)
    }

    /// Merges a result with the store as it is now, and writes it.
    async fn bring_in(
        &self,
        held: &dyn Held,
        base: &Stored,
        result: Outcome,
    ) -> Result<Dreamt, Nothing> {
        let rules = rules(&self.limits);
        let at = self.world.clock.now();
        for _ in 0..self.limits.dream.merge_tries.max(1) {
            let now = held.look().await?;
            let ended = EndedDream { base, result: &result.texts, reasons: &result.reasons };
            let settled = settle(ended, &now, self.memory, rules);
            let before = texts(&now);
            let mut report = DreamReport::compare(&before, &settled.texts, &result.reasons);
            let entry = match self.mode {
                Mode::Show => None,
                Mode::Apply => {
                    let swap = Swap {
                        edits: settled.edits.clone(),
                        reason: report.summary(),
                        session: Some(self.session.clone()),
                        at,
                    };
                    match held.swap(swap).await? {
                        Swapped::Done(entry) => entry,
                        Swapped::Changed => continue,
                    }
                }
            };
            let changes = changes(&before, &settled.texts);
            self.propose(held, settled, &mut report, at).await;
            let Outcome { by, usage, cost, .. } = result;
            let scope = self.dreams.scope();
            return Ok(Dreamt { scope, by, report, changes, entry, usage, cost });
        }
        Err(Nothing::Failed("memories kept changing in the meantime".to_owned()))
    }

    /// Lays before the person what waits for their word.
    async fn propose(
        &self,
        held: &dyn Held,
        settled: Settled,
        report: &mut DreamReport,
        at: everfold_kernel::Timestamp,
    ) {
        report.kept = settled.kept;
        for waiting in settled.waiting {
            let told = FileReason { path: waiting.path.clone(), why: waiting.why.clone() };
            if self.mode == Mode::Show {
                report.proposed.push(told);
                continue;
            }
            let proposal = DreamProposal {
                path: waiting.path,
                text: waiting.text,
                why: waiting.why,
                session: Some(self.session.clone()),
                at,
            };
            match held.propose(proposal).await {
                Ok(true) => report.proposed.push(told),
                Ok(false) => {}
                Err(error) => {
                    tracing::warn!(%error, path = told.path, "a change could not be proposed");
                    report.kept.push(told);
                }
            }
        }
    }
}

pub(super) fn rules(limits: &Limits) -> DreamRules<'_> {
    DreamRules { caps: Caps::default(), limits: &limits.dream, extract: &limits.extract }
}

fn changes(before: &Texts, after: &Texts) -> Vec<Change> {
    let paths: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let change = |path: &String| Change {
        path: path.clone(),
        before: before.get(path).cloned(),
        after: after.get(path).cloned(),
    };
    paths.into_iter().filter(|path| before.get(*path) != after.get(*path)).map(change).collect()
}

fn told(reason: &EndReason) -> String {
    match reason {
        EndReason::Completed => "it was done".to_owned(),
        EndReason::OutputLimit => "its answer was cut off".to_owned(),
        EndReason::Refused => "the model declined".to_owned(),
        EndReason::TooManyRequests(count) => {
            format!("it made {}", counted((*count).into(), "request"))
        }
        EndReason::Cancelled => "it was stopped".to_owned(),
        EndReason::SpendingCeiling(spent) => format!("it cost ${:.2}", spent.0),
        EndReason::Failed(why) => why.clone(),
    }
}
