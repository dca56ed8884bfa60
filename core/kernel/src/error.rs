//! What an error asks of whoever receives it.

/// What can be done about an error. Every error of the workspace answers it,
/// so that the engine decides by class and not by text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// The same thing may work later.
    Retry,
    /// Go on without it; a background layer may only ever do this.
    Degrade,
    /// Say no to this request and go on.
    Refuse,
    /// The turn cannot go on; a person has to act.
    Stop,
    /// A promise of the code itself was broken.
    Bug,
}

/// Errors that know their [`Class`].
pub trait Classify {
    /// The class of this error.
    fn class(&self) -> Class;
}
