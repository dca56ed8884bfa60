//! A summary by a model: asked for until it fits and is one, then put in place.

use crate::view::{LadderView, Writer};
use everfold_compact::apply::{CompactionContext, Extras, settle, settle_local};
use everfold_compact::parse::{self, Attempt, ParsedSummary};
use everfold_compact::strip::{Stripped, TooLong};
use everfold_compact::{
    AppliedCompaction, Guidance, Plan, Rejection, Sending, Summariser, Summary, lean,
};
use everfold_economy::cache_state;
use everfold_kernel::record::FailedSummary;
use everfold_kernel::{Class, Classify, Decision, Effect, EffectOutcome, ModelId};
use everfold_prefix::system::Profile;

/// Why a model gave no summary.
#[derive(Debug, thiserror::Error)]
pub enum SummaryFailure {
    #[error("the model wrote no summary")]
    None,
    #[error("the conversation is too long to summarise")]
    TooLong,
    #[error("the model gave no answer")]
    NoAnswer,
    #[error("{0}")]
    Failed(String),
    #[error(transparent)]
    Layer(#[from] everfold_compact::Error),
}

impl SummaryFailure {
    /// What goes into the log of it (L4.2).
    #[must_use]
    pub fn decision(&self) -> Decision {
        Decision::CompactionFailed { reason: self.to_string(), by: FailedSummary::Model }
    }
}

impl Classify for SummaryFailure {
    fn class(&self) -> Class {
        match self {
            Self::Layer(error) => error.class(),
            _ => Class::Degrade,
        }
    }
}

/// What a summary is asked for by.
#[derive(Clone, Copy, Debug)]
pub struct SummaryBrief<'a> {
    pub plan: &'a Plan,
    pub guidance: Guidance<'a>,
    /// The model that is asked, where it is asked in a small window.
    pub model: &'a ModelId,
    /// How much the model can be told.
    pub profile: Profile,
    pub writer: Writer,
}

/// A question for a summary on its way: its effect is performed and the outcome
/// handed back, until there is a summary or none to be had.
#[derive(Debug)]
pub struct SummaryRequest {
    /// What is to be asked.
    pub effect: Effect,
    form: Form,
    attempt: Attempt,
}

/// In which form the conversation is shown.
#[derive(Debug)]
enum Form {
    /// By a weak model (Q18), behind what the server has read.
    Lean,
    /// By a weak model, as text.
    LeanApart,
    /// As it is sent, in full or as the cache has it.
    Whole(Sending),
    /// Without what can be spared; smaller with each refusal (L4.8).
    Stripped(Stripped),
}

/// What comes after an answer.
#[derive(Debug)]
pub enum SummaryStep {
    /// Asking once more.
    Ask(SummaryRequest),
    Written(String),
    Failed(SummaryFailure),
}

impl SummaryRequest {
    /// The first question.
    ///
    /// # Errors
    /// If the prompt of this version does not fit its values.
    pub fn new(view: LadderView<'_>, brief: SummaryBrief<'_>) -> Result<Self, SummaryFailure> {
        let form = match (brief.profile, brief.writer) {
            (Profile::Lean, _) => Form::Lean,
            (Profile::Full, Writer::ModelOfCached) => Form::Whole(Sending::Cached),
            (Profile::Full, _) => match sending(view) {
                Sending::Stripped => Form::stripped(view, brief),
                sending => Form::Whole(sending),
            },
        };
        Self::asking(form, view, brief)
    }

    fn asking(
        form: Form,
        view: LadderView<'_>,
        brief: SummaryBrief<'_>,
    ) -> Result<Self, SummaryFailure> {
        let SummaryBrief { plan, guidance, model, .. } = brief;
        let LadderView { fold, window, limits, .. } = view;
        let effect = match &form {
            Form::Lean => match lean::ask_behind(fold, plan, guidance, window, limits) {
                Some(effect) => effect,
                None => return Self::asking(Form::LeanApart, view, brief),
            },
            Form::LeanApart => lean::ask_apart(fold, plan, guidance, (model, window), limits),
            Form::Whole(Sending::Cached) => plan.ask_cached(fold, guidance, limits)?,
            Form::Whole(_) => plan.ask(fold, guidance, limits)?,
            Form::Stripped(stripped) => stripped.ask(fold, plan, guidance, limits)?,
        };
        Ok(Self { effect, form, attempt: Attempt::First })
    }

