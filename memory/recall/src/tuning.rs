//! Every number of the ranker, in one place.
//!
//! The gains in brackets are points of recall at 1, 5 and 10 on the development
//! half of `LoCoMo` (five conversations, 1,018 questions): what is lost when that
//! signal alone is left out. `everfold-bench-locomo` prints them again. Values
//! were taken where neighbouring values do as well and no single conversation
//! decides. Chosen on four conversations and measured on the fifth, in turn,
//! the same kinds of signals gave 42.0 / 72.0 / 80.4; stemmed BM25 gives 34.2 / 56.4 / 64.8.
//!
//! Tried and left out, for less than half a point: bigrams, feedback from the
//! first hits, letter trigrams for misspelt words, the score of the next text,
//! length and question marks of the text itself.

/// What the ranker weighs, and how much.
#[derive(Clone, Debug, PartialEq)]
pub struct Tuning {
    /// How soon more of the same word stops to count. Flat from 0.3 to 1.2.
    pub k1: f64,
    /// How much a long text is held against it. Flat from 0.2 to 0.6.
    pub b: f64,
    /// How often a match in the name counts. By judgement: turns have no names.
    pub name: f64,
    /// How often a match in the description counts. By judgement, as above.
    pub description: f64,
    /// What a word common to requests about anything counts [0.6, 0.8, 0.2].
    /// It is there for memories, where "fix" and "file" must not decide.
    pub filler: f64,
    /// A collection counts as at least this large when rarity is judged: among
    /// five files, no word is common and none is rare.
    pub least_collection: f64,
    /// Most different words of a query; a long paste keeps both its ends.
    pub query_words: usize,
    /// Share of the score of the text before [with the next: 4.0, 7.1, 4.0].
    pub before: f64,
    /// The same where the text before asks a question [2.6, 2.9, 1.4].
    pub before_question: f64,
    /// Share of the scores of the texts two before and two after [1.0, 2.4, 1.7].
    pub near: f64,
    /// Share of the best score of the group [0.5, 1.6, 1.6].
    pub group: f64,
    /// Gain of texts by an author whom the query names [0.7, 1.9, 1.3].
    pub author: f64,
    /// Gain of texts of the month that the query names [with the next: 1.6, 1.5, 1.3].
    pub month: f64,
    /// Further gain of texts of that day [0.0, 0.1, 0.1].
    pub day: f64,
    /// Gain of texts that say when, where the query asks when [1.1, 0.1, 0.2].
    pub when: f64,
    /// Gain by how much of the query is found in one text [0.0, 0.4, 0.5].
    pub coverage: f64,
    /// Gain of what was changed just now. Small by design, as are the next
    /// ones: it orders what matches about equally well.
    pub recency: f64,
    /// Days in which that gain halves.
    pub recency_half_life_days: f64,
    /// Gain of what was used often.
    pub usage: f64,
    /// Number of uses that earn half of that gain.
    pub usage_half: f64,
    /// What a match in the body proves, where one in name or description
    /// proves 1: a body mentions much that it is not about.
    pub body_evidence: f64,
    /// Part of a short query that has to be found for a memory to be injected.
    /// This and the next two were set so that a hand-made store answers what is
    /// about it and keeps silent otherwise (`tests/it/memories.rs`); with turns
    /// as memories, seven questions in ten about their own conversation bring
    /// something, and one in seventeen about another one.
    pub least_share: f64,
    /// Evidence that is enough for a long query, one word's worth being 1 ...
    pub least_evidence: f64,
    /// ... and how much more each doubling of the query's words asks for.
    pub evidence_growth: f64,
    /// Part of the best score below which nothing is injected.
    pub least_of_best: f64,
}

impl Default for Tuning {
    fn default() -> Self {
        Self {
            k1: 0.6,
            b: 0.3,
            name: 3.0,
            description: 2.0,
            filler: 0.4,
            least_collection: 50.0,
            query_words: 64,
            before: 0.4,
            before_question: 1.0,
            near: 0.25,
            group: 0.3,
            author: 0.3,
            month: 0.6,
            day: 0.2,
            when: 0.3,
            coverage: 1.0,
            recency: 0.1,
            recency_half_life_days: 30.0,
            usage: 0.1,
            usage_half: 5.0,
            body_evidence: 0.5,
            least_share: 0.5,
            least_evidence: 1.0,
            evidence_growth: 0.2,
            least_of_best: 0.4,
        }
    }
}

impl Tuning {
    /// BM25 over stems and nothing else, to measure against.
    #[must_use]
    pub fn plain() -> Self {
        Self {
            filler: 1.0,
            least_collection: 0.0,
            before: 0.0,
            before_question: 0.0,
            near: 0.0,
            group: 0.0,
            author: 0.0,
            month: 0.0,
            day: 0.0,
            when: 0.0,
            coverage: 0.0,
            recency: 0.0,
            usage: 0.0,
            ..Self::default()
        }
    }
}
