//! `everfold sessions export`: a conversation as a text to read, or as its lines.

use crate::args::ExportFormat;
use anyhow::{Context, Result};
use everfold_agent::Agent;
use everfold_kernel::{Block, BlockView, Entry, Record, SessionId, UserOrigin};
use everfold_transcript::redaction::{Redacted, redact};
use everfold_transcript::{Decoded, decode};
use std::fmt::Write as _;
use std::io::Write;
use std::path::Path;

/// Lines of a tool's result that a text shows.
const RESULT_LINES: usize = 40;

/// Writes a session to a file or to standard output.
pub(crate) async fn run(
    agent: &Agent,
    id: &SessionId,
    format: ExportFormat,
    output: Option<&Path>,
) -> Result<()> {
    let mut out: Box<dyn Write + Send> = match output {
        Some(path) => {
            let file = std::fs::File::create_new(path);
            Box::new(file.with_context(|| format!("{} cannot be made", path.display()))?)
        }
        None => Box::new(std::io::stdout()),
    };
    let mut failed = None;
    if format == ExportFormat::Markdown {
        writeln!(out, "# Session {id}")?;
    }
    // A key stays where it was said, and an export goes elsewhere (S15).
    let known = agent.secrets_of(id);
    let mask = |text: &str| Some(known.mask(text)).filter(|fresh| fresh != text);
    let mut sink = |line: &[u8]| {
        let written = match format {
            ExportFormat::Jsonl if known.is_empty() => write_line(&mut out, line),
            ExportFormat::Jsonl => match redact(line, &mask) {
                Redacted::Same => write_line(&mut out, line),
                Redacted::Line(fresh) => write_line(&mut out, fresh.as_bytes()),
                Redacted::Gone => Ok(()),
            },
            ExportFormat::Markdown => out.write_all(known.mask(&markdown(line)).as_bytes()),
        };
        failed = failed.take().or(written.err());
    };
    let loaded = agent.world().transcripts.load(id, &mut sink).await;
    loaded.map_err(everfold_agent::Error::from)?;
    match failed {
        Some(error) => Err(error).context("the export could not be written"),
        None => Ok(out.flush()?),
    }
}

fn write_line(out: &mut dyn Write, line: &[u8]) -> std::io::Result<()> {
    out.write_all(line)?;
    out.write_all(b"\n")
}

/// What a line says, as Markdown; nothing for lines that say nothing.
fn markdown(line: &[u8]) -> String {
    let mut text = String::new();
    if let Ok(Decoded::Record(line)) = decode(line) {
        for record in std::iter::once(&line.record).chain(&line.rest) {
            say(record, &mut text);
        }
    }
    text
}

fn say(record: &Record, into: &mut String) {
    match &record.entry {
        Entry::User(user) => match user.origin {
            UserOrigin::Human => heading("You", record, &user.content, into),
            UserOrigin::CompactSummary => heading("Summary", record, &user.content, into),
            UserOrigin::ToolResult => {
                for block in &user.content {
                    fenced(&block.plain_text(), into);
                }
            }
            UserOrigin::Meta => {}
        },
        Entry::Assistant(assistant) => match assistant.block.view() {
            BlockView::Text(text) => {
                let _ = write!(into, "\n## Assistant\n\n{}\n", text.trim_end());
            }
            BlockView::ToolUse { name, input, .. } => {
                let _ = write!(into, "\n**{name}** `{input}`\n");
            }
            _ => {}
        },
        Entry::Boundary(boundary) => {
            let _ = write!(into, "\n---\n\n*Compacted ({}).*\n", boundary.trigger);
        }
        _ => {}
    }
}

fn heading(who: &str, record: &Record, content: &[Block], into: &mut String) {
    let text: Vec<String> = content.iter().map(Block::plain_text).collect();
    let at = record.at.strftime("%Y-%m-%d %H:%M");
    let _ = write!(into, "\n## {who}, {at}\n\n{}\n", text.join("\n").trim_end());
}

/// A result in a fence that it cannot close.
fn fenced(text: &str, into: &mut String) {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    let lines: Vec<&str> = text.lines().collect();
    let shown = lines.get(..RESULT_LINES.min(lines.len())).unwrap_or_default().join("\n");
    let _ = write!(into, "\n{fence}\n{shown}\n");
    if let Some(more) = lines.len().checked_sub(RESULT_LINES).filter(|more| *more > 0) {
        let _ = writeln!(into, "… {more} more lines");
    }
    let _ = writeln!(into, "{fence}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c2_a_result_cannot_close_its_fence_and_is_cut() {
        let mut text = String::new();
        fenced(&format!("```\nx\n````\n{}", "y\n".repeat(100)), &mut text);
        assert!(text.starts_with("\n`````\n```\nx\n````\n"), "{text}");
        assert!(text.ends_with("… 63 more lines\n`````\n"), "{text}");
    }
}
