//! What a weak model is asked in a dream: whether two memories say the same
//! (Q18). All else is done by rule.

use super::Dreamer;
use super::night::{Night, Outcome, rules};
use crate::background::TaskHandle;
use crate::background::scheduler::PrefixUse;
use crate::session::fork::Fork;
use crate::session::small_model::SmallModel;
use everfold_dream::Tidied;
use everfold_dream::pairs::{self, AkinPair};
use everfold_kernel::ports::{ModelError, Stored};
use everfold_kernel::{Limits, QuerySource, Usage};

/// Who tells what rules cannot.
pub(super) enum DreamReader {
    Agent(Box<Fork>),
    /// A weak model, about pairs that may say the same (Q18).
    Pairs(SmallModel),
}

impl Night {
    /// Asks about pairs while nobody else wants the model. Where it does not
    /// answer as asked, what rules did stands.
    pub(super) async fn ask_about_pairs(
        &mut self,
        model: &SmallModel,
        task: &TaskHandle,
        base: &Stored,
        tidied: Tidied,
    ) -> Outcome {
        if pairs::questions(&tidied, &self.limits.dream).is_empty() {
            return Outcome::by_rules(tidied);
        }
        let asked = pairs_told_same(model, &tidied, &self.limits);
        let told = model.scheduler.run(PrefixUse::None, task.cancel(), asked).await;
        let (same, usage) = match told {
            Ok(told) => told,
            Err(why) => {
                self.note = Some(format!("by rule alone: {why}"));
                return Outcome::by_rules(tidied);
            }
        };
        let (name, table) = (&model.config.models.small, &model.config.models.table);
        let cost = table.spec(name).cost(&usage).unwrap_or_default();
        let tidied = pairs::joined(tidied, &same, base, rules(&self.limits));
        Outcome { by: Dreamer::WeakModel, usage, cost, ..Outcome::by_rules(tidied) }
    }
}

/// The pairs that a model says to be the same, and what that took.
async fn pairs_told_same(
    model: &SmallModel,
    tidied: &Tidied,
    limits: &Limits,
) -> Result<(Vec<AkinPair>, Usage), PairsError> {
    let (mut same, mut usage) = (Vec::new(), Usage::default());
    for pair in pairs::questions(tidied, &limits.dream) {
        let said = pairs::dialogue(pair, &tidied.texts);
        let form = (pairs::answer_schema(), pairs::ANSWER_TOKENS);
        let (answer, used) =
            model.ask(QuerySource::Dream, pairs::system_prompt(), &said, form).await?;
        usage.add(&used);
        if pairs::says_same(&answer).ok_or(PairsError::NoAnswer)? {
            same.push(pair.clone());
        }
    }
    Ok((same, usage))
}

/// Why nothing is known about pairs.
#[derive(Debug, thiserror::Error)]
enum PairsError {
    #[error("the model failed: {0}")]
    Model(#[from] ModelError),
    #[error("the model did not answer as asked")]
    NoAnswer,
}
