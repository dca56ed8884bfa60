//! Colours in code. Reading a language takes its time, so it is done by a
//! thread of its own, which starts with the first code that is shown: until it
//! is done, code is plain, and then what waits is laid out once more.

mod thread;

use std::sync::Arc;

/// What a piece of code is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Plain,
    Comment,
    Text,
    /// A number or another constant.
    Value,
    /// A word of the language.
    Word,
    /// The name of a function or a field.
    Name,
    /// The name of a type.
    Shape,
}

/// The pieces of each line: how many bytes, and what they are.
pub(crate) type Painted = Vec<Vec<(usize, Kind)>>;

/// The pieces of a code, if they are known; and whether they soon will be.
pub(crate) fn of(language: &str, code: &str) -> (Option<Arc<Painted>>, bool) {
    thread::of(language, code)
}

/// Grows whenever something has become known.
pub(crate) fn generation() -> u64 {
    thread::generation()
}

/// Whether something is about to become known.
pub(crate) fn is_busy() -> bool {
    thread::is_busy()
}

/// Waits until everything is known that was asked for.
#[cfg(test)]
pub(crate) fn wait() {
    while is_busy() {
        std::thread::yield_now();
    }
}
