//! `/compact`: what goes and what stays, before and after (L4.7, L4.16).

use super::messages::{named, tell};
use super::{CommandContext, Flow};
use crate::presenter::{TextStyle, grouped};
use anyhow::{Result, bail};
use everfold_agent::Event;
use everfold_agent::engine::window::compaction;
use everfold_agent::engine::window::compaction::{
    Compaction, CompactionPreview, CompactionReport, CompactionScope, Trigger,
};
use everfold_agent::engine::window::in_view;
use everfold_agent::engine::window::in_view::InView;
use tokio::sync::mpsc::unbounded_channel;

/// Spans, records or files of each kind that are listed.
const LISTED: usize = 12;

/// What a person wants.
#[derive(Debug, PartialEq, Eq)]
struct Wish {
    act: Act,
    scope: CompactionScope,
    guidance: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Act {
    Preview,
    Compact,
}

impl Wish {
    /// Reads what follows the command. `from` and `up-to` are guidance where
    /// more words follow and the next one names no message.
    fn parse(text: &str, entries: &[InView]) -> Result<Self> {
        let (act, text) = match text.strip_prefix("--preview") {
            Some(rest) if rest.is_empty() || rest.starts_with(char::is_whitespace) => {
                (Act::Preview, rest.trim())
            }
            _ => (Act::Compact, text),
        };
        let mut words = text.splitn(3, char::is_whitespace);
        let (verb, name, rest) = (words.next(), words.next(), words.next());
        let around = match (verb, name) {
            (Some(verb @ ("from" | "up-to")), Some(name)) => {
                Some((verb, name)).filter(|_| rest.is_none() || named(entries, name).is_ok())
            }
            (Some(verb @ ("from" | "up-to")), None) => {
                bail!("usage: /compact {verb} NUMBER");
            }
            _ => None,
        };
        let said = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
        Ok(match around {
            Some((verb, name)) => {
                let record = named(entries, name)?.record.clone();
                let scope = if verb == "from" {
                    CompactionScope::From(record)
                } else {
                    CompactionScope::UpTo(record)
                };
                Self { act, scope, guidance: rest.and_then(said) }
            }
            None => Self { act, scope: CompactionScope::All, guidance: said(text) },
        })
    }
}

/// Compacts, or tells what that would do.
pub(super) async fn run(cx: &mut CommandContext, text: &str) -> Result<Flow> {
    let entries = in_view::in_view(&cx.session);
    let wish = match Wish::parse(text, &entries) {
        Ok(wish) => wish,
        Err(why) => return tell(cx, Err(why)),
    };
    match wish.act {
        Act::Preview => match compaction::preview_compaction(&cx.session, wish.scope) {
            Ok(preview) => show_preview(cx, &preview, &entries),
            Err(why) => tell(cx, Err(why.into())),
        },
        Act::Compact => compact(cx, wish.scope, wish.guidance).await,
    }
}

pub(super) async fn compact(
    cx: &mut CommandContext,
    scope: CompactionScope,
    guidance: Option<String>,
) -> Result<Flow> {
    let CommandContext { session, stop, presenter, .. } = cx;
    if presenter.is_terminal() {
        presenter.styled(TextStyle::Dim, "compacting; Ctrl-C stops\n")?;
    }
    let (sender, mut events) = unbounded_channel();
    session.watch(sender);
    let wanted = Compaction { scope, trigger: Trigger::Manual, guidance };
    let done = compaction::compact(session, wanted, stop).await;
    while let Ok(event) = events.try_recv() {
        match event {
            Event::Notice(text) => presenter.note(TextStyle::Yellow, &text),
            Event::Compacted { report, line } => {
                for line in told(&report, &line) {
                    presenter.line(&line)?;
                }
            }
            _ => {}
        }
    }
    match done {
        Ok(_) => {}
        Err(why) => presenter.note(TextStyle::Yellow, &format!("nothing was compacted: {why}")),
    }
    Ok(Flow::GoOn)
}

/// What a compaction did, line by line: the quiet line about it, and what went
/// and stays.
pub(crate) fn told(report: &CompactionReport, line: &str) -> Vec<String> {
    let facts = report.retention * 100.0;
    let mut lines = vec![format!("--- {line}; the summary had {facts:.0}% of the facts ---")];
    listed(
        &mut lines,
        "out of view",
        report.dropped.iter().map(|span| {
            let id = if span.from == span.to {
                span.from.to_string()
            } else {
                format!("{}..{}", span.from, span.to)
            };
            format!("{} ({} tokens)\n      /expand {id}", span.words, grouped(span.tokens))
        }),
    );
    listed(
        &mut lines,
        "kept",
        report
            .kept
            .iter()
            .map(|kept| format!("{}{}", kept.words, if kept.pinned { " (pinned)" } else { "" })),
    );
    listed(&mut lines, "brought back", report.restored.iter().cloned());
    listed(&mut lines, "did not fit", report.left_out.iter().cloned());
    lines
}

fn listed(lines: &mut Vec<String>, title: &str, all: impl ExactSizeIterator<Item = String>) {
    let count = all.len();
    if count > 0 {
        lines.push(format!("  {title}:"));
        lines.extend(all.take(LISTED).map(|line| format!("    {line}")));
    }
    if count > LISTED {
        lines.push(format!("    and {} more", count - LISTED));
    }
}

fn show_preview(
    cx: &CommandContext,
    preview: &CompactionPreview,
    entries: &[InView],
) -> Result<Flow> {
    let presenter = &cx.presenter;
    presenter.line(&format!(
        "{} tokens now, at most about {} after a compaction",
        grouped(preview.before),
        grouped(preview.after_at_most)
    ))?;
    let mut rows = vec![["", "goes", "stays"].map(str::to_owned).to_vec()];
    let used = preview.categories.iter().filter(|category| category.goes + category.stays > 0);
    rows.extend(used.map(|category| {
        vec![category.name.to_owned(), grouped(category.goes), grouped(category.stays)]
    }));
    presenter.table(&rows)?;
    let number = |record: &str| {
        let entry = entries.iter().find(|entry| entry.record.as_str() == record);
        entry.map_or_else(|| "?".to_owned(), |entry| entry.number.to_string())
    };
    let mut lines = Vec::new();
    listed(
        &mut lines,
        "would go",
        preview.dropped.iter().map(|span| {
            let (from, to) = (number(span.from.as_str()), number(span.to.as_str()));
            format!("{from} to {to}  {} ({} tokens)", span.words, grouped(span.tokens))
        }),
    );
    listed(
        &mut lines,
        "would stay",
        preview.kept.iter().map(|kept| {
            let pinned = if kept.pinned { " (pinned)" } else { "" };
            format!("{}  {}{pinned}", number(&kept.record), kept.words)
        }),
    );
    listed(&mut lines, "would come back", preview.files.iter().cloned());
    for line in lines {
        presenter.line(&line)?;
    }
    Ok(Flow::GoOn)
}

#[cfg(test)]
mod tests {
    use super::*;
    use everfold_kernel::Tokens;
    use everfold_prefix::Showing;

