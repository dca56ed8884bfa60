//! Watching the prompt cache: a break that nothing announced is said once, with
//! the part that changed and what it cost (PC6).

use crate::event::Event;
use crate::fork::{Start, Thread};
use crate::session::{Error, Session};
use everfold_kernel::ports::Reply;
use everfold_kernel::record::Dialect;
use everfold_kernel::{Decision, Entry, QuerySource, Tokens};
use everfold_prefix::Request;
use everfold_prefix::breaks::{Answered, Base, Sent};

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

    /// Whose request the next one continues.
    pub(crate) fn base(&self) -> Base {
        let asked_before = self.ledger().total().requests > 0;
        match &self.thread {
            Thread::Agent { start: Start::Parent, .. }
            | Thread::Fork { start: Start::Parent, .. }
                if !asked_before =>
            {
                Base::Main
            }
            _ => Base::Own,
        }
    }

    /// Whether the server is asked why it did not read its cache.
    pub(crate) fn asks_why(&self) -> bool {
        self.config.offers.cache_diagnostics && self.world.model.dialect() == Dialect::Anthropic
    }

    /// Looks at what an answer says it read from the cache. Where the server
    /// cleared something by itself, less is read and that is no fault (L2.4).
    pub(crate) async fn note_answer(
        &mut self,
        source: &QuerySource,
        reply: &Reply,
        server_reason: Option<String>,
    ) -> Result<(), Error> {
        let usage = reply.usage;
        let prices = self.config.table.spec(&reply.model).prices_for(usage.prompt().0).copied();
        let answer = Answered { usage, prices, server_reason };
        let seen = self.detector.answered(source, answer);
        let Some(seen) = seen.filter(|_| reply.context_edits.is_none()) else { return Ok(()) };
        let cost = seen.cost.map_or_else(String::new, |cost| format!(", ${:.4}", cost.0));
        let server = seen.server_reason.as_ref();
        let server = server.map_or_else(String::new, |reason| format!(" (the server: {reason})"));
        let text = format!(
            "the prompt cache broke: {}{server}; {} tokens were paid for again{cost}",
            seen.part, seen.tokens
        );
        self.append(Entry::Decision(Decision::BreakSeen(seen))).await?;
        self.emit(|| Event::Notice(text));
        Ok(())
    }

    /// Books what the server says that it cleared by itself (L2.4), and tells it.
    pub(crate) async fn note_edits(&mut self, reply: &Reply) -> Result<(), Error> {
        let edits = reply.context_edits.as_ref().map(everfold_prune::applied_edits);
        let Some(edits) = edits.filter(|edits| !edits.is_empty()) else { return Ok(()) };
        let tokens: Tokens = edits.iter().map(|edit| edit.cleared_input_tokens).sum();
        let results: u64 = edits.iter().filter_map(|edit| edit.cleared_tool_uses).sum();
        let text = format!(
            "the server cleared {} tokens of the prompt ({results} tool results); \
             the transcript keeps them",
            tokens.0
        );
        self.append(Entry::Decision(Decision::ServerCleared { edits })).await?;
        self.emit(|| Event::Notice(text));
        Ok(())
    }
}
