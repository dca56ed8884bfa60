//! `/init` and `/add-dir`: the project, and what is beside it.

use super::{CommandContext, Flow, messages};
use crate::presenter::TextStyle;
use anyhow::Result;
use everfold_agent::engine::setups::directories;
use std::path::PathBuf;

/// What the model is told by `/init`.
pub(super) fn init(cx: &CommandContext) -> String {
    let root = &cx.session.config().workplace.project;
    let file = ["AGENTS.md", "CLAUDE.md"].into_iter().find(|name| root.join(name).is_file());
    let task = match file {
        Some(file) => format!("Bring {file} up to date"),
        None => "Write the file AGENTS.md".to_owned(),
    };
    format!(
        "{task} at the root of this project, {}. Coding agents read it at the start of every \
         conversation, so each line has to be worth its place. First look around: the README, \
         the manifests and build files, the CI configuration, rules of other agents, the tests. \
         Then write down what cannot be seen at a glance: how to build, check and test, and how \
         to run one test; how the parts fit together, where one has to read several files to \
         see it; conventions and traps that are particular to this project. Leave out what any \
         developer knows, what a listing of files shows, and whatever you only guess. Keep it \
         under 100 lines, in plain Markdown. Keep what people have written there and still \
         holds. At the end say in a few lines what you wrote and what you could not find out.",
        root.display()
    )
}

pub(super) async fn add_dir(cx: &mut CommandContext, dir: &str) -> Result<Flow> {
    if dir.is_empty() {
        cx.presenter.note(TextStyle::Yellow, "usage: /add-dir DIR");
        return Ok(Flow::GoOn);
    }
    let home = cx.session.config().workplace.user_home.clone();
    let path = match (dir.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => PathBuf::from(dir),
    };
    let added = directories::add(&mut cx.session, &path).await;
    let told = added.map(|dir| format!("tools may now work in {} for this session", dir.display()));
    messages::tell(cx, told.map_err(anyhow::Error::from))
}
