//! The fitted models. Written by `bench/recall/fit.py`; not edited by hand.

/// A logistic model.
pub(super) struct Logistic {
    pub(super) bias: f64,
    pub(super) weights: [f64; super::FEATURES],
    /// Two features, by their places, and what their product weighs.
    pub(super) products: &'static [(usize, usize, f64)],
}

/// Whether a message calls for a memory, by its best hit.
pub(super) const CALLS: Logistic = Logistic {
    bias: -1.3027,
    weights: [
        1.8321,  // score
        0.0000,  // words
        0.0000,  // likeness
        0.0000,  // likeness_lead
        0.0000,  // lead
        0.0000,  // lead_in_full
        0.0000,  // both
        0.0000,  // coverage
        0.0000,  // head_coverage
        2.7055,  // names
        1.0159,  // distinctive
        0.2682,  // single
        0.0000,  // place
        -0.0588, // asked
        -0.3729, // typed
        -0.6828, // long
        -1.7723, // longer
        0.4914,  // kind
    ],
    products: &[
        (0, 13, 1.2956),   // score, asked
        (14, 15, -0.5146), // typed, long
        (14, 14, 0.1186),  // typed, typed
        (0, 17, 0.3756),   // score, kind
        (0, 14, -0.1222),  // score, typed
        (0, 15, 2.6069),   // score, long
        (14, 17, -0.0294), // typed, kind
        (0, 11, -1.2093),  // score, single
        (17, 17, -0.0521), // kind, kind
    ],
};

/// Whether the best hit is what is called for.
pub(super) const ANSWERS: Logistic = Logistic {
    bias: -3.8505,
    weights: [
        3.5448,  // score
        0.0000,  // words
        0.0000,  // likeness
        0.0000,  // likeness_lead
        0.0000,  // lead
        0.0000,  // lead_in_full
        0.0000,  // both
        0.0000,  // coverage
        0.0000,  // head_coverage
        2.0827,  // names
        0.9967,  // distinctive
        -0.4812, // single
        0.0000,  // place
        1.3224,  // asked
        -0.3902, // typed
        -0.7932, // long
        -2.7327, // longer
        0.4064,  // kind
    ],
    products: &[],
};

/// Whether a hit helps with a message that calls for one.
pub(super) const HELPS: Logistic = Logistic {
    bias: -1.7644,
    weights: [
        1.6449,  // score
        0.8563,  // words
        0.0000,  // likeness
        2.9451,  // likeness_lead
        2.3119,  // lead
        0.6304,  // lead_in_full
        -5.7947, // both
        0.0000,  // coverage
        0.0000,  // head_coverage
        1.8204,  // names
        0.0000,  // distinctive
        0.0000,  // single
        -0.0836, // place
        0.0000,  // asked
        0.0000,  // typed
        0.0000,  // long
        0.0000,  // longer
        0.0000,  // kind
    ],
    products: &[],
};

/// Odds of an answer from which on bodies are shown.
pub(super) const SURE: f64 = 0.3873;

/// Odds of a call from which on lines are shown.
pub(super) const POSSIBLE: f64 = 0.1798;

/// Least odds of help for a body.
pub(super) const LEAST_BODY: f64 = -2.0000;

/// Least odds of help for a line.
pub(super) const LEAST_LINE: f64 = -8.0000;
