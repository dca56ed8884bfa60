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

/// Files whose errors are still texts. Nobody adds to it, and it goes when it is
/// empty.
pub(crate) const TEXT_ERRORS: &[&str] = &[
    "adapters/disk/src/transcripts.rs",
    "adapters/mcp/src/connection.rs",
    "adapters/mcp/src/entry.rs",
    "adapters/mcp/src/process.rs",
    "adapters/plugdir/src/plugin.rs",
    "adapters/process/src/unix/hook.rs",
    "adapters/process/src/unix/sandbox.rs",
    "adapters/process/src/unix/sandbox/namespace.rs",
    "adapters/process/src/unix/sandbox/restriction.rs",
    "adapters/provider/src/http/run.rs",
    "adapters/web/src/hook.rs",
    "apps/cli/src/args.rs",
    "apps/cli/src/commands/compact.rs",
    "apps/cli/src/commands/memory.rs",
    "apps/cli/src/commands/messages.rs",
    "apps/cli/src/memory/import.rs",
    "apps/tui/src/app/events.rs",
    "apps/tui/src/app/question_keys.rs",
    "apps/tui/src/app/slash_commands.rs",
    "apps/tui/src/app/submission.rs",
    "apps/tui/src/panel/compact.rs",
    "apps/tui/src/panel/cost.rs",
    "apps/tui/src/panel/listing.rs",
    "apps/tui/src/panel/rewind.rs",
    "apps/tui/src/worker.rs",
    "core/frontmatter/src/values.rs",
    "core/hooks/src/matcher.rs",
    "core/hooks/src/registry.rs",
    "core/kernel/src/ports/hooks.rs",
    "engine/src/window/pause.rs",
    "layers/6-dream/src/tidy/copies.rs",
    "memory/store/src/dream/consolidation.rs",
    "memory/team/src/sync/arrivals.rs",
    "memory/team/src/sync/departures.rs",
    "sdk/src/permission_rules.rs",
    "sdk/src/skill_files.rs",
];
