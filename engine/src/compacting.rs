//! Layer 4 at work: asks for the summary, restores files, writes the boundary.
//!
//! The layer decides, this file performs. Whatever fails on the way, a local
//! summary is made in the end, so that the conversation can go on (L4.11).

use crate::event::Event;
use crate::session::{Error, Session};
use everfold_compact::apply::{Extras, Setting, settle, settle_local};
use everfold_compact::{Applied, Due, Guidance, Origin, Plan, Rejection, Summary, Way};
use everfold_kernel::ports::ModelKind;
use everfold_kernel::{Decision, Entry, Flag, Limits, Outcome, RecordId, Window};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

mod asking;
mod collapsing;
mod snipping;

pub use everfold_compact::preview::{Preview, Report};
pub use everfold_compact::{Scope, Trigger};

/// What a person or the ladder asks for.
#[derive(Clone, Debug, PartialEq)]
pub struct Compaction {
    /// Which part.
    pub scope: Scope,
    /// Who asks.
    pub trigger: Trigger,
    /// What the person wants kept in mind.
    pub guidance: Option<String>,
}

impl Compaction {
    /// All of the conversation, by hand.
    #[must_use]
    pub fn by_hand(guidance: Option<String>) -> Self {
        Self { scope: Scope::All, trigger: Trigger::Manual, guidance }
    }

    fn automatic() -> Self {
        Self { scope: Scope::All, trigger: Trigger::Auto, guidance: None }
    }
}

/// Who writes the summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Writer {
    Model,
    Nobody,
}

impl Session {
    /// Compacts if the threshold is passed.
    pub(crate) async fn auto_compact(&mut self, cancel: &CancellationToken) -> Result<(), Error> {
        let config = Arc::clone(&self.config);
        let window = self.window();
        let due = everfold_compact::policy::due(
            &self.fold,
            &window,
            &config.flags,
            &config.limits,
            Origin::MainThread,
        );
        let writer = match due {
            Due::No => return Ok(()),
            Due::Yes => Writer::Model,
            Due::BreakerOpen => Writer::Nobody,
        };
        let done = self.compact_by(Compaction::automatic(), writer, &window, cancel).await?;
        if let Err(reason) = done {
            self.emit(|| Event::Notice(format!("the conversation was not compacted: {reason}")));
        }
        Ok(())
    }

    /// Makes room after a request was refused as too long (L4.10). The second
    /// time in a turn no model is asked. False if nothing could be done.
    pub(crate) async fn make_room(
        &mut self,
        maximum: Option<u64>,
        try_number: u32,
        cancel: &CancellationToken,
    ) -> Result<bool, Error> {
        let window = narrowed(self.window(), maximum, &self.config.limits);
        let writer = if try_number > 1 { Writer::Nobody } else { Writer::Model };
        Ok(self.compact_by(Compaction::automatic(), writer, &window, cancel).await?.is_ok())
    }

    /// What a compaction would do.
    ///
    /// # Errors
    /// Why none can be made, in words for a person.
    pub fn preview_compaction(&self, scope: Scope) -> Result<Preview, String> {
        let limits = &self.config.limits;
        let plan = Plan::new(&self.fold, scope, Trigger::Manual, limits)
            .map_err(|error| error.to_string())?;
        Ok(everfold_compact::preview::preview(&self.fold, &plan, limits))
    }

    /// Compacts the conversation now. The inner result says why none could be
    /// made, in words for a person.
    ///
    /// # Errors
    /// If the log cannot be written.
    pub async fn compact(
        &mut self,
        compaction: Compaction,
        cancel: &CancellationToken,
    ) -> Result<Result<Report, String>, Error> {
        let window = self.window();
        self.compact_by(compaction, Writer::Model, &window, cancel).await
    }

    /// Keeps a record word for word through every compaction (L4.16). The
    /// inner result says why it cannot be, in words for a person.
    ///
    /// # Errors
    /// If the log cannot be written.
    pub async fn pin(&mut self, record: &RecordId) -> Result<Result<(), String>, Error> {
        let decision = everfold_compact::pins::pin(&self.fold, record, &self.config.limits);
        Ok(self.decide(decision).await?.map(|_| ()))
    }

    /// Takes a pin out.
    ///
    /// # Errors
    /// If the log cannot be written.
    pub async fn unpin(&mut self, record: &RecordId) -> Result<Result<(), String>, Error> {
        let decision = everfold_compact::pins::unpin(&self.fold, record);
        Ok(self.decide(decision).await?.map(|_| ()))
    }

    /// Takes a range of messages out of the model's view (L4.14), and gives
    /// the record by which that can be undone.
    ///
    /// # Errors
    /// If the log cannot be written.
    pub async fn snip(
        &mut self,
        from: &RecordId,
        to: &RecordId,
    ) -> Result<Result<RecordId, String>, Error> {
        if !self.config.flags.is_on(Flag::Snip) {
            return Ok(Err("snipping is switched off (flag snip)".to_owned()));
        }
        let decision = everfold_compact::snip::snip(&self.fold, from, to);
        self.decide(decision).await
    }

    /// Takes a snip, a collapse or a clearing back: what it hid is shown again.
    ///
    /// # Errors
    /// If the log cannot be written or read.
    pub async fn undo_decision(&mut self, decision: &RecordId) -> Result<(), Error> {
        self.append(Entry::Decision(everfold_compact::snip::undo(decision))).await?;
        self.refold().await
    }

