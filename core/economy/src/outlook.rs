//! What a conversation lets expect, and what it has cost so far.

use crate::terms::CostTerms;
use everfold_kernel::{Role, Tokens, Usd, UserOrigin};
use everfold_prefix::message::PieceOrigin;
use everfold_prefix::{Fold, Message};

/// Requests that are expected to follow in this turn: those of the turns in
/// view and `prior` more, over the turns and one more. Turns that have had no
/// answer yet say nothing.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "counts of messages are far below 2^52")]
pub fn expected_rounds(fold: &Fold, prior: u64) -> f64 {
    let (mut turns, mut requests) = (0_u64, 0_u64);
    let mut asked = false;
    for message in fold.messages() {
        match message.role() {
            Role::User => asked |= is_prompt(message),
            Role::Assistant => {
                requests += 1;
                turns += u64::from(std::mem::take(&mut asked));
            }
        }
    }
    (prior + requests) as f64 / (1 + turns) as f64
}

/// How many requests the messages in view took.
#[must_use]
pub fn requests(fold: &Fold) -> u64 {
    fold.messages().iter().filter(|message| message.role() == Role::Assistant).count() as u64
}

/// About what the requests of the messages in view have cost: each read what
/// stood before its answer, everything was written once, and the answers were
/// paid for. None without a price.
#[must_use]
pub fn spent(fold: &Fold, terms: &CostTerms) -> Option<Usd> {
    terms.prices?;
    let (mut end, mut read, mut output) = (Tokens(0), Tokens(0), Tokens(0));
    for message in fold.messages() {
        if message.role() == Role::Assistant {
            read += end;
            output += message.tokens();
        }
        end += message.tokens();
    }
    let calibrated = |tokens| fold.calibration().apply(tokens);
    let reads = terms.read(calibrated(read));
    let written = terms.write(calibrated(end));
    let answers = terms.output(calibrated(output));
    Some(Usd(reads.0 + written.0 + answers.0))
}

/// Whether a person speaks in a message.
fn is_prompt(message: &Message) -> bool {
    message.pieces().iter().any(|piece| piece.origin == PieceOrigin::User(UserOrigin::Human))
}

#[cfg(test)]
mod tests {
    use super::*;
    use everfold_kernel::{
        AssistantEntry, Block, Entry, Limits, Record, Timestamp, ToolUseId, Usage, UserEntry,
    };
    use serde_json::json;

    struct Conversation {
        fold: Fold,
        count: u32,
    }

    impl Conversation {
        fn push(&mut self, entry: Entry) {
            self.count += 1;
            let id = format!("r{}", self.count).into();
            self.fold.push(Record { id, parent: None, at: Timestamp::UNIX_EPOCH, entry });
        }

        fn user(&mut self, block: Block, origin: UserOrigin) {
            let (content, tool_use_result, provenance) = (vec![block], None, Vec::new());
            self.push(Entry::User(UserEntry { content, origin, tool_use_result, provenance }));
        }

        fn says(&mut self, block: Block) {
            let message_id = format!("m{}", self.count).into();
            let (request_id, stop_reason, usage) = (None, None, Usage::default());
            let model = "claude-sonnet-5-5".into();
            self.push(Entry::Assistant(AssistantEntry {
                message_id,
                request_id,
                model,
                index: 0,
                block,
                usage,
                stop_reason,
            }));
        }
    }

    #[test]
    #[expect(clippy::float_cmp, reason = "quotients of small whole numbers")]
    fn l2_7_the_pace_of_a_session_tells_how_long_a_turn_goes_on() {
        let mut own = Conversation { fold: Fold::new(Limits::default().into()), count: 0 };
        let person = UserOrigin::Human;
        own.user(Block::text("go"), person);
        assert_eq!(expected_rounds(&own.fold, 10), 10.0, "nothing is known yet");
        for word in ["more", "and"] {
            own.says(Block::text("done"));
            own.user(Block::text(word), person);
        }
        assert_eq!(expected_rounds(&own.fold, 10), 4.0, "short turns");
        for number in 0..98 {
            let id = ToolUseId::new(format!("t{number}"));
            own.says(Block::tool_use(&id, "Read", json!({})));
            own.user(Block::tool_result(&id, json!("found")), UserOrigin::ToolResult);
        }
        assert_eq!(expected_rounds(&own.fold, 10), 27.5, "a long one");
        assert_eq!(requests(&own.fold), 100);
    }
}
