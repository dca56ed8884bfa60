//! The forms of secrets that are looked for, one entry a form.
//!
//! Forms that issuers document or that anybody can see in their own keys. A
//! pattern with a group takes the group for the secret; a pattern whose proof
//! is about what follows is only what leads to it. Entries above name a secret
//! that entries below see as well.

mod commands;
mod entries;
mod files;
mod hosting;
mod issuers;
mod models;
mod phrases;
mod services;

use super::proof::Proof;
use std::ops::Range;

/// One form.
pub(super) struct Rule {
    /// What it is, with its article.
    pub(super) kind: &'static str,
    /// Lower-case words of which one must be there.
    pub(super) words: &'static [&'static str],
    pub(super) form: Form,
}

/// How a secret is told.
#[derive(Clone, Copy)]
pub(super) enum Form {
    /// By a regular expression.
    Pattern(Proof, &'static str),
    /// By a look at several lines.
    Block(fn(&str) -> Vec<Range<usize>>),
}

/// Every form, the ones that name a secret best first.
pub(super) const ALL: &[&[Rule]] = &[
    files::KEYS,
    hosting::RULES,
    models::RULES,
    services::RULES,
    issuers::RULES,
    entries::RULES,
    files::RULES,
    commands::RULES,
    phrases::RULES,
    phrases::NEAR,
    files::LONG,
];

/// A table of patterns: proof, kind, words, pattern.
macro_rules! patterns {
    ($name:ident: $($proof:ident $kind:literal, [$($word:literal),+ $(,)?], $pattern:literal;)+) => {
        pub(in crate::secrets) const $name: &[crate::secrets::table::Rule] = &[$(
            crate::secrets::table::Rule {
                kind: $kind,
                words: &[$($word),+],
                form: crate::secrets::table::Form::Pattern(crate::secrets::proof::Proof::$proof, $pattern),
            },
        )+];
    };
}
use patterns;