    async fn decide(
        &mut self,
        decision: Result<Decision, everfold_compact::Error>,
    ) -> Result<Result<RecordId, String>, Error> {
        match decision {
            Ok(decision) => Ok(Ok(self.append(Entry::Decision(decision)).await?)),
            Err(error) => Ok(Err(error.to_string())),
        }
    }

    async fn compact_by(
        &mut self,
        compaction: Compaction,
        writer: Writer,
        window: &Window,
        cancel: &CancellationToken,
    ) -> Result<Result<Report, String>, Error> {
        let Compaction { scope, trigger, guidance } = compaction;
        let plan = match Plan::new(&self.fold, scope, trigger, &self.config.limits) {
            Ok(plan) => plan,
            Err(error) => return Ok(Err(error.to_string())),
        };
        let refused = self.compaction_refused(trigger, guidance.as_deref(), cancel);
        if let Some(why) = refused.await? {
            return Ok(Err(why));
        }
        let from_notes = match trigger {
            Trigger::Auto => self.compacted_from_notes(window, cancel).await?,
            Trigger::Manual => None,
        };
        let applied = match from_notes {
            Some(applied) => Ok(applied),
            None => self.summarised(&plan, guidance.as_deref(), writer, window, cancel).await?,
        };
        if cancel.is_cancelled() {
            return Ok(Err("it was stopped".to_owned()));
        }
        match applied {
            Ok(applied) => {
                let summary = applied.summary();
                let report = self.put_in_place(applied).await?;
                self.compacted_hooks(trigger, &summary, cancel).await?;
                Ok(Ok(report))
            }
            Err(error) => {
                self.append(Entry::Decision(error.decision())).await?;
                Ok(Err(error.to_string()))
            }
        }
    }

    /// A summary by a model; where that is not to be had, one of our own.
    async fn summarised(
        &mut self,
        plan: &Plan,
        guidance: Option<&str>,
        writer: Writer,
        window: &Window,
        cancel: &CancellationToken,
    ) -> Result<Result<Applied, Rejection>, Error> {
        let limits = Arc::clone(&self.config.limits);
        let asked = match (writer, self.world.model.kind()) {
            (Writer::Model, ModelKind::Language) => {
                let wishes = self.compact_wishes();
                let guidance = Guidance { person: guidance, standing: wishes.as_deref() };
                self.ask_for_summary(plan, guidance, window, cancel).await?
            }
            _ => None,
        };
        let past = plan.past(&self.fold, &limits);
        let extras = self.restored(&past, cancel).await?;
        let setting = Setting { fold: &self.fold, window, limits: &limits };
        let asked = asked.map(|text| {
            let summary = Summary::checked(&past, &text, Way::Model, &limits);
            settle(setting, plan, &summary, &extras)
        });
        let rejection = match asked {
            Some(Ok(applied)) => return Ok(Ok(applied)),
            Some(Err(rejection)) => Some(rejection.decision()),
            None => None,
        };
        let applied = settle_local(setting, plan, &extras);
        if let Some(decision) = rejection.filter(|_| !cancel.is_cancelled()) {
            self.append(Entry::Decision(decision)).await?;
        }
        Ok(applied)
    }

    /// Writes the boundary and what follows it. Sections of the system prompt
    /// are composed anew, and what stands at the head of a conversation is read
    /// again: the cache is broken here anyway (PC3).
    async fn put_in_place(&mut self, applied: Applied) -> Result<Report, Error> {
        self.append_all(applied.entries).await?;
        let model = self.model().clone();
        let fresh = self.compose_prelude_for(&model)?;
        if self.fold.prelude() != Some(&fresh) {
            self.append(Entry::Decision(Decision::Prelude(Box::new(fresh)))).await?;
        }
        self.lazy = None;
        self.attach_standing().await?;
        self.attach_choices().await?;
        self.attach_servers().await?;
        if self.is_main() {
            self.attach_agents_again().await?;
        }
        let report = applied.report;
        self.emit(|| Event::Compacted(Box::new(report.clone())));
        Ok(report)
    }

    pub(crate) async fn restored(
        &mut self,
        past: &everfold_compact::Past,
        cancel: &CancellationToken,
    ) -> Result<Extras, Error> {
        let limits = Arc::clone(&self.config.limits);
        let mut extras = Extras::default();
        if let Some(effect) = everfold_compact::files::wanted(past, &limits)
            && let Outcome::Files(files) = self.perform(effect, cancel).await?
        {
            extras.restored = everfold_compact::files::attach(&files, &limits);
        }
        extras.restored.extend(self.restored_skills());
        extras.restored.extend(self.restored_schemas());
        extras.restored.splice(0..0, self.plan_again().await);
        Ok(extras)
    }
}

/// The window as the server sees it, where it is smaller than we thought.
fn narrowed(window: Window, maximum: Option<u64>, limits: &Limits) -> Window {
    let Some(maximum) = maximum else { return window };
    let room = limits.output_reserve_tokens + limits.auto_compact_buffer_tokens;
    let most = maximum.saturating_sub(room).max(maximum / 2);
    let at_most = |tokens: everfold_kernel::Tokens| everfold_kernel::Tokens(tokens.0.min(most));
    Window {
        size: everfold_kernel::Tokens(window.size.0.min(maximum)),
        effective: at_most(window.effective),
        auto_compact: at_most(window.auto_compact),
        ..window
    }
}
