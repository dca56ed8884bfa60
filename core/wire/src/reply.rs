//! A whole answer, as the events by which it would have been streamed.

use everfold_kernel::BlockView;
use everfold_kernel::ports::{ModelEvent, ModelReply};

/// The events of an answer that came in one piece.
#[must_use]
pub fn reply_events(reply: ModelReply) -> Vec<ModelEvent> {
    let mut events = vec![ModelEvent::Started {
        message_id: reply.message_id,
        request_id: reply.request_id,
        model: reply.model,
        usage: reply.usage,
    }];
    for (index, block) in (0..).zip(reply.blocks) {
        match block.view() {
            BlockView::Text(text) => events.push(ModelEvent::Text { index, text: text.to_owned() }),
            BlockView::Thinking(text) if !text.is_empty() => {
                events.push(ModelEvent::Thinking { index, text: text.to_owned() });
            }
            _ => {}
        }
        events.push(ModelEvent::Block { index, block });
    }
    events.extend(reply.context_edits.map(|edits| ModelEvent::ContextEdited { edits }));
    events.push(ModelEvent::Finished { stop_reason: reply.stop_reason, usage: reply.usage });
    events
}
