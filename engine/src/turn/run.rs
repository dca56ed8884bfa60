//! The course of a turn, as a state machine that does nothing itself.
//!
//! [`Run::next`] says what to do; whoever does it reports back, and asks
//! again. So the order of things can be tested without a model, a disk or a
//! clock, and an embedder can perform the steps in a loop of its own.
//!
//! ```
//! use everfold_engine::event::EndReason;
//! use everfold_engine::window::ladder::Rung;
//! use everfold_engine::turn::run::{Rules, Run, Step};
//!
//! let mut run =
//!     Run::new(Rules { max_requests: 10, has_fallback: false, rungs: Rung::ORDER });
//! loop {
//!     match run.next() {
//!         Step::RunLayer(_) => run.layer_done(),
//!         Step::CallModel => run.answered("end_turn", Vec::new()),
//!         Step::Done(reason) => {
//!             assert_eq!(reason, EndReason::Completed);
//!             break;
//!         }
//!         step => panic!("{step:?}"),
//!     }
//! }
//! ```

use crate::event::EndReason;
use crate::tools::ToolCall;
use crate::window::ladder::Rung;
use everfold_kernel::Usd;
use everfold_kernel::ports::ModelError;

/// The next thing to do.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Run one rung of the ladder; then [`Run::layer_done`] or [`Run::blocked`].
    RunLayer(Rung),
    /// Make the request; then [`Run::answered`], [`Run::model_failed`] or [`Run::cancelled`].
    CallModel,
    /// Run these calls; then [`Run::tools_done`], [`Run::completed`] or [`Run::cancelled`].
    CallTools(Vec<ToolCall>),
    /// Go on with the fallback model; then [`Run::layer_done`].
    SwitchModel,
    /// The request was refused as too long: make room; then
    /// [`Run::layer_done`] or [`Run::blocked`].
    MakeRoom {
        /// Which time in this turn, from 1.
        try_number: u32,
        /// Tokens that the server allows, where it said so.
        maximum: Option<u64>,
    },
    /// The turn is over.
    Done(EndReason),
}

/// What bounds a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// Most requests.
    pub max_requests: u32,
    /// Whether there is a model to fall back to.
    pub has_fallback: bool,
    /// What is climbed before each request.
    pub rungs: &'static [Rung],
}

/// A turn on its way.
#[derive(Clone, Debug)]
pub struct Run {
    rules: Rules,
    phase: Phase,
    requests: u32,
    rooms_made: u32,
}

#[derive(Clone, Debug)]
enum Phase {
    Climb(&'static [Rung]),
    Ask,
    Act(Vec<ToolCall>),
    Switch,
    MakeRoom { maximum: Option<u64> },
    Over(EndReason),
}

/// How often a turn makes room for a request that was refused as too long:
/// once with a model's summary, once more without one.
const MOST_ROOMS: u32 = 2;

impl Run {
    /// The start of a turn: the person's message is in the log.
    #[must_use]
    pub fn new(rules: Rules) -> Self {
        Self { rules, phase: Phase::Climb(rules.rungs), requests: 0, rooms_made: 0 }
    }

    /// How many requests were answered.
    #[must_use]
    pub fn requests(&self) -> u32 {
        self.requests
    }

    /// What to do now. Asking again without reporting gives the same answer.
    #[must_use]
    #[expect(clippy::should_implement_trait, reason = "a step is not an item of a sequence")]
    pub fn next(&mut self) -> Step {
        if let Phase::Climb(rungs) = self.phase {
            let Some(rung) = rungs.first() else {
                self.phase = self.ask_or_end();
                return self.next();
            };
            return Step::RunLayer(*rung);
        }
        match &self.phase {
            Phase::Climb(_) | Phase::Ask => Step::CallModel,
            Phase::Act(calls) => Step::CallTools(calls.clone()),
            Phase::Switch => Step::SwitchModel,
            Phase::MakeRoom { maximum } => {
                Step::MakeRoom { try_number: self.rooms_made, maximum: *maximum }
            }
            Phase::Over(reason) => Step::Done(reason.clone()),
        }
    }

    fn ask_or_end(&self) -> Phase {
        if self.requests >= self.rules.max_requests {
            Phase::Over(EndReason::TooManyRequests(self.rules.max_requests))
        } else {
            Phase::Ask
        }
    }

    /// A rung was climbed, or the model switched.
    pub fn layer_done(&mut self) {
        self.phase = match self.phase {
            Phase::Climb(rungs) => Phase::Climb(rungs.split_first().map_or(&[], |(_, rest)| rest)),
            _ => Phase::Climb(self.rules.rungs),
        };
    }

    /// No request can be made.
    pub fn blocked(&mut self, why: String) {
        self.phase = Phase::Over(EndReason::Failed(why));
    }

