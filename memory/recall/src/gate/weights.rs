//! The fitted models. Written by `bench/recall/fit.py`; not edited by hand.

/// A logistic model.
pub(super) struct Logistic {
    pub(super) bias: f64,
    pub(super) weights: [f64; super::FEATURES],
}

/// Whether a message calls for a memory, by its best hit.
pub(super) const CALLS: Logistic = Logistic {
    bias: -0.9464,
    weights: [
        2.3999,  // score
        0.0000,  // words
        0.0000,  // likeness
        0.0000,  // likeness_lead
        0.0000,  // lead
        0.0000,  // lead_in_full
        0.0000,  // both
        0.0000,  // coverage
        0.0000,  // head_coverage
        2.9368,  // names
        1.0533,  // distinctive
        -0.8778, // single
        0.0000,  // place
        0.0503,  // asked
        -0.2386, // typed
        -0.5979, // long
        -1.7327, // longer
        0.5998,  // kind
    ],
};

/// Whether a hit helps with a message that calls for one.
pub(super) const HELPS: Logistic = Logistic {
    bias: -1.8218,
    weights: [
        1.3667,  // score
        0.9546,  // words
        0.0000,  // likeness
        1.6238,  // likeness_lead
        1.8195,  // lead
        0.5634,  // lead_in_full
        -4.4556, // both
        0.0000,  // coverage
        0.0000,  // head_coverage
        1.4533,  // names
        0.0000,  // distinctive
        0.0000,  // single
        -0.1467, // place
        0.0000,  // asked
        0.0000,  // typed
        0.0000,  // long
        0.0000,  // longer
        0.0000,  // kind
    ],
};

/// Odds of a call from which on bodies are shown.
pub(super) const SURE: f64 = 0.8293;

/// Odds of a call from which on lines are shown.
pub(super) const POSSIBLE: f64 = -0.4716;

/// Least odds of help for a body.
pub(super) const LEAST_BODY: f64 = -2.0000;

/// Least odds of help for a line.
pub(super) const LEAST_LINE: f64 = -8.0000;