    /// What follows from what came of asking.
    #[must_use]
    pub fn answered(
        self,
        view: LadderView<'_>,
        brief: SummaryBrief<'_>,
        outcome: EffectOutcome,
    ) -> SummaryStep {
        match outcome {
            EffectOutcome::Answered { text, .. } => self.read(&text, view, brief),
            EffectOutcome::TooLong { actual, maximum } if self.attempt == Attempt::First => {
                self.shrunk(view, brief, TooLong { actual, maximum })
            }
            EffectOutcome::TooLong { .. } => SummaryStep::Failed(SummaryFailure::TooLong),
            // A server may refuse a form beside tools.
            EffectOutcome::Failed { class: Class::Stop, .. } if matches!(self.form, Form::Lean) => {
                Self::step(Form::LeanApart, view, brief)
            }
            EffectOutcome::Failed { reason, .. } => {
                SummaryStep::Failed(SummaryFailure::Failed(reason))
            }
            EffectOutcome::Spilled { .. } | EffectOutcome::Files(_) => {
                SummaryStep::Failed(SummaryFailure::NoAnswer)
            }
        }
    }

    /// Takes the summary out of an answer; asks once more where there is none.
    fn read(self, text: &str, view: LadderView<'_>, brief: SummaryBrief<'_>) -> SummaryStep {
        match (&self.form, lean::read(text)) {
            (Form::Lean | Form::LeanApart, Some(summary)) => return SummaryStep::Written(summary),
            (Form::Lean, None) => return Self::step(Form::LeanApart, view, brief),
            (Form::LeanApart, None) => return SummaryStep::Failed(SummaryFailure::None),
            (Form::Whole(_) | Form::Stripped(_), _) => {}
        }
        match parse::read(text, self.attempt, view.limits) {
            ParsedSummary::Summary(summary) => SummaryStep::Written(summary),
            ParsedSummary::Failed => SummaryStep::Failed(SummaryFailure::None),
            ParsedSummary::NeedsRetry => match parse::again(&self.effect) {
                Some(effect) => SummaryStep::Ask(Self { effect, attempt: Attempt::Again, ..self }),
                None => SummaryStep::Failed(SummaryFailure::None),
            },
        }
    }

    /// Asks with less of the conversation.
    fn shrunk(
        self,
        view: LadderView<'_>,
        brief: SummaryBrief<'_>,
        refused: TooLong,
    ) -> SummaryStep {
        let form = match self.form {
            Form::Lean => Some(Form::LeanApart),
            Form::LeanApart => None,
            Form::Whole(_) => Stripped::of(view.fold, brief.plan, view.limits)
                .in_place_of_all(refused, view.limits)
                .map(Form::Stripped),
            Form::Stripped(own) => own.shrink(refused, view.limits).map(Form::Stripped),
        };
        form.map_or(SummaryStep::Failed(SummaryFailure::TooLong), |form| {
            Self::step(form, view, brief)
        })
    }

    fn step(form: Form, view: LadderView<'_>, brief: SummaryBrief<'_>) -> SummaryStep {
        Self::asking(form, view, brief).map_or_else(SummaryStep::Failed, SummaryStep::Ask)
    }
}

impl Form {
    fn stripped(view: LadderView<'_>, brief: SummaryBrief<'_>) -> Self {
        Self::Stripped(Stripped::of(view.fold, brief.plan, view.limits))
    }
}

/// As it is while the cache has it and it fits, stripped otherwise (L4.3).
fn sending(view: LadderView<'_>) -> Sending {
    let LadderView { fold, window, limits, now, last_fork, .. } = view;
    let last_use = fold.last_response().max(last_fork);
    let cache = cache_state(now, last_use, fold.cached_for(), limits.prune.idle_minutes);
    everfold_compact::plan::sending(fold, window, cache, limits)
}

/// How a compaction ended.
#[derive(Debug)]
pub struct Concluded {
    /// Why a model's summary was not taken, for the log.
    pub rejected: Option<Decision>,
    /// What goes into the log; where even a summary of our own is of no use, why.
    pub settled: Result<AppliedCompaction, Rejection>,
}

/// Puts a summary in place, a model's if it has one that is worth it, else our
/// own (L4.11).
#[must_use]
pub fn conclude(
    view: LadderView<'_>,
    plan: &Plan,
    written: Option<&str>,
    extras: &Extras,
) -> Concluded {
    let LadderView { fold, window, limits, .. } = view;
    let setting = CompactionContext { fold, window, limits };
    let by_model = written.map(|text| {
        let past = plan.past(fold, limits);
        let summary = Summary::checked(setting, &past, text, Summariser::Model);
        settle(setting, plan, &summary, extras)
    });
    let rejected = match by_model {
        Some(Ok(applied)) => return Concluded { rejected: None, settled: Ok(applied) },
        Some(Err(rejection)) => Some(rejection.decision(FailedSummary::Model)),
        None => None,
    };
    Concluded { rejected, settled: settle_local(setting, plan, extras) }
}
