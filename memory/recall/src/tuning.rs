//! Every number of the ranker, in one place; those of the gate are fitted and
//! stand in [`crate::gate`].
//!
//! A value is taken where neighbouring values do as well, and only if no set of
//! docs/BENCHMARKS.md falls by it: chat turns, turns among long messages, blocks
//! of turns, prompts of developers. `everfold-bench-recall` prints what each part
//! is worth.
//!
//! Tried and left out: the best part of a body by its words (blocks +0.5, turns
//! among long messages -2), a gain by how much of the query is covered (turns
//! +0.7, long messages -1), lower `b` (turns +1, long messages -4), likeness of
//! single words in place of texts (nothing beyond chance), vectors of single
//! sentences (prompts -2, turns -1), words by their worth in the order as in the
//! gate (blocks +0.5, turns -0.8, long messages -0.9).

/// What the ranker weighs, and how much.
#[derive(Clone, Debug, PartialEq)]
pub struct Tuning {
    /// How soon more of the same word stops to count. The textbook's value.
    pub k1: f64,
    /// How much a long text is held against it. The textbook's value.
    pub b: f64,
    /// How often a match in the name counts.
    pub name: f64,
    /// How often a match in the description counts.
    pub description: f64,
    /// What a word common to requests about anything counts.
    pub filler: f64,
    /// What a name of several parts counts beside its parts.
    pub whole_name: f64,
    /// What a misspelt word counts.
    pub misspelt: f64,
    /// Most different words of all memories for which misspelt words are mended.
    pub spelling_words: usize,
    /// Most English words that one of another language is looked for by.
    pub english_words: usize,
    /// Most different words of a query; a long one keeps both its ends.
    pub query_words: usize,
    /// How much of what all memories have in common is taken out of a likeness.
    pub common: f32,
    /// Gain of what was changed just now. Small by design, as are the next
    /// ones: it orders what matches about equally well.
    pub recency: f64,
    /// Days in which that gain halves.
    pub recency_half_life_days: f64,
    /// Gain of what was used often.
    pub usage: f64,
    /// Number of uses that earn half of that gain.
    pub usage_half: f64,
}

/// What the table of words counts beside the words themselves.
pub const TABLE_WEIGHT: f64 = 1.0;
/// The same beside a sentence model, which says much of it, too.
pub const TABLE_WEIGHT_BESIDE_MODEL: f64 = 0.65;
/// What a sentence model counts beside the words, and beside the table.
pub const MODEL_WEIGHT: f64 = 1.2;

impl Default for Tuning {
    fn default() -> Self {
        Self {
            k1: 1.2,
            b: 0.75,
            name: 3.0,
            description: 2.0,
            filler: 0.4,
            whole_name: 0.5,
            misspelt: 0.8,
            spelling_words: 200_000,
            english_words: 4,
            query_words: 256,
            common: 0.6,
            recency: 0.1,
            recency_half_life_days: 30.0,
            usage: 0.1,
            usage_half: 5.0,
        }
    }
}

impl Tuning {
    /// BM25 over stems and nothing else, to measure against.
    #[must_use]
    pub fn plain() -> Self {
        Self {
            name: 1.0,
            description: 1.0,
            filler: 1.0,
            whole_name: 0.0,
            spelling_words: 0,
            english_words: 0,
            recency: 0.0,
            usage: 0.0,
            ..Self::default()
        }
    }
}
