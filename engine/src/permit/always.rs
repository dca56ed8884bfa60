//! The rule that "always" adds: the narrowest that covers the call (S11, U3).
//!
//! Whatever can run, remove or fetch anything by its arguments is allowed as
//! it stands and no wider.

use super::Rule;
use super::footprint::{CommandUse, Footprint};
use everfold_kernel::ports::{CallRole, CommandEffect, ProgramCall, WordKind};

/// Programs and their subcommands of which people mean all arguments when they
/// say "always". What they may run, they run out of the project in any case;
/// options that run or write something else are no part of such a rule.
const BY_PREFIX: &[(&str, &[&str])] = &[
    ("cargo", &["build", "check", "test", "clippy", "fmt", "doc", "tree", "metadata"]),
    ("go", &["build", "test", "vet", "list", "fmt"]),
    ("git", &["status", "log", "diff", "show", "blame", "ls-files", "rev-parse", "shortlog"]),
];

/// The rule that "always" adds for a call like this.
pub(super) fn covering(tool: &str, deed: &Footprint) -> String {
    match deed {
        Footprint::Nothing | Footprint::Server { .. } => tool.to_owned(),
        Footprint::Command(used) => match prefix(used) {
            Some(words) => format!("{tool}({words}:*)"),
            None => Rule::of_command(tool, &used.text),
        },
        Footprint::Read(path) | Footprint::Edit(path) => {
            format!("{tool}(/{})", super::rule::literal(path))
        }
        Footprint::Fetch { host, .. } => format!("{tool}(domain:{host})"),
    }
}

/// The words of one plain command that may have other arguments.
fn prefix(used: &CommandUse) -> Option<String> {
    let [call] = used.outline.plain.as_deref()? else { return None };
    let exact = call.words.iter().all(|word| word.kind == WordKind::Exact);
    if call.role != CallRole::Program || !exact || used.outline.hidden.is_some() {
        return None;
    }
    let words: Vec<String> = by_prefix(call)?.into_iter().map(str::to_owned).collect();
    super::command_rule::covers(&words, call).then(|| words.join(" "))
}

fn by_prefix(call: &ProgramCall) -> Option<Vec<&str>> {
    let mut words = call.words.iter().map(|word| word.text.as_str());
    let program = words.next()?;
    let (_, subcommands) = BY_PREFIX.iter().find(|(name, _)| *name == program)?;
    let second = words.next().filter(|word| subcommands.contains(word))?;
    // What only reads stays so under its rule.
    let reads = call.reading_words == 0 || call.effect == CommandEffect::Reads;
    reads.then(|| vec![program, second])
}
