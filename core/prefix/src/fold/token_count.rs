//! How many tokens the conversation has (T1, T7).

use super::Fold;
use crate::message::{Message, Piece};
use everfold_kernel::{Calibration, MessageId, ModelId, Tokens, Usage};

/// What the API said last, and the raw estimate of all that it said it about.
#[derive(Clone, Debug)]
pub(super) struct Reported {
    pub(super) message_id: MessageId,
    pub(super) usage: Usage,
    pub(super) raw: Tokens,
    /// The report before this one, for when this response is taken back.
    pub(super) earlier: Option<Box<Reported>>,
}

impl Fold {
    /// The canonical count (T1): what the API last reported, plus the
    /// calibrated estimate of what was added or taken away since.
    #[must_use]
    pub fn count(&self) -> Tokens {
        let now = self.raw + self.frame_tokens;
        match &self.reported {
            None => self.calibration.apply(now),
            Some(reported) => {
                let added = self.calibration.apply(now - reported.raw);
                let removed = self.calibration.apply(reported.raw - now);
                (reported.usage.total() + added) - removed
            }
        }
    }

    /// The same of the first messages alone.
    #[must_use]
    pub fn count_through(&self, messages: usize) -> Tokens {
        let later: Tokens = self.messages.iter().skip(messages).map(Message::tokens).sum();
        self.count() - self.calibration.apply(later)
    }

    /// Tokens that the last request held, by what the API said of it; none
    /// where nothing is known of one.
    #[must_use]
    pub fn last_prompt(&self) -> Tokens {
        self.reported.as_ref().map_or(Tokens(0), |reported| reported.usage.prompt())
    }

    /// Gives pieces another weight, from this message on: a replay learns how
    /// many tokens a text has from the request that carried it (PC8). Which
    /// bytes are sent does not change by it.
    pub fn reweigh(&mut self, from: usize, weigh: &mut dyn FnMut(&Piece) -> Option<Tokens>) {
        let mut first = None;
        for (at, message) in self.messages.iter_mut().enumerate().skip(from) {
            let before = message.tokens();
            if message.reweigh(weigh) {
                first.get_or_insert(at);
                self.raw = (self.raw + message.tokens()) - before;
            }
        }
        if let Some(first) = first {
            self.rendered.truncate(first);
        }
    }

    /// The calibration of this session and model (T7).
    #[must_use]
    pub fn calibration(&self) -> &Calibration {
        &self.calibration
    }

    /// Books what the API said of its prompt, and learns from it (T7).
    /// `prompt` is the raw estimate of what the request held. A server that
    /// reports no usage has said nothing.
    pub(super) fn report(
        &mut self,
        message_id: &MessageId,
        model: &ModelId,
        usage: Usage,
        prompt: Tokens,
    ) {
        if usage == Usage::default() {
            return;
        }
        if self.calibrated_for.as_ref() != Some(model) {
            self.calibration = Calibration::default();
            self.calibrated_for = Some(model.clone());
        }
        let raw = self.raw + self.frame_tokens;
        if let Some(reported) = &mut self.reported
            && reported.message_id == *message_id
        {
            reported.usage = usage;
            reported.raw = raw;
            return;
        }
        let earlier = self.reported.take();
        match &earlier {
            Some(before) => {
                self.calibration
                    .observe(prompt - before.raw, usage.prompt() - before.usage.total());
            }
            None => self.calibration.observe_first(prompt, usage.prompt()),
        }
        if usage.cache_write() > usage.cache_read {
            // Most of it was written now, as was asked now.
            self.written_for = self.prelude.as_ref().and_then(|prelude| prelude.params.cache);
        }
        let earlier = earlier.map(|before| Box::new(Reported { earlier: None, ..before }));
        self.reported = Some(Reported { message_id: message_id.clone(), usage, raw, earlier });
    }
}
