//! The one list of what may break a rule, each with its reason.
//!
//! An exception of a file that is no longer needed is itself a finding.

/// A rule that can be excepted from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    /// The number of lines of a file.
    Size,
    /// The name of a file or a folder.
    Name,
}

/// One file that may break one rule.
pub(crate) struct Exception {
    pub(crate) rule: Rule,
    pub(crate) path: &'static str,
    pub(crate) reason: &'static str,
}

pub(crate) const EXCEPTIONS: &[Exception] = &[Exception {
    rule: Rule::Name,
    path: "memory/judge/src/wish/standing.rs",
    reason: "standing wishes, as opposed to explicit ones: the adjective of L5.37",
}];

/// A name that several public types may have.
pub(crate) struct SharedName {
    pub(crate) name: &'static str,
    /// Why a reader is not misled; for whoever reads the list.
    #[expect(dead_code, reason = "nothing prints it")]
    pub(crate) reason: &'static str,
}

pub(crate) const SHARED_NAMES: &[SharedName] = &[
    SharedName { name: "Error", reason: "one for each library crate" },
    SharedName { name: "Policy", reason: "part of the shape of a layer" },
    SharedName { name: "Plan", reason: "part of the shape of a layer" },
    SharedName { name: "Due", reason: "what the policy of a layer answers with" },
    SharedName { name: "BashShell", reason: "the same type on two platforms" },
    SharedName { name: "Assembler", reason: "one for each dialect of the wire" },
];

/// What the engine still has to rename while it is taken apart. Nobody adds to
/// it, and it goes when it is empty.
pub(crate) struct EngineTodo {
    /// Modules, by their last name.
    pub(crate) modules: &'static [&'static str],
    /// Public types that have a namesake in the engine.
    pub(crate) types: &'static [&'static str],
}

/// See [`EngineTodo`].
pub(crate) const ENGINE_TODO: EngineTodo =
    EngineTodo { modules: &[], types: &["Recalled", "Step"] };

/// Whether a path is in one of the crates that are taken apart.
pub(crate) fn is_engine(path: &str) -> bool {
    ["engine/", "tools/", "replay/"].iter().any(|folder| path.starts_with(folder))
}
