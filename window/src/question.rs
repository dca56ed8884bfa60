//! The request of a question that a layer asks a model.

use everfold_kernel::effect::{Ask, AskShape};
use everfold_kernel::record::Breakpoint;
use everfold_kernel::{
    AssistantEntry, Block, Decision, Entry, Limits, ModelId, Params, Prelude, Record, Role,
    SystemBlock, Timestamp, Usage, UserEntry, UserOrigin,
};
use everfold_prefix::{AnswerForm, Directive, Fold, Request};
use std::sync::Arc;

/// The request that asks this about a conversation. None before that has a
/// prelude. The parameters of a request of its own are the caller's: by the
/// model that is asked, or none for the small one, and the most tokens of its
/// answer.
pub fn request(
    fold: &mut Fold,
    ask: &Ask,
    limits: &Arc<Limits>,
    params: impl FnOnce(Option<&ModelId>, u64) -> Params,
) -> Option<Request> {
    match &ask.shape {
        AskShape::Fork { directive } => fold.request(Some(Directive(directive))),
        AskShape::Cached { directive } => fold.cached_request(Directive(directive)),
        AskShape::Conversation { messages, directive } => {
            let prelude = fold.prelude()?.clone();
            other_conversation(prelude, messages, limits).request(Some(Directive(directive)))
        }
        AskShape::Form { messages, directive, schema } => {
            let form = AnswerForm { schema: schema.clone(), max_tokens: ask.max_tokens };
            fold.form_request(*messages, Directive(directive), form)
        }
        AskShape::Side { model, system, prompt, schema } => {
            let mut params = params(model.as_ref(), ask.max_tokens);
            params.schema.clone_from(schema);
            side(params, system, prompt, limits)
        }
    }
}

/// A small request of its own, made by the same fold as any other.
#[must_use]
pub fn side(params: Params, system: &str, prompt: &str, limits: &Arc<Limits>) -> Option<Request> {
    dialogue(params, system, &[(Role::User, vec![Block::text(prompt)])], limits)
}

/// The same with examples before the question, as a weak model needs them (Q18).
#[must_use]
pub fn dialogue(
    params: Params,
    system: &str,
    messages: &[(Role, Vec<Block>)],
    limits: &Arc<Limits>,
) -> Option<Request> {
    // An empty block would be refused.
    let system = (!system.trim().is_empty())
        .then(|| SystemBlock { text: system.into(), breakpoint: Breakpoint::None });
    let prelude = Prelude { system: system.into_iter().collect(), tools: Vec::new(), params };
    other_conversation(prelude, messages, limits).request(None)
}

/// A system prompt and tools with other messages.
fn other_conversation(
    prelude: Prelude,
    messages: &[(Role, Vec<Block>)],
    limits: &Arc<Limits>,
) -> Fold {
    let mut fold = Fold::new(Arc::clone(limits));
    let mut push = |number: usize, entry| {
        let id = format!("other-{number}").into();
        fold.push(Record { id, parent: None, at: Timestamp::UNIX_EPOCH, entry });
    };
    push(0, Entry::Decision(Decision::Prelude(Box::new(prelude))));
    for (number, (role, blocks)) in messages.iter().enumerate() {
        for entry in entries(*role, number, blocks) {
            push(number + 1, entry);
        }
    }
    fold
}

/// A message as the log would have it.
fn entries(role: Role, number: usize, blocks: &[Block]) -> Vec<Entry> {
    match role {
        Role::User => vec![Entry::User(UserEntry {
            content: blocks.to_vec(),
            origin: UserOrigin::Meta,
            tool_use_result: None,
            provenance: Vec::new(),
        })],
        Role::Assistant => blocks
            .iter()
            .zip(0..)
            .map(|(block, index)| {
                Entry::Assistant(AssistantEntry {
                    message_id: format!("other-{number}").into(),
                    request_id: None,
                    model: "".into(),
                    index,
                    block: block.clone(),
                    usage: Usage::default(),
                    stop_reason: None,
                })
            })
            .collect(),
    }
}
