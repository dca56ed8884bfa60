//! By meaning (R14): what reads memories besides their words, and who makes the
//! vectors that are missing.
//!
//! A sentence model takes longer to load than anybody waits for a prompt. So a
//! source is asked for what is ready; where somebody waits, the rest is made
//! ready in the background, and words serve meanwhile.

use everfold_kernel::ports::Urgency;
use everfold_memory_recall::{
    Embedder, PassageSum, QueryVector, Sense, TABLE_WEIGHT, TABLE_WEIGHT_BESIDE_MODEL, Vectors,
    WordTable,
};
use everfold_memory_store::Notice;
use std::sync::Arc;

/// Something that reads memories by meaning.
#[derive(Clone)]
pub struct WeighedEmbedder {
    /// What it counts beside the words, which count 1.
    pub weight: f64,
    /// Where it comes from.
    pub source: Arc<dyn EmbedderSource>,
}

/// Where an embedder comes from.
pub trait EmbedderSource: Send + Sync {
    /// What makes vectors; none where there is none. Where somebody waits, only
    /// one that is ready: it is made ready for the next time.
    fn embedder(&self, urgency: Urgency) -> Option<Arc<dyn Embedder>>;

    /// Whether its vectors are made as quickly as files are read.
    fn pace(&self) -> Pace;
}

/// How quickly vectors are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// As quickly as files are read.
    Quick,
    /// So slowly that nobody should wait for many.
    Slow,
}

/// An embedder that is ready, and what it counts.
#[derive(Clone)]
pub(crate) struct Reading {
    pub(crate) embedder: Arc<dyn Embedder>,
    pub(crate) weight: f64,
    pub(crate) pace: Pace,
}

impl Reading {
    /// The table of words in the program.
    fn table(weight: f64) -> Option<Self> {
        let embedder: Arc<dyn Embedder> = Arc::new(WordTable::get()?);
        Some(Self { embedder, weight, pace: Pace::Quick })
    }

    /// Those that are ready. A process that answers once and goes makes nothing
    /// ready for the next time: it goes without what is slow.
    pub(crate) fn all(
        embedders: &[WeighedEmbedder],
        urgency: Urgency,
        notice: Notice,
    ) -> Vec<Self> {
        let ready = |one: &WeighedEmbedder| {
            let is_late = one.source.pace() == Pace::Slow && notice == Notice::Touched;
            if is_late && urgency == Urgency::Prompt {
                return None;
            }
            let embedder = one.source.embedder(urgency)?;
            Some(Self { embedder, weight: one.weight, pace: one.source.pace() })
        };
        let models: Vec<Self> = embedders.iter().filter_map(ready).collect();
        let weight = if models.is_empty() { TABLE_WEIGHT } else { TABLE_WEIGHT_BESIDE_MODEL };
        Self::table(weight).into_iter().chain(models).collect()
    }

    /// How a text reads beside these memories.
    pub(crate) fn sense<'a>(&self, text: &str, read: &ReadMemories<'a>) -> Option<Sense<'a>> {
        if read.vectors.iter().all(Option::is_none) {
            return None;
        }
        let query = QueryVector::of(&*self.embedder, text)?;
        let ReadMemories { vectors: memories, sum } = read.clone();
        Some(Sense { weight: self.weight, query, memories, sum })
    }
}

/// Memories of several catalogues, one behind the other, as an embedder reads
/// them.
#[derive(Clone, Default)]
pub(crate) struct ReadMemories<'a> {
    pub(crate) vectors: Vec<Option<&'a Vectors>>,
    /// What the catalogues have, of which some memories may be left out here.
    pub(crate) sum: PassageSum,
}
