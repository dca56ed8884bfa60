//! The files used last come back, as they are now (L4.5).

use crate::clip;
use crate::facts::{FileUse, SpanFacts};
use everfold_kernel::provenance::Source;
use everfold_kernel::record::reminder;
use everfold_kernel::tokens::estimate_text;
use everfold_kernel::{Attachment, Effect, Limits};
use serde_json::json;
use std::path::PathBuf;

/// The kind of the attachments.
pub const KIND: &str = "compact_file_reference";

/// Asks for the files used last, newest first. None if none was.
#[must_use]
pub fn wanted(past: &SpanFacts, limits: &Limits) -> Option<Effect> {
    let paths: Vec<PathBuf> = past
        .files
        .iter()
        .rev()
        // Only files that a call was allowed to touch: a path that merely
        // stands in an earlier summary could have come from anywhere.
        .filter(|file| file.last != FileUse::ChangedEarlier)
        .take(limits.compact.restore_files)
        .map(|file| PathBuf::from(&file.path))
        .collect();
    // One byte more than is shown tells whether there is more.
    let max_bytes = limits.compact.restore_file_tokens * limits.bytes_per_token_text + 1;
    (!paths.is_empty()).then_some(Effect::ReadFiles { paths, max_bytes })
}

/// One attachment for each file that could be read, within the limits of each
/// and of all.
#[must_use]
pub fn attach(files: &[(PathBuf, String)], limits: &Limits) -> Vec<Attachment> {
    let mut left = limits.compact.restore_tokens;
    let mut attachments = Vec::new();
    for (path, content) in files {
        let most = limits.compact.restore_file_tokens.min(left);
        let Some(attachment) = file(&path.to_string_lossy(), content, most, limits) else {
            break;
        };
        left = left.saturating_sub(estimate_text(&attachment.rendered, limits).0);
        attachments.push(attachment);
    }
    attachments
}

/// One file in so many tokens, envelope included. None if not even a line fits.
fn file(path: &str, content: &str, tokens: u64, limits: &Limits) -> Option<Attachment> {
    let head = |cut: bool| {
        let part = if cut { " Only its start is shown; Read gives the rest." } else { "" };
        format!("{path}, read again after the compaction: this is how it is now.{part}")
    };
    let room = tokens.checked_sub(estimate_text(&reminder(&head(true)), limits).0)?;
    let mut numbered = String::new();
    let mut shown = 0_usize;
    for line in content.lines() {
        let next = format!("\n{:>6}\t{line}", shown + 1);
        if estimate_text(&numbered, limits) + estimate_text(&next, limits)
            > everfold_kernel::Tokens(room)
        {
            break;
        }
        numbered += &next;
        shown += 1;
    }
    let total = content.lines().count();
    if shown == 0 && total > 0 {
        let start = clip::tokens(content.lines().next().unwrap_or(""), room / 2, limits);
        numbered = format!("\n{:>6}\t{start}…", 1);
        if start.is_empty() {
            return None;
        }
    }
    let rendered = reminder(&format!("{}{numbered}", head(shown < total)));
    let data = json!({ "path": path, "lines": shown, "cut": shown < total });
    let provenance = Some(Source::Repository.into());
    Some(Attachment { kind: KIND.to_owned(), rendered, data, provenance })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn l4_5_each_file_and_all_of_them_keep_to_their_limits() {
        let limits = Limits::default();
        let long = "some line of code\n".repeat(20_000);
        let files: Vec<(PathBuf, String)> =
            (0..30).map(|n| (PathBuf::from(format!("/p/{n}.rs")), long.clone())).collect();
        let attached = attach(&files, &limits);
        let sizes: Vec<u64> =
            attached.iter().map(|a| estimate_text(&a.rendered, &limits).0).collect();
        assert!(sizes.iter().all(|size| *size <= 5_000), "{sizes:?}");
        assert!(sizes.iter().sum::<u64>() <= 50_000, "{sizes:?}");
        assert!(attached[0].rendered.contains("     1\tsome line of code\n"));
        assert_eq!(attached[0].data["cut"], true);
    }

    #[test]
    fn l4_5_short_empty_and_endless_lines() {
        let limits = Limits::default();
        let files = [
            (PathBuf::from("a.txt"), "one\ntwo".to_owned()),
            (PathBuf::from("b.txt"), String::new()),
            (PathBuf::from("c.min.js"), "x".repeat(100_000)),
        ];
        let attached = attach(&files, &limits);
        insta::assert_snapshot!(attached[0].rendered);
        assert_eq!(attached[1].data["cut"], false);
        assert!(attached[2].rendered.len() < 20_001 && attached[2].data["cut"] == true);
    }
}
