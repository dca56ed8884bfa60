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
    bias: -2.0902,
    weights: [
        2.1631,  // score
        0.0000,  // words
        0.0000,  // likeness
        0.0000,  // likeness_lead
        0.0000,  // lead
        0.0000,  // lead_in_full
        0.0000,  // both
        0.0000,  // coverage
        0.0000,  // head_coverage
        2.1606,  // names
        0.7397,  // distinctive
        0.4208,  // single
        0.0000,  // place
        -0.2935, // asked
        -0.3276, // typed
        -0.8967, // long
        -0.8897, // longer
        0.3346,  // kind
        2.7185,  // nearness
    ],
    products: &[
        (0, 13, 1.5502),   // score, asked
        (14, 15, -0.6918), // typed, long
        (14, 14, 0.1495),  // typed, typed
        (0, 17, 0.2017),   // score, kind
        (0, 14, -0.5642),  // score, typed
        (0, 15, 3.6714),   // score, long
        (14, 17, 0.0216),  // typed, kind
        (0, 11, -1.0669),  // score, single
        (17, 17, -0.0577), // kind, kind
    ],
};

/// Whether the best hit is what is called for.
pub(super) const ANSWERS: Logistic = Logistic {
    bias: -3.6210,
    weights: [
        3.7621,  // score
        0.0000,  // words
        0.0000,  // likeness
        0.0000,  // likeness_lead
        0.0000,  // lead
        0.0000,  // lead_in_full
        0.0000,  // both
        0.0000,  // coverage
        0.0000,  // head_coverage
        1.2242,  // names
        0.8513,  // distinctive
        -0.6383, // single
        0.0000,  // place
        1.3091,  // asked
        -0.6252, // typed
        -0.1076, // long
        -3.0491, // longer
        0.3625,  // kind
        -0.5364, // nearness
    ],
    products: &[],
};

/// Whether a hit helps with a message that calls for one.
pub(super) const HELPS: Logistic = Logistic {
    bias: -1.9539,
    weights: [
        2.0972,  // score
        0.6703,  // words
        0.0000,  // likeness
        3.8466,  // likeness_lead
        2.1428,  // lead
        0.6328,  // lead_in_full
        -6.8784, // both
        0.0000,  // coverage
        0.0000,  // head_coverage
        1.5572,  // names
        0.0000,  // distinctive
        0.0000,  // single
        -0.0202, // place
        0.0000,  // asked
        0.0000,  // typed
        0.0000,  // long
        0.0000,  // longer
        0.0000,  // kind
        0.0000,  // nearness
    ],
    products: &[],
};

/// Odds of an answer from which on bodies are shown.
pub(super) const SURE: f64 = 0.1473;

/// Odds of a call from which on lines are shown.
pub(super) const POSSIBLE: f64 = -0.5278;

/// Least odds of help for a body.
pub(super) const LEAST_BODY: f64 = -2.0000;

/// Least odds of help for a line.
pub(super) const LEAST_LINE: f64 = -8.0000;
