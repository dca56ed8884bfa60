//! Asking whoever reviews: the small model, or a fork of the conversation.

use super::ReviewError;
use crate::background::TaskHandle;
use crate::background::scheduler::PrefixUse;
use crate::event::EndReason;
use crate::session::memory_state::{JobReader, Scene};
use everfold_extract::ReviewSpan;
use everfold_kernel::ports::Kept;
use everfold_kernel::{QuerySource, Usage};

impl JobReader {
    /// What a model would keep, and what that took.
    pub(super) async fn ask(
        self,
        scene: &Scene,
        found: &ReviewSpan,
        task: &TaskHandle,
    ) -> Result<(Vec<Kept>, Usage), ReviewError> {
        scene.budget.allows(&QuerySource::Extract).await?;
        match self {
            Self::Small(review) => {
                let asked = review.run(scene, found);
                let done = review.model.scheduler.run(PrefixUse::None, task.cancel(), asked).await;
                if matches!(done, Err(ReviewError::NoList)) {
                    scene.state.small_is_unfit();
                }
                done
            }
            Self::Fork { fork, keeper } => {
                let told = scene.directive(found).await?;
                keeper.begin(found.testimony.clone());
                let report = fork.directed(told).run(task.cancel().clone()).await;
                for denial in &report.end.denials {
                    tracing::info!(tool = denial.name, input = %denial.input, "refused to a review");
                }
                let reason = report.end.reason;
                if !(reason.is_success() || matches!(reason, EndReason::TooManyRequests(_))) {
                    return Err(ReviewError::Early(reason));
                }
                Ok((keeper.kept(), report.end.usage))
            }
        }
    }
}
