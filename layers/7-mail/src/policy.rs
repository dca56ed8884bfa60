//! When it is said what an agent does, and who is asked (L7.7).

use everfold_economy::CostTerms;
use everfold_kernel::limits::AgentLimits;
use everfold_kernel::{BlockView, Limits, Prices, Role, Timestamp, Tokens};
use everfold_prefix::Fold;
use std::fmt::Write as _;

/// What a model is asked for a summary.
pub const SUMMARY: &str = include_str!("prompts/summary.md");

/// The words of a summary that are kept: a model may say more than it should.
const MOST_WORDS: usize = 8;

/// Whether a summary is due: enough time has passed since the last one, and
/// the agent has done something since.
#[must_use]
pub fn is_due(
    now: Timestamp,
    last_summary: Option<Timestamp>,
    last_step: Option<Timestamp>,
    limits: &AgentLimits,
) -> bool {
    let Some(step) = last_step else { return false };
    let Some(last) = last_summary else { return true };
    let wait = i64::try_from(limits.summary_s).unwrap_or(i64::MAX);
    step > last && now.as_second().saturating_sub(last.as_second()) >= wait
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatusModel {
    /// The agent's own model, on its prefix as the server has it.
    OwnPrefix,
    /// The small model, on the newest messages alone.
    SmallModel,
}

/// The cheaper way by L2.7's sum: one more pass over the agent's prefix at its
/// cache's state, or the newest messages at the small model's price. Where a
/// price is not known, the small model.
#[must_use]
pub fn way(
    terms: &CostTerms,
    prefix: Tokens,
    small: Option<&Prices>,
    newest: Tokens,
    limits: &AgentLimits,
) -> StatusModel {
    let answer = Tokens(limits.summary_tokens);
    let own = terms
        .pass(prefix)
        .zip(terms.prices)
        .map(|(pass, prices)| pass.0 + priced(answer, prices.output));
    let other = small.map(|prices| priced(newest, prices.input) + priced(answer, prices.output));
    match (own, other) {
        (Some(own), Some(other)) if own < other => StatusModel::OwnPrefix,
        _ => StatusModel::SmallModel,
    }
}

#[expect(clippy::cast_precision_loss, reason = "token counts are far below 2^52")]
fn priced(tokens: Tokens, per_million: f64) -> f64 {
    tokens.0 as f64 * per_million / 1_000_000.0
}

/// The newest messages of an agent, for the small model.
#[must_use]
pub fn newest(fold: &Fold, limits: &Limits) -> String {
    let limits = &limits.agents;
    let messages = fold.messages();
    let start = messages.len().saturating_sub(limits.summary_messages);
    let mut text = String::new();
    for message in messages.iter().skip(start) {
        let who = match message.role() {
            Role::User => "in",
            Role::Assistant => "agent",
        };
        for piece in message.pieces() {
            let said = match piece.block.view() {
                BlockView::ToolUse { name, input, .. } => format!("calls {name} {input}"),
                BlockView::Thinking(_) | BlockView::RedactedThinking => continue,
                _ => piece.block.plain_text(),
            };
            let said: String = said.chars().take(limits.summary_chars).collect();
            if !said.trim().is_empty() {
                let _ = writeln!(text, "{who}: {}", said.trim());
            }
        }
    }
    text
}

/// The summary in an answer: its first line that says something, a few words
/// of it.
#[must_use]
pub fn read(answer: &str) -> Option<String> {
    let line = answer.lines().map(str::trim).find(|line| !line.is_empty())?;
    let line = line.trim_matches(['"', '\'', '`', '*']).trim_end_matches('.');
    let words: Vec<&str> = line.split_whitespace().take(MOST_WORDS).collect();
    (!words.is_empty()).then(|| words.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use everfold_kernel::ModelTable;
    use everfold_kernel::record::{CacheState, CacheTtl};

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    #[test]
    fn l7_7_a_summary_is_due_every_thirty_seconds_while_there_is_news() {
        let limits = AgentLimits::default();
        assert!(!is_due(at(100), None, None, &limits), "nothing was done yet");
        assert!(is_due(at(100), None, Some(at(99)), &limits));
        assert!(!is_due(at(129), Some(at(100)), Some(at(120)), &limits));
        assert!(is_due(at(130), Some(at(100)), Some(at(120)), &limits));
        assert!(!is_due(at(900), Some(at(100)), Some(at(90)), &limits), "no news");
        assert!(!is_due(at(50), Some(at(100)), Some(at(120)), &limits), "the clock went back");
    }

    #[test]
    fn l7_7_the_cheaper_way_is_taken() {
        let table = ModelTable::builtin();
        let prices = |name: &str| table.spec(&name.into()).prices;
        let limits = AgentLimits::default();
        let terms = |cache| CostTerms {
            prices: prices("claude-sonnet-5-5"),
            ttl: Some(CacheTtl::FiveMinutes),
            cache,
            rounds: 1.0,
        };
        let small = prices("claude-haiku-5-5");
        let choose = |cache, prefix, newest| {
            way(&terms(cache), Tokens(prefix), small.as_ref(), Tokens(newest), &limits)
        };
        assert_eq!(choose(CacheState::Warm, 3_000, 40_000), StatusModel::OwnPrefix);
        assert_eq!(choose(CacheState::Warm, 150_000, 1_000), StatusModel::SmallModel);
        assert_eq!(choose(CacheState::Cold, 3_000, 1_000), StatusModel::SmallModel);
        let unknown = way(&terms(CacheState::Warm), Tokens(10), None, Tokens(9_000), &limits);
        assert_eq!(unknown, StatusModel::SmallModel);
    }

    #[test]
    fn l7_7_of_an_answer_a_few_words_are_kept() {
        assert_eq!(
            read("\n\"Reading the parser in fold.rs.\"\nMore."),
            Some("Reading the parser in fold.rs".into())
        );
        assert_eq!(read("a b c d e f g h i j"), Some("a b c d e f g h".into()));
        assert_eq!(read(" \n"), None);
    }
}
