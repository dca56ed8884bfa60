//! When work in the background may ask a model: after the person's own request,
//! never before it or instead of it.
//!
//! A fork reads what its parent's request writes to the cache, and the cache
//! has it once the answer begins (CONTRACTS 1.7): one that asks earlier pays
//! for the same tokens a second time. On a server with one slot whoever asks
//! first keeps the other waiting, so there the background asks only while
//! nothing else goes on, and is stopped when the person comes back (Q17).

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// Where the conversation stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    /// Nothing is asked; the person has the word.
    #[default]
    Idle,
    /// A turn goes on, and a request is about to come.
    Between,
    /// A request is on its way, and nothing has come back.
    Asked,
    /// The answer comes in.
    Answering,
}

/// Whether a request in the background reads what the conversation wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PrefixUse {
    /// It reads the prefix of the conversation, as the cache has it.
    Cached,
    /// It reads nothing that the conversation has.
    None,
}

/// How many requests a server answers at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Slots {
    /// As many as come.
    #[default]
    Many,
    One,
}

/// Who asks a model when. Clones are the same.
#[derive(Clone, Debug)]
pub struct Scheduler {
    phase: watch::Sender<Phase>,
    slots: Slots,
}

impl Default for Scheduler {
    fn default() -> Self {
        Self::new(Slots::Many)
    }
}

impl Scheduler {
    /// That of a conversation in which nothing goes on.
    #[must_use]
    pub fn new(slots: Slots) -> Self {
        Self { phase: watch::Sender::new(Phase::Idle), slots }
    }

    /// A turn goes on.
    pub fn turn_begins(&self) {
        self.phase.send_replace(Phase::Between);
    }

    pub fn asks(&self) {
        self.phase.send_replace(Phase::Asked);
    }

    pub fn is_answered(&self) {
        self.phase.send_if_modified(|phase| {
            std::mem::replace(phase, Phase::Answering) != Phase::Answering
        });
    }

    /// Its request is over.
    pub fn rests(&self) {
        self.phase.send_replace(Phase::Between);
    }

    pub fn turn_ends(&self) {
        self.phase.send_replace(Phase::Idle);
    }

    /// Waits until work in the background may ask.
    pub async fn clear(&self, reads: PrefixUse) {
        let (slots, mut phases) = (self.slots, self.phase.subscribe());
        // It cannot be dropped before `self`, so there always comes an answer.
        let _ = phases.wait_for(|phase| may_ask(*phase, reads, slots)).await;
    }

    /// Is cancelled once a request has to give way to the person's: never
    /// where there are slots enough.
    pub fn gives_way(&self) -> impl Future<Output = ()> + Send + 'static {
        let (slots, mut phases) = (self.slots, self.phase.subscribe());
        async move {
            match slots {
                Slots::Many => std::future::pending().await,
                Slots::One => {
                    let _ = phases.wait_for(|phase| *phase != Phase::Idle).await;
                }
            }
        }
    }

    /// Runs work in the background when it may ask, and stops it where it has
    /// to give way.
    pub async fn run<T>(
        &self,
        reads: PrefixUse,
        cancel: &CancellationToken,
        work: impl Future<Output = T>,
    ) -> T {
        self.clear(reads).await;
        let mut work = std::pin::pin!(work);
        tokio::select! {
            biased;
            done = &mut work => return done,
            () = self.gives_way() => cancel.cancel(),
        }
        work.await
    }
}

fn may_ask(phase: Phase, reads: PrefixUse, slots: Slots) -> bool {
    match (slots, reads) {
        (Slots::One, _) => phase == Phase::Idle,
        (Slots::Many, PrefixUse::Cached) => matches!(phase, Phase::Idle | Phase::Answering),
        (Slots::Many, PrefixUse::None) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;

    fn is_clear(scheduler: &Scheduler, reads: PrefixUse) -> bool {
        scheduler.clear(reads).now_or_never().is_some()
    }

    #[tokio::test]
    async fn e3_a_fork_waits_until_the_parent_s_answer_begins() {
        let scheduler = Scheduler::new(Slots::Many);
        assert!(is_clear(&scheduler, PrefixUse::Cached), "nothing goes on");
        scheduler.turn_begins();
        assert!(!is_clear(&scheduler, PrefixUse::Cached), "the request is about to come");
        scheduler.asks();
        assert!(!is_clear(&scheduler, PrefixUse::Cached) && is_clear(&scheduler, PrefixUse::None));
        scheduler.is_answered();
        assert!(is_clear(&scheduler, PrefixUse::Cached));
        scheduler.rests();
        assert!(!is_clear(&scheduler, PrefixUse::Cached));
        scheduler.turn_ends();
        assert!(is_clear(&scheduler, PrefixUse::Cached));
    }

    #[tokio::test]
    async fn q17_with_one_slot_the_background_waits_and_gives_way() {
        let scheduler = Scheduler::new(Slots::One);
        scheduler.turn_begins();
        scheduler.is_answered();
        assert!(!is_clear(&scheduler, PrefixUse::None));
        scheduler.turn_ends();
        let cancel = CancellationToken::new();
        let work = async { cancel.cancelled().await };
        let running = scheduler.run(PrefixUse::None, &cancel, work);
        let mut running = std::pin::pin!(running);
        assert!(running.as_mut().now_or_never().is_none());
        scheduler.turn_begins();
        running.await;
        assert!(cancel.is_cancelled());
    }
}
