//! What plugins bring, as the parts that everything else knows.

use crate::skill_files;
use everfold_engine::agents::Definition;
use everfold_hooks::Registry;
use everfold_kernel::Limits;
use everfold_plugdir::{Found, Plugin};
use everfold_plugins::scoped;
use std::fmt::Display;

/// The handlers of their hooks, each with the variables of its plugin.
pub(crate) fn registry(plugins: &[Plugin]) -> Registry {
    plugins.iter().fold(Registry::default(), |all, plugin| {
        let own = Registry::read(&plugin.hooks, &|_| format!("plugin {}", plugin.id));
        all.and(&own.with_env(&plugin.env))
    })
}

/// Their kinds of agents, under the names of plugins. As with Claude Code, an
/// agent of a plugin runs nothing by itself and has no mode of its own: its
/// plugin has hooks and servers for that.
pub(crate) fn agents(found: &mut Found, limits: &Limits) -> Vec<Definition> {
    let limits = &limits.agents;
    let mut kinds = Vec::new();
    for plugin in &found.plugins {
        for path in plugin.agents.iter().take(limits.definitions) {
            let mut not_used = |why: &dyn Display| {
                found.problems.push(format!("{} defines no agent: {why}", path.display()));
            };
            let text = match skill_files::read(path, limits.definition_bytes) {
                Ok(text) => plugin.filling.text(&text),
                Err(error) => {
                    not_used(&error);
                    continue;
                }
            };
            match Definition::parse(&text) {
                Ok(mut kind) => {
                    kind.name = scoped(&plugin.name, &kind.name);
                    kind.disarm();
                    kind.permission_mode = None;
                    kinds.push(kind);
                }
                Err(error) => not_used(&error),
            }
        }
    }
    kinds
}
