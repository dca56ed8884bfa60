//! From what a transcript tells to the steps that policies take.
//!
//! Everything that is the same for all policies is done here, once: blocks of
//! a response are put together, texts counted and hashed, calls looked
//! through. What was said is held back until the request that carried it
//! tells how many tokens it has.

use crate::Options;
use crate::regret;
use crate::step::{Asked, Call, Said, Step, Stepped};
use crate::weigh::{self, Hollow};
use crate::went::{Told, Went};
use everfold_foreign::{Thread, TranscriptEvent, What};
use everfold_kernel::record::CacheTtl;
use everfold_kernel::{
    Attachment, Decision, Entry, Limits, MessageId, ModelId, Params, Record, RecordId, Timestamp,
    Tokens, Usage,
};
use everfold_prefix::measure::Weight;
use everfold_prefix::sim::hash;
use std::collections::BTreeMap;
use std::sync::Arc;

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
#[derive(Debug)]
struct Head {
    /// What was said since the last request: how many tokens it has is known
    /// with the next one.
    pending: Vec<Said>,
    /// The estimate of that.
    waiting: Tokens,
    went: Went,
    /// The response that may go on.
    response: Vec<Record>,
    /// When something was last said.
    latest: Timestamp,
    /// The lifetime that its usage shows.
    ttl: CacheTtl,
    salt: Option<Arc<str>>,
    /// Things that came in and are in no text.
    unseen: u64,
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
        let making = &self.making;
        let head = self.heads.entry(thread).or_insert_with(|| Head::new(&making.limits));
        let sink = &mut |what| sink(Step { thread, what });
        match what {
            What::Record(record) => {
                if let Entry::Assistant(entry) = &record.entry {
                    if message_of(&head.response).is_some_and(|id| *id != entry.message_id) {
                        head.answered(making, sink);
                    }
                    head.response.push(*record);
                } else {
                    head.answered(making, sink);
                    head.said(*record, making, sink);
                }
            }
            What::Rewound { dropped } => {
                head.answered(making, sink);
                head.went.absorb(&head.pending);
                head.flush(sink);
                head.went.rewind(&dropped);
                sink(Stepped::Rewound(dropped));
            }
        }
    }

    /// Gives what is left.
    pub fn finish(self, sink: Sink<'_>) {
        for (thread, mut head) in self.heads {
            let sink = &mut |what| sink(Step { thread, what });
            head.answered(&self.making, sink);
            head.flush(sink);
        }
    }
}

/// Takes what a conversation did.
type Own<'a> = &'a mut dyn FnMut(Stepped);

/// The model of answers that no server gave.
const SYNTHETIC: &str = "<synthetic>";

impl Head {
    fn new(limits: &Arc<Limits>) -> Self {
        Self {
            pending: Vec::new(),
            waiting: Tokens(0),
            went: Went::new(limits),
            response: Vec::new(),
            latest: Timestamp::default(),
            ttl: CacheTtl::default(),
            salt: None,
            unseen: 0,
        }
    }

    /// Takes something said. More than any prompt holds is not held back.
    fn said(&mut self, record: Record, making: &Making, sink: Own<'_>) {
        self.latest = self.latest.max(record.at);
        if let Entry::Decision(Decision::Prelude(prelude)) = &record.entry {
            self.salt = Some(salt(&prelude.params));
            self.went.prelude(weigh::prelude_tokens(prelude, &making.limits));
        }
        let weights = weigh::said(&record, self.went.factor, &making.limits);
        self.waiting += weights.iter().map(|weight| weight.tokens).sum();
        self.pending.push(making.said(record, weights));
        if self.waiting.0 > making.limits.long_window_tokens {
            self.went.absorb(&self.pending);
            self.flush(sink);
        }
    }

    /// A response is complete.
    fn answered(&mut self, making: &Making, sink: Own<'_>) {
        if self.response.is_empty() {
            return;
        }
        let response = std::mem::take(&mut self.response);
        let weights = weigh::response(&response, self.went.factor, &making.limits);
        let model = model_of(&response);
        if model.as_str() != SYNTHETIC {
            let written = weights.iter().map(|weight| weight.tokens.0).sum();
            self.asked(model, &response, written, sink);
        }
        let last = response.iter().map(|record| record.at).max();
        self.latest = last.map_or(self.latest, |at| at.max(self.latest));
        let blocks = response.into_iter().zip(weights);
        self.pending.extend(blocks.map(|(record, weight)| making.said(record, vec![weight])));
    }

    /// Gives what led to a request, by what that tells of it, and the request.
    fn asked(&mut self, model: ModelId, response: &[Record], written: u64, sink: Own<'_>) {
        let usage = weigh::usage_of(response);
        let told = Told { at: self.latest, model: &model, usage: &usage, ttl: self.ttl };
        let settled = self.went.settle(&self.pending, told);
        match (usage.cache_write_1h, usage.cache_write_5m) {
            (1.., _) => self.ttl = CacheTtl::OneHour,
            (0, 1..) => self.ttl = CacheTtl::FiveMinutes,
            (0, 0) => {}
        }
        if let Some(shrunk) = settled.shrunk {
            sink(Stepped::Shrunk(shrunk));
        }
        for own in &mut self.pending {
            for weight in &mut own.weights {
                weight.tokens = settled.scale.of(weight.tokens);
            }
        }
        self.flush(sink);
        if settled.unseen.0 > 0 {
            self.unseen += 1;
            let name = format!("unseen-{}", self.unseen);
            let said = unseen(self.latest, &name, settled.unseen);
            self.went.absorb(std::slice::from_ref(&said));
            sink(Stepped::Said(Box::new(said)));
        }
        sink(Stepped::Asked(Box::new(Asked {
            at: self.latest,
            model,
            ttl: self.ttl,
            prelude: settled.prelude,
            salt: self.salt.clone().unwrap_or_default(),
            output: usage.output.max(written),
            wishes: regret::wishes(response),
            needs: regret::needs(response),
            calls: Call::all(response),
            said: response.first().map_or(self.latest, |record| record.at),
            key: key_of(response),
            usage,
            anchor: settled.anchor,
        })));
    }

    /// Gives what was said.
    fn flush(&mut self, sink: Own<'_>) {
        self.waiting = Tokens(0);
        for said in self.pending.drain(..) {
            sink(Stepped::Said(Box::new(said)));
        }
    }
}

/// The kind of what came in and is in no text of the transcript.
pub(crate) const UNSEEN: &str = "unseen";

/// Tokens that came in, as something said.
pub(crate) fn unseen(at: Timestamp, name: &str, tokens: Tokens) -> Said {
    let id = RecordId::from(name);
    let weight = Weight { content: hash(id.as_str().as_bytes()), tokens };
    let entry = Entry::Attachment(Attachment {
        kind: UNSEEN.to_owned(),
        rendered: ".".to_owned(),
        data: serde_json::Value::Null,
        provenance: None,
    });
    let record = Record { id, parent: None, at, entry };
    Said { record, hollow: None, weights: vec![weight] }
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

/// A number for a response that copies of it in other files share.
fn key_of(response: &[Record]) -> u64 {
    let Some(Entry::Assistant(entry)) = response.first().map(|record| &record.entry) else {
        return 0;
    };
    let Some(request) = &entry.request_id else { return 0 };
    let name = format!("{}:{request}", entry.message_id);
    hash(name.as_bytes()).iter().take(8).fold(0, |key, byte| key << 8 | u64::from(*byte))
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
