//! How a compaction changes the log: a boundary, the summary, what comes back.
//!
//! The entries are folded for a look before they are given out: what is
//! accepted is a valid conversation under the threshold. Attachments that
//! would break that are left out, the last ones first.

use crate::converge::{Rejection, Sizes};
use crate::facts::SpanFacts;
use crate::frame::{self, Listing};
use crate::plan::{Plan, Summariser};
use crate::policy::threshold;
use crate::preview::CompactionReport;
use crate::{check, files, local_summary, pairs, quotes};
use everfold_kernel::tokens::estimate_text;
use everfold_kernel::{
    Attachment, Block, Boundary, Entry, Limits, Tokens, UserEntry, UserOrigin, Window,
};
use everfold_prefix::Fold;
use everfold_prefix::fold::MODEL_FAILURES;
use serde_json::{Map, Value, json};

/// A summary that is to be put in place.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    pub text: String,
    pub way: Summariser,
    /// The share of the facts that it had by itself, 0 to 1.
    pub retention: f64,
}

impl Summary {
    /// A summary that is checked and completed (L4.12).
    #[must_use]
    pub fn checked(
        setting: CompactionContext<'_>,
        past: &SpanFacts,
        text: &str,
        way: Summariser,
    ) -> Self {
        let checked = check::check(past, text, &setting.limits.within(setting.window));
        Self { text: checked.text, way, retention: checked.retention }
    }
}

/// What comes with a summary.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Extras {
    /// What is injected again, the most important first.
    pub restored: Vec<Attachment>,
    /// More for the boundary, such as `preCompactDiscoveredTools` or `durationMs`.
    pub metadata: Map<String, Value>,
}

/// A compaction that was accepted.
#[derive(Clone, Debug, PartialEq)]
pub struct AppliedCompaction {
    /// What is appended to the log, in order.
    pub entries: Vec<Entry>,
    /// What it did, for a person.
    pub report: CompactionReport,
}

impl AppliedCompaction {
    /// The text that takes the place of what came before.
    #[must_use]
    pub fn summary(&self) -> String {
        let text = self.entries.iter().find_map(|entry| match entry {
            Entry::User(user) if user.origin == UserOrigin::CompactSummary => {
                Some(user.content.iter().map(Block::plain_text).collect())
            }
            _ => None,
        });
        text.unwrap_or_default()
    }
}

/// Where a compaction happens.
#[derive(Clone, Copy, Debug)]
pub struct CompactionContext<'a> {
    pub fold: &'a Fold,
    pub window: &'a Window,
    /// The limits in force.
    pub limits: &'a Limits,
}

/// Puts a summary in place.
///
/// # Errors
/// If the result would be too long or hardly smaller (L4.15). The rejection's
/// decision goes into the log.
pub fn settle(
    setting: CompactionContext<'_>,
    plan: &Plan,
    summary: &Summary,
    extras: &Extras,
) -> Result<AppliedCompaction, Rejection> {
    let limits = setting.limits.within(setting.window);
    let setting = CompactionContext { limits: &limits, ..setting };
    let past = plan.past(setting.fold, setting.limits);
    attempt(setting, (plan, &past), summary, extras, Listing::Spans)
}

/// Writes a summary without a model and puts it in place (L4.11). It is cut
/// until it fits: shorter and shorter. Pins, the person's newest words and the
/// frame of the request are all that is left at the end.
///
/// # Errors
/// If not even that is under the threshold, or nothing is gained.
pub fn settle_local(
    setting: CompactionContext<'_>,
    plan: &Plan,
    extras: &Extras,
) -> Result<AppliedCompaction, Rejection> {
    let limits = setting.limits.within(setting.window);
    let setting = CompactionContext { limits: &limits, ..setting };
    let past = plan.past(setting.fold, setting.limits);
    // Half of it is for what the person said.
    let own = &setting.limits.compact;
    let mut tokens = own.summary_tokens.max(own.user_message_tokens).saturating_mul(2);
    let mut listing = Listing::Spans;
    loop {
        let summary = local_summary(&past, tokens, setting.limits);
        match attempt(setting, (plan, &past), &summary, extras, listing) {
            Err(_) if tokens > 0 => {}
            settled => return settled,
        }
        tokens /= 2;
        listing = Listing::Range;
    }
}

fn local_summary(past: &SpanFacts, tokens: u64, limits: &Limits) -> Summary {
    let text = local_summary::write(past, tokens, limits);
    let retention = check::check(past, &text, limits).retention;
    Summary { text, way: Summariser::Local, retention }
}

