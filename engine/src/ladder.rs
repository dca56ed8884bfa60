//! What happens before each request, cheapest first (Q1).
//!
//! A rung that fails lets the next one catch (Q2); only the last may say that
//! no request can be made.

use crate::event::Event;
use crate::session::{Error, Session};
use everfold_kernel::window::{AutoCompact, WindowState};
use everfold_kernel::{Entry, Flag};
use everfold_prune::{CacheEdits, Prefix, Situation, Thread};
use tokio_util::sync::CancellationToken;

/// One step of the ladder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rung {
    /// Layer 1: big fresh results go to disk.
    Offload,
    /// Ranges go out of view that the model asked for by its tool.
    Snip,
    /// Layer 2: stale results are cleared, when it pays.
    Prune,
    /// Finished spans are shown by their summaries, in place of layer 4.
    Collapse,
    /// Layer 4: a summary takes the place of what came before.
    Compact,
    /// Refuse a request that would not leave room for an answer (T4).
    Window,
}

impl Rung {
    /// The order in which they are climbed.
    pub const ORDER: &'static [Self] =
        &[Self::Offload, Self::Snip, Self::Prune, Self::Collapse, Self::Compact, Self::Window];

    /// Those of a background agent: nothing that asks a model or changes what
    /// its parent has cached (L4.9).
    pub const OF_FORKS: &'static [Self] = &[Self::Offload, Self::Window];
}

/// What a rung came to.
pub(crate) enum Climbed {
    /// Go on.
    Done,
    /// No request can be made; the person is told why.
    Blocked(String),
}

impl Session {
    /// Runs one rung.
    pub(crate) async fn climb(
        &mut self,
        rung: Rung,
        cancel: &CancellationToken,
    ) -> Result<Climbed, Error> {
        match rung {
            Rung::Offload => self.offload(cancel).await?,
            Rung::Snip => self.snip_as_asked().await?,
            Rung::Prune => self.prune().await?,
            Rung::Collapse => return self.collapse().await,
            Rung::Compact => self.auto_compact(cancel).await?,
            Rung::Window => return Ok(self.check_window()),
        }
        Ok(Climbed::Done)
    }

    /// Spills what is over its cap. A disk that refuses is said once; the
    /// result is cut in place then (L1.7).
    async fn offload(&mut self, cancel: &CancellationToken) -> Result<(), Error> {
        let limits = self.config.limits.offload.clone();
        for spill in everfold_offload::plan(&self.fold, &limits) {
            let outcome = self.perform(spill.effect, cancel).await?;
            let applied = everfold_offload::apply(spill.pending, outcome);
            if let Some(reason) = applied.failure {
                self.say_once("offload", || {
                    format!("a tool result could not be written to disk: {reason}; it was cut")
                });
            }
            if let Some(decision) = applied.decision {
                self.append(Entry::Decision(decision)).await?;
            }
        }
        Ok(())
    }

    /// Clears stale results where it pays for itself (L2).
    async fn prune(&mut self) -> Result<(), Error> {
        let config = std::sync::Arc::clone(&self.config);
        let unanswered_break = self.fold.last_break() > self.fold.last_response();
        let decision = everfold_prune::plan(
            &self.fold,
            &Situation {
                thread: Thread::Main,
                now: self.world.clock.now(),
                last_fork: self.last_fork,
                prefix: if unanswered_break { Prefix::Broken } else { Prefix::Kept },
                model: config.table.spec(self.model()),
                cache_edits: if config.offers.cache_edits {
                    CacheEdits::Offered
                } else {
                    CacheEdits::NotOffered
                },
                flags: &config.flags,
                limits: &config.limits,
            },
        );
        if let Some(decision) = decision {
            self.append(Entry::Decision(decision)).await?;
        }
        Ok(())
    }

    fn check_window(&self) -> Climbed {
        // Collapsing takes its place and refuses by itself.
        let flags = &self.config.flags;
        let on = flags.is_on(Flag::AutoCompact) || flags.is_on(Flag::Collapse);
        let auto = if on { AutoCompact::On } else { AutoCompact::Off };
        let (count, window) = (self.fold.count(), self.window());
        match window.state(count, auto) {
            WindowState::Blocked => Climbed::Blocked(format!(
                "the conversation has {} tokens, and requests are refused over {} with auto-compact off; \
                 start a new session, or turn auto-compact on (autoCompactEnabled)",
                count.0, window.refuse.0
            )),
            _ => Climbed::Done,
        }
    }

    /// Tells the person something that would be true again and again.
    pub(crate) fn say_once(&mut self, topic: &'static str, text: impl FnOnce() -> String) {
        if self.said.insert(topic) {
            let text = text();
            tracing::warn!(topic, "{text}");
            self.emit(|| Event::Notice(text));
        }
    }
}
