//! Watching the prompt cache: a break that nothing announced is said once, with
//! the part that changed and what it cost (PC6).

use crate::event::Event;
use crate::session::{Error, Session};
use mnemon_kernel::{Decision, Entry, ModelId, QuerySource, Usage};
use mnemon_prefix::Request;
use mnemon_prefix::breaks::{Answered, Base, Sent};

impl Session {
    /// Takes note of a request that is about to be sent. A break that was
    /// declared is announced with it.
    pub(crate) fn note_request(&mut self, source: &QuerySource, base: Base, request: &Request) {
        let declared = match base {
            Base::Nothing => None,
            Base::Own | Base::Main => self.fold.take_break(),
        };
        self.detector.sent(Sent {
            source: source.clone(),
            base,
            fingerprint: request.fingerprint.clone(),
            at: self.world.clock.now(),
            declared,
        });
    }

    /// Looks at what an answer says it read from the cache.
    pub(crate) async fn note_answer(
        &mut self,
        source: &QuerySource,
        model: &ModelId,
        usage: Usage,
    ) -> Result<(), Error> {
        let prices = self.config.table.spec(model).prices_for(usage.prompt().0).copied();
        let answer = Answered { usage, prices, server_reason: None };
        let Some(seen) = self.detector.answered(source, answer) else { return Ok(()) };
        let cost = seen.cost.map_or_else(String::new, |cost| format!(", ${:.4}", cost.0));
        let text = format!(
            "the prompt cache broke: {}; {} tokens were paid for again{cost}",
            seen.part, seen.tokens
        );
        self.append(Entry::Decision(Decision::BreakSeen(seen))).await?;
        self.emit(|| Event::Notice(text));
        Ok(())
    }
}
