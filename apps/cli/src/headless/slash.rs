//! `everfold -p "/compact"`: a command in the place of a turn (U10).

use crate::commands::slash::{self, Slash};
use crate::commands::{CommandContext, Flow, registry};
use crate::failure::Usage;
use crate::nearest::unknown;
use crate::presenter::Presenter;
use anyhow::Result;
use everfold_tui::TextPage;

/// What a prompt with a slash in front means for a run of its own.
pub(super) enum Wanted<'a> {
    /// Words for the model.
    Words,
    Command(&'a str),
}

/// What a prompt means. A text that begins with a path is none of ours.
pub(super) fn wanted<'a>(cx: &CommandContext, prompt: &'a str) -> Result<Wanted<'a>> {
    let Some(line) = prompt.strip_prefix('/') else { return Ok(Wanted::Words) };
    let name = line.split(char::is_whitespace).next().unwrap_or_default();
    let is_name =
        |letter: char| letter.is_alphanumeric() || matches!(letter, '-' | '_' | ':' | '?');
    if name.is_empty() || !name.chars().all(is_name) {
        return Ok(Wanted::Words);
    }
    match slash::slash(cx, name) {
        Slash::Command => Ok(Wanted::Command(line)),
        Slash::Prompt => Ok(Wanted::Words),
        Slash::OnlyTalking => {
            let message = format!("/{name} only works in a conversation");
            Err(Usage::new(message, "start one with `everfold`").into())
        }
        Slash::Unknown { near } => {
            let message = unknown(&format!("unknown command /{name}"), near.as_deref());
            let hint = "to send it to the model, put another word before the slash";
            Err(Usage::new(message, hint).into())
        }
    }
}

/// How it goes on after a command.
pub(super) enum Done {
    /// Not at all: this is what it said.
    Said(String),
    Turn(String),
}

pub(super) async fn run(cx: &mut CommandContext, line: &str) -> Result<Done> {
    let page = TextPage::kept_apart(cx.presenter.width());
    let before = std::mem::replace(&mut cx.presenter, Presenter::on(page.clone()));
    let flow = registry::run(cx, line).await;
    cx.presenter = before;
    Ok(match flow? {
        Flow::Say(prompt) => Done::Turn(prompt),
        _ => Done::Said(page.take_text().trim_end().to_owned()),
    })
}
