//! Layer 3 around somebody else's loop: running notes, so that a summary is
//! there before it is needed. The model is asked for all of them at once, where
//! the engine has a fork that edits a file: another loop has no such tool.

use super::climb::{Phase, Then};
use super::{Context, ContextOutcome, ContextWork};
use everfold_compact::apply::Extras;
use everfold_compact::{AppliedCompaction, Due};
use everfold_kernel::effect::{Ask, AskShape};
use everfold_kernel::record::SumVerdict;
use everfold_kernel::{Decision, EffectOutcome, Entry, Flag, QuerySource, RecordId, Usd};
use everfold_notes::apply::judge;
use everfold_notes::{Hints, Notes, Template, directive, policy};
use everfold_window::{LayerAct, NotesPlan, question};

const PROMPT: &str = include_str!("notes.md");

/// What the model is told of where the notes are: nowhere but in its view.
const PLACE: &str = "the notes of this conversation";

/// The notes of a conversation.
pub(super) struct RunningNotes {
    template: Template,
    text: String,
    /// The last record that an update was about.
    tried: Option<RecordId>,
}

impl Default for RunningNotes {
    fn default() -> Self {
        let template = Template::built_in();
        let text = Notes::blank(&template).render();
        Self { template, text, tried: None }
    }
}

impl Context {
    /// Asks for newer notes, where a compaction is in sight and that pays (E3).
    /// Whether it does.
    pub(super) fn asks_for_notes(&mut self) -> bool {
        let Some(through) = self.notes_are_due() else { return false };
        let Some(own) = &mut self.notes else { return false };
        own.tried = Some(through.clone());
        let notes = Notes::adopt(&own.text, &own.template);
        let hints = Hints { path: PLACE, session: "", cwd: "" };
        let limits = &self.setup.limits;
        let told = directive(Some(PROMPT), &notes, hints, limits);
        let ask = Ask {
            source: QuerySource::SessionMemory,
            shape: AskShape::Fork { directive: told },
            max_tokens: limits.notes.file_tokens,
        };
        let params = self.setup.params.clone();
        let Some(asked) = question::request(&mut self.fold, &ask, limits, |_, _| params) else {
            return false;
        };
        self.last_fork = Some(self.setup.clock.now());
        self.phase =
            Phase::Waiting(ContextWork::Ask { body: asked.body.whole() }, Then::Noted(through));
        true
    }

    fn notes_are_due(&self) -> Option<RecordId> {
        let own = self.notes.as_ref()?;
        let view = self.view();
        let since = own.tried.as_ref().or_else(|| self.fold.notes_tried());
        let is_due = policy::is_kept(view.flags)
            && view.due() == Due::No
            && policy::due(&self.fold, since, view.limits) == policy::Due::Yes;
        if !is_due {
            return None;
        }
        let sum = policy::weigh(&self.fold, &self.window, &view.terms(), view.limits)?;
        let last = self.fold.messages().last()?.pieces().last()?;
        (sum.verdict == SumVerdict::Done).then(|| last.record.clone())
    }

    /// Takes newer notes over, or notes that there are none.
    pub(super) fn noted(&mut self, through: RecordId, outcome: ContextOutcome) {
        let before = self.books.asked;
        let outcome = self.effect_outcome(outcome);
        let cost = Usd(self.books.asked - before);
        let Some(own) = &mut self.notes else { return };
        let answer = match outcome {
            EffectOutcome::Answered { text, .. } => text,
            _ => String::new(),
        };
        let written = inside(&answer);
        match judge(&own.text, written, &own.template, &self.setup.limits) {
            Ok(taken) => {
                let decision = taken.decision(through);
                let tokens = taken.tokens;
                own.text = taken.text;
                self.append(Entry::Decision(decision));
                self.acts.push(LayerAct::noted(tokens, cost, self.fold.count()));
            }
            Err(rejected) => {
                let reason = rejected.to_string();
                self.append(Entry::Decision(Decision::NotesTried { through, reason }));
            }
        }
    }

    /// A compaction by the notes; none where they do not do.
    pub(super) fn compacted_from_notes(&self) -> Option<AppliedCompaction> {
        let own = self.notes.as_ref().filter(|_| {
            let flags = &self.setup.flags;
            policy::is_kept(flags) && flags.is_on(Flag::SessionMemoryCompact)
        })?;
        let notes = Notes::adopt(&own.text, &own.template);
        let plan = NotesPlan::new(self.view(), &notes, PLACE).ok()?;
        plan.settle(self.view(), &Extras::default()).ok()
    }
}

/// The notes in an answer.
fn inside(answer: &str) -> &str {
    let start = answer.split_once("<notes>").map_or(answer, |(_, rest)| rest);
    start.rsplit_once("</notes>").map_or(start, |(notes, _)| notes).trim()
}
