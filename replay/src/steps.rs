//! From what a transcript tells to the steps that policies take.
//!
//! Everything that is the same for all policies is done here, once: blocks of
//! a response are put together, texts counted and hashed, calls looked
//! through. The first steps of a conversation are held back until it is known
//! how its texts are to be counted.

use crate::Options;
use crate::regret;
use crate::step::{Asked, Call, Said, Standing, Step, Stepped};
use crate::weigh::{self, Hollow, Sampler, Scale};
use everfold_foreign::{Thread, TranscriptEvent, What};
use everfold_kernel::record::CacheTtl;
use everfold_kernel::{
    Decision, Entry, Limits, MessageId, ModelId, Params, Record, RecordId, Timestamp, Tokens, Usage,
};
use everfold_prefix::measure::Weight;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Takes the steps.
type Sink<'a> = &'a mut dyn FnMut(Step);

/// Makes the steps of one session.
#[derive(Debug)]
pub struct Steps {
    heads: BTreeMap<Thread, Head>,
    making: Making,
}

/// What all conversations are made ready with.
#[derive(Debug)]
struct Making {
    limits: Arc<Limits>,
    readers: Readers,
    hollow: Hollow,
}

/// Which policies look at texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Readers {
    All,
    Some,
    None,
}

/// One conversation as the transcript has it.
#[derive(Debug, Default)]
struct Head {
    /// What is held back until the count is calibrated.
    waiting: Vec<Happened>,
    sampler: Sampler,
    scale: Option<Scale>,
    /// The response that may go on.
    response: Vec<Record>,
    /// When something was last said.
    latest: Timestamp,
    /// The lifetime that its usage shows.
    ttl: CacheTtl,
    prelude: Option<Tokens>,
    salt: Option<Arc<str>>,
    /// Requests that said what they used.
    reported: usize,
}

/// What a conversation did, a response being one thing.
#[derive(Debug)]
enum Happened {
    Said(Box<Record>),
    Answered { at: Timestamp, response: Vec<Record> },
    Rewound(Vec<RecordId>),
}

impl Steps {
    /// Of a session that nothing is known of yet.
    #[must_use]
    pub fn new(options: &Options) -> Self {
        let mut reads = options.policies.iter().map(|policy| policy.reads_texts());
        let readers = match (reads.clone().any(|own| own), reads.all(|own| own)) {
            (true, true) => Readers::All,
            (true, false) => Readers::Some,
            (false, _) => Readers::None,
        };
        let limits = Arc::clone(&options.limits);
        Self {
            heads: BTreeMap::new(),
            making: Making { limits, readers, hollow: Hollow::default() },
        }
    }

    /// Takes what a transcript tells next.
    pub fn take(&mut self, told: TranscriptEvent, sink: Sink<'_>) {
        let TranscriptEvent { thread, what } = told;
        let head = self.heads.entry(thread).or_default();
        let sink = &mut |what| sink(Step { thread, what });
        match what {
            What::Record(record) => {
                if let Entry::Assistant(entry) = &record.entry {
                    if message_of(&head.response).is_some_and(|id| *id != entry.message_id) {
                        head.answered(&self.making, sink);
                    }
                    head.response.push(*record);
                } else {
                    head.answered(&self.making, sink);
                    head.take(Happened::Said(record), &self.making, sink);
                }
            }
            What::Rewound { dropped } => {
                head.answered(&self.making, sink);
                head.take(Happened::Rewound(dropped), &self.making, sink);
            }
        }
    }

    /// Gives what was held back.
    pub fn finish(self, sink: Sink<'_>) {
        for (thread, mut head) in self.heads {
            let sink = &mut |what| sink(Step { thread, what });
            head.answered(&self.making, sink);
            head.calibrate(&self.making, sink);
        }
    }
}

/// Takes what a conversation did.
type Own<'a> = &'a mut dyn FnMut(Stepped);

impl Head {
    /// A response is complete.
    fn answered(&mut self, making: &Making, sink: Own<'_>) {
        if self.response.is_empty() {
            return;
        }
        let response = std::mem::take(&mut self.response);
        self.take(Happened::Answered { at: self.latest, response }, making, sink);
    }

    /// Takes what happened, or holds it until the count is calibrated.
    fn take(&mut self, happened: Happened, making: &Making, sink: Own<'_>) {
        let limits = &making.limits;
        let last = match &happened {
            Happened::Said(record) => Some(record.at),
            Happened::Answered { response, .. } => response.last().map(|record| record.at),
            Happened::Rewound(_) => None,
        };
        self.latest = last.map_or(self.latest, |at| at.max(self.latest));
        if let Some(scale) = self.scale {
            return sink(self.made(happened, scale, making));
        }
        match &happened {
            Happened::Said(record) => self.sampler.said(record, limits),
            Happened::Answered { response, .. } => self.sampler.answered(response, limits),
            Happened::Rewound(_) => {}
        }
        self.waiting.push(happened);
        if self.sampler.samples() >= limits.replay.calibrate_requests {
            self.calibrate(making, sink);
        }
    }

    /// Makes the scale of the conversation, and gives what was held back.
    fn calibrate(&mut self, making: &Making, sink: Own<'_>) {
        if self.scale.is_some() {
            return;
        }
        let limits = &making.limits;
        for happened in &self.waiting {
            match happened {
                Happened::Said(record) => {
                    if let Entry::Decision(Decision::Prelude(prelude)) = &record.entry {
                        self.prelude = Some(weigh::prelude_tokens(prelude, limits));
                    }
                }
                Happened::Answered { response, .. }
                    if weigh::usage_of(response).cache_write_1h > 0 =>
                {
                    self.ttl = CacheTtl::OneHour;
                }
                _ => {}
            }
        }
        let scale = self.sampler.scale(self.prelude, &limits.replay);
        self.scale = Some(scale);
        for happened in std::mem::take(&mut self.waiting) {
            sink(self.made(happened, scale, making));
        }
    }