    /// Summaries and repeated requests cost as much as they may (E7).
    pub fn over_ceiling(&mut self, spent: Usd) {
        self.phase = Phase::Over(EndReason::SpendingCeiling(spent));
    }

    /// The model answered, with these calls.
    pub fn answered(&mut self, stop_reason: &str, calls: Vec<ToolCall>) {
        self.requests += 1;
        self.phase = match stop_reason {
            _ if !calls.is_empty() => Phase::Act(calls),
            "pause_turn" => Phase::Climb(self.rules.rungs),
            "max_tokens" | "model_context_window_exceeded" => Phase::Over(EndReason::OutputLimit),
            "refusal" => Phase::Over(EndReason::Refused),
            _ => Phase::Over(EndReason::Completed),
        };
    }

    /// The model did not answer, after all retries.
    pub fn model_failed(&mut self, error: &ModelError) {
        let passing = matches!(error, ModelError::Overloaded { .. } | ModelError::Server { .. });
        if let ModelError::PromptTooLong { maximum, .. } = error
            && self.rooms_made < MOST_ROOMS
        {
            self.rooms_made += 1;
            self.phase = Phase::MakeRoom { maximum: *maximum };
            return;
        }
        self.phase = if passing && self.rules.has_fallback {
            self.rules.has_fallback = false;
            Phase::Switch
        } else {
            Phase::Over(EndReason::Failed(error.to_string()))
        };
    }

    /// Every call has its result in the log.
    pub fn tools_done(&mut self) {
        self.phase = Phase::Climb(self.rules.rungs);
    }

    /// What was to be done is done, and no answer is waited for.
    pub fn completed(&mut self) {
        self.phase = Phase::Over(EndReason::Completed);
    }

    /// The model would stop, and is kept at work: why is in the log.
    pub fn again(&mut self) {
        self.phase = Phase::Climb(self.rules.rungs);
    }

    /// The person stopped the turn.
    pub fn cancelled(&mut self) {
        self.phase = Phase::Over(EndReason::Cancelled);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(max_requests: u32, has_fallback: bool) -> Run {
        let mut run = Run::new(Rules { max_requests, has_fallback, rungs: Rung::ORDER });
        climb(&mut run);
        run
    }

    fn climb(run: &mut Run) {
        while let Step::RunLayer(_) = run.next() {
            run.layer_done();
        }
    }

    fn call(id: &str) -> ToolCall {
        ToolCall { id: id.into(), name: "Read".into(), input: serde_json::Value::Null }
    }

    #[test]
    fn q1_the_ladder_is_climbed_before_every_request() {
        let mut run = Run::new(Rules { max_requests: 9, has_fallback: false, rungs: Rung::ORDER });
        for _ in 0..3 {
            for rung in Rung::ORDER {
                assert_eq!(run.next(), Step::RunLayer(*rung));
                run.layer_done();
            }
            assert_eq!(run.next(), Step::CallModel);
            run.answered("tool_use", vec![call("a")]);
            assert_eq!(run.next(), Step::CallTools(vec![call("a")]));
            run.tools_done();
        }
    }

    #[test]
    fn a_turn_ends_after_its_last_request() {
        let mut run = run(1, false);
        run.answered("tool_use", vec![call("a")]);
        run.tools_done();
        climb(&mut run);
        assert_eq!(run.next(), Step::Done(EndReason::TooManyRequests(1)));
    }

    #[test]
    fn q8_an_overloaded_model_is_replaced_once() {
        let mut run = run(9, true);
        let overloaded = ModelError::Overloaded { message: "busy".into() };
        run.model_failed(&overloaded);
        assert_eq!(run.next(), Step::SwitchModel);
        run.layer_done();
        climb(&mut run);
        assert_eq!(run.next(), Step::CallModel);
        run.model_failed(&overloaded);
        assert!(matches!(run.next(), Step::Done(EndReason::Failed(_))));
    }

    #[test]
    fn l4_10_a_refused_request_is_made_room_for_and_sent_again() {
        let mut run = run(9, false);
        let too_long =
            ModelError::PromptTooLong { actual: Some(9), maximum: Some(8), message: String::new() };
        for try_number in 1..=2 {
            run.model_failed(&too_long);
            assert_eq!(run.next(), Step::MakeRoom { try_number, maximum: Some(8) });
            run.layer_done();
            climb(&mut run);
            assert_eq!(run.next(), Step::CallModel);
        }
        run.model_failed(&too_long);
        assert!(matches!(run.next(), Step::Done(EndReason::Failed(_))));
    }

    #[test]
    fn a_paused_turn_asks_again() {
        let mut run = run(9, false);
        run.answered("pause_turn", Vec::new());
        climb(&mut run);
        assert_eq!(run.next(), Step::CallModel);
    }
}