    fn parsed(text: &str) -> Wish {
        tried(text).unwrap()
    }

    fn tried(text: &str) -> Result<Wish> {
        let entry = |number: usize| InView {
            number,
            record: format!("r-{number}").into(),
            category: "answers",
            words: String::new(),
            tokens: Tokens(1),
            shown: Showing::Whole,
            pinned: false,
        };
        Wish::parse(text, &[entry(1), entry(2)])
    }

    fn wish(act: Act, scope: CompactionScope, guidance: Option<&str>) -> Wish {
        Wish { act, scope, guidance: guidance.map(str::to_owned) }
    }

    #[test]
    fn l4_7_a_message_or_guidance_is_told_apart() {
        use Act::{Compact, Preview};
        assert_eq!(parsed(""), wish(Compact, CompactionScope::All, None));
        assert_eq!(parsed("keep names"), wish(Compact, CompactionScope::All, Some("keep names")));
        assert_eq!(parsed("from 2"), wish(Compact, CompactionScope::From("r-2".into()), None));
        assert_eq!(
            parsed("up-to r-1 be short"),
            wish(Compact, CompactionScope::UpTo("r-1".into()), Some("be short"))
        );
        let now = "from now on keep names";
        assert_eq!(parsed(now), wish(Compact, CompactionScope::All, Some(now)));
        assert_eq!(parsed("--preview"), wish(Preview, CompactionScope::All, None));
        assert_eq!(
            parsed("--preview from 1"),
            wish(Preview, CompactionScope::From("r-1".into()), None)
        );
        assert_eq!(parsed("--previews"), wish(Compact, CompactionScope::All, Some("--previews")));
        assert!(tried("from 9").is_err() && tried("up-to").is_err());
    }
}