    fn made(&mut self, happened: Happened, scale: Scale, making: &Making) -> Stepped {
        match happened {
            Happened::Said(record) => {
                if let Entry::Decision(Decision::Prelude(prelude)) = &record.entry {
                    self.salt = Some(salt(&prelude.params));
                }
                let weights = scale.weigh(&record, &making.limits);
                Stepped::Said(Box::new(making.said(*record, weights)))
            }
            Happened::Answered { at, response } => {
                Stepped::Asked(Box::new(self.asked(at, response, scale, making)))
            }
            Happened::Rewound(dropped) => Stepped::Rewound(dropped),
        }
    }

    fn asked(
        &mut self,
        at: Timestamp,
        response: Vec<Record>,
        scale: Scale,
        making: &Making,
    ) -> Asked {
        let usage = weigh::usage_of(&response);
        self.reported += usize::from(usage.prompt().0 > 0);
        let weights = scale.weigh_response(&response, &making.limits);
        let written: u64 = weights.iter().map(|weight| weight.tokens.0).sum();
        let standing = if self.reported > making.limits.replay.calibrate_requests {
            Standing::Compared
        } else {
            Standing::Teaches
        };
        Asked {
            at,
            model: model_of(&response),
            ttl: self.ttl,
            prelude: scale.prelude,
            salt: self.salt.clone().unwrap_or_default(),
            output: usage.output.max(written),
            wishes: regret::wishes(&response),
            calls: Call::all(&response),
            answer: response
                .into_iter()
                .zip(weights)
                .map(|(record, weight)| making.said(record, vec![weight]))
                .collect(),
            usage,
            standing,
        }
    }
}

impl Making {
    /// Makes a record ready: what no policy looks at is left out.
    fn said(&self, mut record: Record, weights: Vec<Weight>) -> Said {
        record.parent = None;
        match &mut record.entry {
            Entry::Assistant(entry) => {
                // What was used then says nothing of what a policy sends.
                entry.usage = Usage::default();
                (entry.request_id, entry.stop_reason) = (None, None);
            }
            Entry::User(user) => {
                user.tool_use_result = None;
                weigh::drop_media(&mut user.content);
            }
            Entry::Attachment(_) => {}
            Entry::Decision(_) | Entry::Boundary(_) | Entry::Opaque(_) => {
                return Said { record, hollow: None, weights };
            }
        }
        match self.readers {
            Readers::All => Said { record, hollow: None, weights },
            Readers::Some => {
                let hollow = Some(self.hollow.of(&record));
                Said { record, hollow, weights }
            }
            Readers::None => Said { record: self.hollow.of(&record), hollow: None, weights },
        }
    }
}

/// What of the parameters is part of the cache key.
fn salt(params: &Params) -> Arc<str> {
    let parts = [&params.thinking, &params.schema];
    let parts: Vec<String> = parts.into_iter().flatten().map(ToString::to_string).collect();
    (parts.join("\n") + params.effort.as_deref().unwrap_or("")).into()
}

fn message_of(response: &[Record]) -> Option<&MessageId> {
    match &response.first()?.entry {
        Entry::Assistant(entry) => Some(&entry.message_id),
        _ => None,
    }
}

fn model_of(response: &[Record]) -> ModelId {
    let model = response.first().and_then(|record| match &record.entry {
        Entry::Assistant(entry) => Some(entry.model.clone()),
        _ => None,
    });
    model.unwrap_or_else(|| ModelId::new("unknown"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Policy;
    use everfold_kernel::{Block, ToolUseId, UserEntry, UserOrigin};
    use serde_json::json;

    #[test]
    fn pc7_pictures_are_weighed_and_not_held() {
        let data = "QUJD".repeat(1_000);
        let shot = json!([{"type": "text", "text": "here"},
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}]);
        let content =
            vec![Block::image("image/png", &data), Block::tool_result(&ToolUseId::new("t"), shot)];
        let entry = Entry::User(UserEntry {
            content,
            origin: UserOrigin::Human,
            tool_use_result: Some(json!(data)),
            provenance: Vec::new(),
        });
        let record = Record { id: "1".into(), parent: None, at: Timestamp::UNIX_EPOCH, entry };
        let made = |policies: &[Policy]| {
            let options = Options { policies: policies.to_vec(), ..Options::default() };
            let (mut steps, mut made) = (Steps::new(&options), Vec::new());
            let what = What::Record(Box::new(record.clone()));
            steps.take(TranscriptEvent { thread: Thread::MAIN, what }, &mut |step| made.push(step));
            steps.finish(&mut |step| made.push(step));
            assert_eq!(made.len(), 1);
            let Stepped::Said(said) = made.remove(0).what else { panic!("nothing was said") };
            *said
        };
        for policies in [&Policy::USUAL[..], &[Policy::Everfold], &[Policy::None]] {
            let said = made(policies);
            let shown = format!("{said:?}");
            assert!(shown.len() < data.len() && !shown.contains("QUJD"), "{shown}");
            assert!(said.weights[0].tokens.0 >= 2_000 && said.weights[1].tokens.0 >= 2_000);
            assert_eq!(said.hollow.is_some(), policies.len() > 1);
        }
        assert!(format!("{:?}", made(&[Policy::Everfold])).contains("here"), "texts are kept");
    }
}
