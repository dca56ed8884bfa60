//! The fitted models. Written by `bench/recall/fit.py`; not edited by hand.

pub(super) struct Logistic {
    pub(super) bias: f64,
    pub(super) weights: [f64; super::FEATURES],
}

/// Whether a message calls for a memory, by its best hit.
pub(super) const CALLS: Logistic = Logistic {
    bias: -1.9886,
    weights: [
        2.5475,  // score
        0.0000,  // words
        0.0000,  // likeness
        0.0000,  // likeness_lead
        0.0000,  // lead
        0.0000,  // lead_in_full
        0.0000,  // both
        0.0000,  // coverage
        0.0000,  // head_coverage
        2.6807,  // names
        1.0727,  // distinctive
        -0.8870, // single
        0.0000,  // place
        0.9063,  // asked
        -0.3714, // typed
        -1.3570, // long
        -1.8186, // longer
        0.5359,  // kind
    ],
};

/// Whether a hit helps with a message that calls for one.
pub(super) const HELPS: Logistic = Logistic {
    bias: -1.7898,
    weights: [
        1.2782,  // score
        1.0298,  // words
        0.0000,  // likeness
        1.5021,  // likeness_lead
        1.8243,  // lead
        0.5456,  // lead_in_full
        -4.3888, // both
        0.0000,  // coverage
        0.0000,  // head_coverage
        1.4227,  // names
        0.0000,  // distinctive
        0.0000,  // single
        -0.1733, // place
        0.0000,  // asked
        0.0000,  // typed
        0.0000,  // long
        0.0000,  // longer
        0.0000,  // kind
    ],
};

/// Odds of a call from which on bodies are shown.
pub(super) const SURE: f64 = 0.8249;

/// Odds of a call from which on lines are shown.
pub(super) const POSSIBLE: f64 = -0.3809;

/// Least odds of help for a body.
pub(super) const LEAST_BODY: f64 = -2.0000;

/// Least odds of help for a line.
pub(super) const LEAST_LINE: f64 = -8.0000;
