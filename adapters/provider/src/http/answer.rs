//! One answer of either dialect, from its bytes.

use everfold_kernel::RequestId;
use everfold_kernel::phrase::grouped;
use everfold_kernel::ports::{ModelError, ModelEvent};
use everfold_kernel::record::CacheTtl;
use everfold_wire::sse::{Decoder, End, SseEvent};
use everfold_wire::{anthropic, openai, reply_events};
use std::hash::{BuildHasher, Hasher, RandomState};

/// What is spoken with the server, and what is known of the request.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Dialogue {
    /// Anthropic's Messages, with the time to live of the request's cache.
    Anthropic(CacheTtl),
    /// Chat completions.
    OpenAi,
}

#[derive(Debug)]
pub(super) enum Heard {
    /// Something of the answer.
    Events(Vec<ModelEvent>),
    /// A server that works on it, or half an event.
    Ping,
    /// Comments, or half a line: any proxy sends these.
    Silence,
}

/// Turns the bytes of one answer into events.
#[derive(Debug)]
pub(super) struct Reader {
    decoder: Decoder,
    assembler: Assembler,
}

#[derive(Debug)]
enum Assembler {
    Anthropic(anthropic::Assembler),
    OpenAi(openai::Assembler),
}

impl Reader {
    pub(super) fn new(
        dialogue: Dialogue,
        request_id: Option<RequestId>,
        max_event_bytes: u64,
    ) -> Self {
        let assembler = match dialogue {
            Dialogue::Anthropic(ttl) => {
                Assembler::Anthropic(anthropic::Assembler::new(ttl, request_id))
            }
            Dialogue::OpenAi => Assembler::OpenAi(openai::Assembler::new(answer(request_id))),
        };
        Self {
            decoder: Decoder::new(usize::try_from(max_event_bytes).unwrap_or(usize::MAX)),
            assembler,
        }
    }

    /// Takes the next bytes. What was understood before an error is given out
    /// with it.
    pub(super) fn push(&mut self, bytes: &[u8]) -> (Heard, Result<(), ModelError>) {
        let events = match self.decoder.push(bytes) {
            Ok(events) if events.is_empty() => return (Heard::Silence, Ok(())),
            Ok(events) => events,
            Err(error) => {
                let message = error.to_string();
                return (Heard::Silence, Err(ModelError::Broken { message }));
            }
        };
        let (events, result) = self.assemble(events);
        let heard = if events.is_empty() { Heard::Ping } else { Heard::Events(events) };
        (heard, result)
    }

    fn assemble(&mut self, events: Vec<SseEvent>) -> (Vec<ModelEvent>, Result<(), ModelError>) {
        let mut out = Vec::new();
        for event in events {
            let result = match &mut self.assembler {
                Assembler::Anthropic(assembler) => assembler.push(&event),
                Assembler::OpenAi(assembler) => assembler.push(&event),
            };
            match result {
                Ok(events) => out.extend(events),
                Err(error) => return (out, Err(error)),
            }
        }
        (out, Ok(()))
    }

    /// What there is of an answer that has not begun: how far the server is
    /// with reading the prompt, where it says so.
    pub(super) fn standstill(&self) -> String {
        let progress = match &self.assembler {
            Assembler::Anthropic(_) => None,
            Assembler::OpenAi(assembler) => assembler.progress(),
        };
        let told = progress.map(|openai::PromptProgress { read, total }| {
            let (read, total) = (grouped(read), grouped(total));
            format!("{read} of {total} tokens of the prompt read, no answer yet")
        });
        told.unwrap_or_else(|| "connected, but no answer yet".to_owned())
    }

    /// Ends the answer at the end of the bytes.
    pub(super) fn finish(&mut self) -> Result<Vec<ModelEvent>, ModelError> {
        let result = match &mut self.assembler {
            Assembler::Anthropic(assembler) => assembler.finish(),
            Assembler::OpenAi(assembler) => assembler.finish(),
        };
        match (result, self.decoder.finish()) {
            (Err(ModelError::Broken { message }), End::Unfinished) => {
                Err(ModelError::Broken { message: format!("{message}, within an event") })
            }
            (result, _) => result,
        }
    }
}

/// The events of an answer that came in one piece.
pub(super) fn whole(
    dialogue: Dialogue,
    bytes: &[u8],
    request_id: Option<RequestId>,
) -> Result<Vec<ModelEvent>, ModelError> {
    let reply = match dialogue {
        Dialogue::Anthropic(ttl) => anthropic::parse_message(bytes, ttl, request_id),
        Dialogue::OpenAi => openai::parse_message(bytes, &answer(request_id)),
    };
    reply.map(reply_events)
}

fn answer(request_id: Option<RequestId>) -> openai::AnswerIds {
    openai::AnswerIds { request_id, unique: format!("{:016x}", chance()) }
}

/// A number of chance, good enough for spreading retries and naming answers.
pub(super) fn chance() -> u64 {
    RandomState::new().build_hasher().finish()
}
