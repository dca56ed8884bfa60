//! What a compaction would do, and what it did, for a person (L4.16).

use crate::apply::{CompactionContext, Summary, name, paths};
use crate::facts::{Span, SpanFacts};
use crate::plan::Plan;
use crate::{clip, files, pairs};
use everfold_kernel::{Attachment, BlockView, Effect, Limits, RecordId, Role, Tokens, UserOrigin};
use everfold_prefix::message::PieceOrigin;
use everfold_prefix::{Fold, Piece};
use serde::Serialize;
use std::collections::BTreeSet;

/// What would go and what would stay.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CompactionPreview {
    /// The canonical count now.
    pub before: u64,
    /// About what would be left: what stays, and the longest summary.
    pub after_at_most: u64,
    /// Tokens by what they are for, those that go and those that stay.
    pub categories: Vec<PreviewCategory>,
    /// The spans that would go.
    pub dropped: Vec<Span>,
    /// The records that stay word for word.
    pub kept: Vec<KeptRecord>,
    /// The files that would come back.
    pub files: Vec<String>,
}

/// One kind of content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PreviewCategory {
    pub name: &'static str,
    /// Tokens that go, before calibration.
    pub goes: u64,
    /// Tokens that stay, before calibration.
    pub stays: u64,
}

/// One record that stays.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct KeptRecord {
    pub record: String,
    /// Its first words.
    pub words: String,
    /// Whether a person pinned it.
    pub pinned: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CompactionReport {
    /// Who wrote the summary.
    pub way: &'static str,
    /// The canonical count before.
    pub before: u64,
    /// The canonical count after.
    pub after: u64,
    /// The share of the facts that the summary had by itself.
    pub retention: f64,
    /// The spans that went; their ids bring them back.
    pub dropped: Vec<Span>,
    /// The records that stayed.
    pub kept: Vec<KeptRecord>,
    /// The files that came back.
    pub restored: Vec<String>,
    /// What was to come back and did not fit: files by their path, the rest by kind.
    pub left_out: Vec<String>,
}

const CATEGORIES: [&str; 6] =
    ["user messages", "answers", "thinking", "tool calls", "tool results", "injected"];

/// Looks at a plan without carrying it out.
#[must_use]
pub fn preview(fold: &Fold, plan: &Plan, limits: &Limits) -> CompactionPreview {
    let past = plan.past(fold, limits);
    let kept: BTreeSet<&RecordId> = plan.preserved.iter().collect();
    let mut categories: Vec<PreviewCategory> =
        CATEGORIES.iter().map(|name| PreviewCategory { name, goes: 0, stays: 0 }).collect();
    for (role, piece) in pairs::pieces(fold) {
        let name = category(role, piece);
        if let Some(own) = categories.iter_mut().find(|category| category.name == name) {
            let side = if kept.contains(&piece.record) { &mut own.stays } else { &mut own.goes };
            *side += piece.tokens.0;
        }
    }
    let gone: u64 = categories.iter().map(|category| category.goes).sum();
    let gone = fold.calibration().apply(Tokens(gone));
    let summary = Tokens(limits.compact.summary_tokens);
    let files = match files::wanted(&past, limits) {
        Some(Effect::ReadFiles { paths, .. }) => {
            paths.iter().map(|path| path.display().to_string()).collect()
        }
        _ => Vec::new(),
    };
    CompactionPreview {
        before: fold.count().0,
        after_at_most: ((fold.count() - gone) + summary).min(fold.count()).0,
        categories,
        dropped: past.spans,
        kept: kept_records(fold, plan, limits),
        files,
    }
}

impl CompactionReport {
    pub(crate) fn new(
        setting: CompactionContext<'_>,
        plan: &Plan,
        past: &SpanFacts,
        summary: &Summary,
        after: Tokens,
        (restored, left_out): (&[Attachment], &[Attachment]),
    ) -> Self {
        Self {
            way: summary.way.as_str(),
            before: setting.fold.count().0,
            after: after.0,
            retention: summary.retention,
            dropped: past.spans.clone(),
            kept: kept_records(setting.fold, plan, setting.limits),
            restored: paths(restored),
            left_out: left_out.iter().map(name).collect(),
        }
    }
}

fn category(role: Role, piece: &Piece) -> &'static str {
    match (role, &piece.origin, piece.block.view()) {
        (_, _, BlockView::ToolResult { .. }) => "tool results",
        (_, _, BlockView::ToolUse { .. }) => "tool calls",
        (_, _, BlockView::Thinking(_) | BlockView::RedactedThinking) => "thinking",
        (Role::Assistant, ..) => "answers",
        (_, PieceOrigin::User(UserOrigin::Human), _) => "user messages",
        _ => "injected",
    }
}

fn kept_records(fold: &Fold, plan: &Plan, limits: &Limits) -> Vec<KeptRecord> {
    let pins: BTreeSet<&RecordId> = fold.pins().collect();
    let first = |record: &RecordId| {
        let piece = pairs::pieces(fold).find(|(_, piece)| piece.record == *record);
        piece.map(|(_, piece)| crate::facts::shown(&piece.block)).unwrap_or_default()
    };
    plan.preserved
        .iter()
        .map(|record| KeptRecord {
            record: record.to_string(),
            words: clip::line(&first(record), limits.compact.line_chars / 2),
            pinned: pins.contains(record),
        })
        .collect()
}
