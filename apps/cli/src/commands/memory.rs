//! `/memory` and `/private`: the same memories as `everfold memory`, in place.

use super::{CommandContext, Flow, Hands};
use crate::args::Choices;
use crate::args::memory::{InboxCommand, MemoryCommand};
use crate::log;
use crate::memory;
use crate::presenter::TextStyle;
use crate::presenter::counted;
use crate::setup;
use anyhow::{Result, anyhow};
use clap::Parser;
use everfold_agent::MemorySwitch;
use everfold_agent::engine::setups::memory_switch;
use everfold_kernel::ports::Kept;

/// What follows `/memory`.
#[derive(Debug, Parser)]
#[command(name = "/memory", no_binary_name = true, disable_help_flag = true)]
struct Line {
    #[command(subcommand)]
    command: MemoryCommand,
}

/// Lists, shows, forgets, takes back; or switches memory off and on.
pub(super) async fn run(cx: &mut CommandContext, text: &str) -> Result<Flow> {
    match text {
        "off" => return switch(cx, MemorySwitch::Off).await,
        "on" => return switch(cx, MemorySwitch::On).await,
        _ => {}
    }
    let mut words = words(text);
    if words.is_empty() {
        words.push("list".to_owned());
    }
    if words.iter().any(|word| word == "--json") {
        // It would go past the screen, to wherever standard output is.
        let note = format!("--json is for scripts; run `everfold memory {text}` in a shell");
        cx.presenter.note(TextStyle::Yellow, &note);
        return Ok(Flow::GoOn);
    }
    let command = match parse(words) {
        Ok(command) => command,
        Err(error) => {
            cx.presenter.note(TextStyle::Yellow, error.to_string().trim_end());
            return Ok(Flow::GoOn);
        }
    };
    if cx.hands == Hands::Elsewhere
        && let Some(outside) = needs_an_editor(&command)
    {
        // The lines of a pipe are read ahead; an editor would not get them.
        let note = format!("{outside} opens an editor; run `everfold memory {outside}` in a shell");
        cx.presenter.note(TextStyle::Yellow, &note);
        return Ok(Flow::GoOn);
    }
    memory::run(&cx.env, &command, &cx.presenter)?;
    Ok(Flow::GoOn)
}

/// Reads what follows `/memory`.
pub(crate) fn parse(words: Vec<String>) -> Result<MemoryCommand, clap::Error> {
    Line::try_parse_from(words).map(|line| line.command)
}

fn needs_an_editor(command: &MemoryCommand) -> Option<&'static str> {
    match command {
        MemoryCommand::Add(_) => Some("add"),
        MemoryCommand::Edit(_) => Some("edit"),
        MemoryCommand::Inbox { command: Some(InboxCommand::Edit { .. }), .. } => Some("inbox edit"),
        _ => None,
    }
}

/// Says that proposals wait, where any do, once a day (L5.24, L5.46).
pub(crate) fn tell_waiting(cx: &CommandContext) {
    let dirs =
        setup::builder(&cx.env, &Choices::default()).and_then(|builder| Ok(builder.memory_dirs()?));
    if let Some(waiting) = dirs.ok().and_then(|dirs| dirs.waiting_today()) {
        let changes = counted(waiting as u64, "change");
        let note = format!("{changes} waiting for review: /memory inbox");
        cx.presenter.note(TextStyle::Dim, &note);
    }
}

async fn switch(cx: &mut CommandContext, to: MemorySwitch) -> Result<Flow> {
    memory_switch::switch_memory(&mut cx.session, to).await?;
    let said = match to {
        MemorySwitch::Off => "memory is off: nothing is recalled or saved; /memory on",
        MemorySwitch::On => "memory is on",
    };
    cx.presenter.line(said)?;
    Ok(Flow::GoOn)
}

/// Starts a conversation that nothing is left of (L5.31).
pub(super) async fn private(cx: &mut CommandContext) -> Result<Flow> {
    let session = cx.agent.start_private(None)?;
    cx.change(session, "clear").await?;
    log::hold(true);
    cx.presenter.line("private: nothing is recalled, saved or kept; /new ends it")?;
    Ok(Flow::GoOn)
}

/// Words, parted by spaces; those in quotes are one.
pub(crate) fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let (mut word, mut quoted, mut open) = (String::new(), None, false);
    for sign in text.chars() {
        match (sign, quoted) {
            ('"' | '\'', None) => (quoted, open) = (Some(sign), true),
            (sign, Some(quote)) if sign == quote => quoted = None,
            (sign, None) if sign.is_whitespace() => {
                if open {
                    words.push(std::mem::take(&mut word));
                }
                open = false;
            }
            (sign, _) => {
                word.push(sign);
                open = true;
            }
        }
    }
    if open {
        words.push(word);
    }
    words
}

/// What became of what the person stated, in a line; why not, where it was
/// refused.
pub(super) fn stated(kept: &Kept) -> Result<String> {
    match kept {
        Kept::Refused { reason } => Err(anyhow!("nothing was saved: {reason}")),
        kept => Ok(kept.notice().unwrap_or_else(|| "already remembered".to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn q9_words_in_quotes_are_one() {
        assert_eq!(words(" show  'Deploy day' x\"y z\" "), ["show", "Deploy day", "xy z"]);
        assert_eq!(words("show ''"), ["show", ""]);
        assert!(words("  ").is_empty());
    }

    #[test]
    fn q9_what_needs_an_editor_is_known() {
        let parse = |text: &str| Line::try_parse_from(words(text)).unwrap().command;
        assert_eq!(needs_an_editor(&parse("edit tea")), Some("edit"));
        assert_eq!(needs_an_editor(&parse("inbox edit 1")), Some("inbox edit"));
        assert_eq!(needs_an_editor(&parse("inbox accept 1")), None);
        assert_eq!(needs_an_editor(&parse("forget tea")), None);
    }
}
