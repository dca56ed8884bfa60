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
    bias: -1.4089,
    weights: [
        1.5986,  // score
        0.0000,  // words
        0.0000,  // likeness
        0.0000,  // likeness_lead
        0.0000,  // lead
        0.0000,  // lead_in_full
        0.0000,  // both
        0.0000,  // coverage
        0.0000,  // head_coverage
        2.9375,  // names
        0.9464,  // distinctive
        0.2346,  // single
        0.0000,  // place
        -0.4539, // asked
        -0.2083, // typed
        -1.0401, // long
        -1.2937, // longer
        0.4181,  // kind
        3.4965,  // nearness
    ],
    products: &[
        (0, 13, 1.5050),   // score, asked
        (14, 15, -0.5180), // typed, long
        (14, 14, 0.0264),  // typed, typed
        (0, 17, 0.2335),   // score, kind
        (0, 14, -0.2468),  // score, typed
        (0, 15, 2.1591),   // score, long
        (14, 17, -0.0115), // typed, kind
        (0, 11, -0.9219),  // score, single
        (17, 17, -0.0513), // kind, kind
    ],
};

/// Whether the best hit is what is called for.
pub(super) const ANSWERS: Logistic = Logistic {
    bias: -3.4170,
    weights: [
        3.6540,  // score
        0.0000,  // words
        0.0000,  // likeness
        0.0000,  // likeness_lead
        0.0000,  // lead
        0.0000,  // lead_in_full
        0.0000,  // both
        0.0000,  // coverage
        0.0000,  // head_coverage
        2.2478,  // names
        0.9127,  // distinctive
        -0.5340, // single
        0.0000,  // place
        1.2354,  // asked
        -0.5783, // typed
        -0.7816, // long
        -2.6152, // longer
        0.3689,  // kind
        -0.3869, // nearness
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
        0.0000,  // nearness
    ],
    products: &[],
};

/// Odds of an answer from which on bodies are shown.
pub(super) const SURE: f64 = 0.4813;

/// Odds of a call from which on lines are shown.
pub(super) const POSSIBLE: f64 = -0.1726;

/// Least odds of help for a body.
pub(super) const LEAST_BODY: f64 = -2.0000;

/// Least odds of help for a line.
pub(super) const LEAST_LINE: f64 = -8.0000;
