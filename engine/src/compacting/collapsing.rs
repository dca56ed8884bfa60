//! Context collapse at work (L4.13): spans are summed up after a turn, when
//! nobody waits for them, and shown by their summaries once the window fills.
//!
//! What is staged lives in memory only: a resumed session stages anew. What is
//! committed is in the log.

use crate::ladder::Climbed;
use crate::session::{Error, Session};
use everfold_compact::collapse::{self, Candidate, Pressure};
use everfold_kernel::ports::ModelKind;
use everfold_kernel::{Entry, Outcome, RecordId};
use std::collections::BTreeSet;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

impl Session {
    /// Sums up the spans that are finished and have no summary yet.
    pub(crate) async fn stage_spans(&mut self, cancel: &CancellationToken) -> Result<(), Error> {
        if self.collapse_pressure() == Pressure::Off {
            return Ok(());
        }
        let asks = self.world.model.kind() == ModelKind::Language;
        for span in self.unstaged() {
            if cancel.is_cancelled() {
                break;
            }
            let answer = if asks { self.ask_for_span(&span, cancel).await? } else { None };
            self.stage(span, answer.as_deref());
        }
        Ok(())
    }

    /// Commits what is staged once the window is nearly full. What has no
    /// summary yet gets one by rule then, so that no turn waits for a model.
    pub(crate) async fn collapse(&mut self) -> Result<Climbed, Error> {
        if matches!(self.collapse_pressure(), Pressure::Off | Pressure::Stage) {
            return Ok(Climbed::Done);
        }
        self.commit_staged().await?;
        if matches!(self.collapse_pressure(), Pressure::Commit | Pressure::Refuse) {
            for span in self.unstaged() {
                self.stage(span, None);
            }
            self.commit_staged().await?;
        }
        if self.collapse_pressure() != Pressure::Refuse {
            return Ok(Climbed::Done);
        }
        let percent = self.config.limits.compact.collapse_refuse_percent;
        Ok(Climbed::Blocked(format!(
            "the conversation has {} tokens, and requests are refused over {percent} % of the {} \
             that fit while it is collapsed; compact it by hand (/compact), take a range out of \
             view, or start a new session",
            self.fold.count().0,
            self.window().effective.0
        )))
    }

    fn collapse_pressure(&self) -> Pressure {
        let config = &self.config;
        collapse::pressure(&self.fold, &self.window(), &config.flags, &config.limits)
    }

    /// The spans that can be collapsed and have no summary yet.
    fn unstaged(&self) -> Vec<Candidate> {
        let staged: BTreeSet<&RecordId> = self.staged.iter().map(|one| &one.span.from).collect();
        let mut spans = collapse::candidates(&self.fold, &self.config.limits);
        spans.retain(|span| !staged.contains(&span.from));
        spans
    }

    async fn ask_for_span(
        &mut self,
        span: &Candidate,
        cancel: &CancellationToken,
    ) -> Result<Option<String>, Error> {
        let limits = Arc::clone(&self.config.limits);
        let Ok(effect) = collapse::ask(&self.fold, span, &limits) else { return Ok(None) };
        Ok(match self.perform(effect, cancel).await? {
            Outcome::Answered { text, .. } => Some(text),
            _ => None,
        })
    }

    fn stage(&mut self, span: Candidate, answer: Option<&str>) {
        match collapse::stage(&self.fold, span, answer, &self.config.limits) {
            Ok(staged) => self.staged.push(staged),
            Err(error) => tracing::debug!(%error, "a span was not staged"),
        }
    }

    async fn commit_staged(&mut self) -> Result<(), Error> {
        let config = Arc::clone(&self.config);
        // Whatever is not committed now is out of view or would not pay: it is
        // looked for anew.
        let staged = std::mem::take(&mut self.staged);
        let window = self.window();
        let decisions =
            collapse::commit(&self.fold, &window, &config.flags, &staged, &config.limits);
        for decision in decisions {
            self.append(Entry::Decision(decision)).await?;
        }
        Ok(())
    }
}