fn attempt(
    setting: CompactionContext<'_>,
    (plan, past): (&Plan, &SpanFacts),
    summary: &Summary,
    extras: &Extras,
    listing: Listing,
) -> Result<AppliedCompaction, Rejection> {
    let CompactionContext { fold, window, limits } = setting;
    let text = frame::render(plan, past, summary, (listing, threshold(window)), limits);
    let mut after = fold.clone();
    let mut entries = Vec::new();
    let mut push = |after: &mut Fold, entry: Entry| {
        after.push(pairs::record(entry.clone()));
        entries.push(entry);
    };
    push(&mut after, Entry::Boundary(boundary(plan, fold)));
    let kept = after.messages().iter().map(everfold_prefix::Message::tokens).sum();
    push(&mut after, said(text, UserOrigin::CompactSummary));
    Sizes::of(fold, &after, kept).judge(summary.way, window, limits)?;
    let fit = fitting(&after, &extras.restored, summary.way, (setting, kept));
    let (restored, left_out) = extras.restored.split_at_checked(fit).unwrap_or_default();
    for attachment in restored {
        push(&mut after, Entry::Attachment(attachment.clone()));
    }
    if let Some(text) = frame::go_on(fold, &after) {
        push(&mut after, said(text, UserOrigin::Meta));
    }
    Sizes::of(fold, &after, kept).judge(summary.way, window, limits)?;
    for entry in &mut entries {
        if let Entry::User(user) = entry
            && user.origin == UserOrigin::CompactSummary
        {
            let whose =
                |block: &Block| quotes::provenance(&block.plain_text(), fold, plan, summary.way);
            user.provenance = user.content.iter().map(whose).collect();
        }
    }
    let report =
        CompactionReport::new(setting, plan, past, summary, after.count(), (restored, left_out));
    if let Some(Entry::Boundary(boundary)) = entries.first_mut() {
        boundary.metadata = metadata(&report, extras);
        if let (Summariser::Local | Summariser::Notes, failures @ 1..) =
            (summary.way, fold.summaries().model_failures)
        {
            // Whoever resumes here knows of them.
            boundary.metadata.insert(MODEL_FAILURES.to_owned(), json!(failures));
        }
    }
    Ok(AppliedCompaction { entries, report })
}

/// How many of the attachments fit, in order.
fn fitting(
    after: &Fold,
    wanted: &[Attachment],
    way: Summariser,
    (setting, kept): (CompactionContext<'_>, Tokens),
) -> usize {
    let CompactionContext { fold, window, limits } = setting;
    let sizes = Sizes::of(fold, after, kept);
    let mut added = Tokens(0);
    let fits = |attachment: &&Attachment| {
        added += estimate_text(&attachment.rendered, limits);
        let grown = Sizes {
            after: sizes.after + after.calibration().apply(added),
            replacement: sizes.replacement + added,
            ..sizes
        };
        // Strictly under: what is said last in `go_on` still has to fit.
        grown.after < threshold(window) && grown.judge(way, window, limits).is_ok()
    };
    wanted.iter().take_while(fits).count()
}

fn boundary(plan: &Plan, fold: &Fold) -> Boundary {
    let last_before = pairs::pieces(fold).next_back().map(|(_, piece)| piece.record.clone());
    Boundary {
        trigger: plan.trigger.as_str().to_owned(),
        pre_tokens: fold.count().0,
        last_before,
        preserved: plan.preserved.clone(),
        keeps: plan.keeps,
        metadata: Map::new(),
    }
}

fn metadata(report: &CompactionReport, extras: &Extras) -> Map<String, Value> {
    let mut map = extras.metadata.clone();
    map.insert("way".to_owned(), json!(report.way));
    map.insert("postTokens".to_owned(), json!(report.after));
    map.insert("retention".to_owned(), json!(report.retention));
    map.insert("restored".to_owned(), json!(report.restored));
    map
}

fn said(text: String, origin: UserOrigin) -> Entry {
    Entry::User(UserEntry {
        content: vec![Block::text(text)],
        origin,
        tool_use_result: None,
        provenance: Vec::new(),
    })
}

/// The paths among attachments.
pub(crate) fn paths(restored: &[Attachment]) -> Vec<String> {
    restored.iter().filter(|attachment| attachment.kind == files::KIND).map(name).collect()
}

/// What an attachment is called: a file by its path, the rest by kind.
pub(crate) fn name(attachment: &Attachment) -> String {
    let path = attachment.data.get("path").and_then(Value::as_str);
    path.unwrap_or(&attachment.kind).to_owned()
}
