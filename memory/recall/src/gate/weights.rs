//! The fitted models. Written by `bench/recall/fit.py`; not edited by hand.

/// A logistic model.
pub(super) struct Logistic {
    pub(super) bias: f64,
    pub(super) weights: [f64; super::FEATURES],
}

/// Whether a message calls for a memory, by its best hit.
pub(super) const CALLS: Logistic = Logistic {
    bias: -0.5256,
    weights: [
        0.0000,  // head_coverage
        1.4847,  // likeness
        0.0000,  // likeness_lead
        0.0000,  // rarest
        0.3581,  // words
        0.0000,  // of_best
        2.2007,  // score
        0.0000,  // matched
        0.0000,  // head_matched
        1.0290,  // distinctive
        0.7048,  // known_coverage
        0.6634,  // asked
        -1.6480, // terms
        -0.9996, // unknown
        -1.2619, // asks
        2.3000,  // ours
        0.7379,  // makes
        -0.1640, // length
    ],
};

/// Whether a hit helps with a message that calls for one.
pub(super) const HELPS: Logistic = Logistic {
    bias: -3.6565,
    weights: [
        1.9491,  // head_coverage
        0.0000,  // likeness
        6.2105,  // likeness_lead
        -1.0752, // rarest
        1.8719,  // words
        2.9437,  // of_best
        0.0000,  // score
        -1.1611, // matched
        -0.3134, // head_matched
        0.8691,  // distinctive
        0.0000,  // known_coverage
        0.0000,  // asked
        0.0000,  // terms
        0.0000,  // unknown
        0.0000,  // asks
        0.0000,  // ours
        0.0000,  // makes
        0.0000,  // length
    ],
};

/// Odds of a call from which on bodies are shown.
pub(super) const SURE: f64 = 0.7380;

/// Odds of a call from which on lines are shown.
pub(super) const POSSIBLE: f64 = 0.1144;

/// Least odds of help for a body.
pub(super) const LEAST_BODY: f64 = 0.0000;

/// Least odds of help for a line.
pub(super) const LEAST_LINE: f64 = -4.0000;
