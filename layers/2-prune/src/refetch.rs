//! What it costs that a model asks again for what was cleared.
//!
//! Asking again takes a request: the whole prompt is read once more, and the
//! result is written once more. It counts for the last answer to a question
//! only: of two reads of one file, two runs of one command, the earlier is
//! stale, and nobody misses it.
//!
//! How likely it is that a question comes up again, the session itself tells.
//! One that came up before does so again more often than not: the tests that
//! are run after every change, the file that is worked on
//! (`ask_repeated_percent`). What was asked lately is still being worked with
//! (`ask_recent_percent`, for the `recent_results` newest). All else is rarely
//! asked for again (`ask_again_percent`). The three were chosen with `everfold
//! replay` on sessions by chance, and looked at on others.

use crate::plan::Stale;
use crate::policy::Situation;
use everfold_economy::CostTerms;
use everfold_kernel::call::file_of;
use everfold_kernel::limits::PruneLimits;
use everfold_kernel::{Tokens, Usd};
use everfold_prefix::{Fold, ResultView};
use serde_json::Value;
use std::collections::BTreeMap;

/// Which results are the last answers to their questions, and what it costs
/// to ask them again.
pub(crate) struct Again<'a> {
    asked: BTreeMap<Question<'a>, Asked<'a>>,
    terms: &'a CostTerms,
    /// What the prompt would have if all of them went: the same before and
    /// after some of them did.
    prompt: Tokens,
    limits: &'a PruneLimits,
    results: usize,
}

/// What a call asked: two that are equal asked the same.
type Question<'a> = (&'a str, &'a str);

/// How a question was asked.
struct Asked<'a> {
    times: u64,
    /// The last result.
    newest: &'a str,
    /// Where that is among all results.
    place: usize,
}

impl<'a> Again<'a> {
    pub(crate) fn new(
        results: &[&ResultView<'a>],
        stale: &[Stale<'_>],
        fold: &Fold,
        terms: &'a CostTerms,
        situation: &Situation<'a>,
    ) -> Self {
        let mut asked: BTreeMap<Question<'a>, Asked<'a>> = BTreeMap::new();
        for (place, own) in results.iter().enumerate() {
            let Some(question) = question(own) else { continue };
            let first = Asked { times: 0, newest: own.tool_use_id, place };
            let entry = asked.entry(question).or_insert(first);
            *entry = Asked { times: entry.times + 1, newest: own.tool_use_id, place };
        }
        let gains = stale.iter().map(|own| own.gain).sum();
        Self {
            asked,
            terms,
            prompt: fold.count() - fold.calibration().apply(gains),
            limits: &situation.limits.prune,
            results: results.len(),
        }
    }

    /// Puts the cost on each result, and leaves out those that are not worth it.
    pub(crate) fn weigh(&self, stale: &mut Vec<Stale<'_>>) {
        for own in &mut *stale {
            own.again = self.cost(own.result, own.gain);
        }
        stale.retain(|own| {
            let saves = self.terms.sum(own.gain, Tokens(0)).saves;
            own.again == 0.0 || saves > Usd(own.again)
        });
    }

    #[expect(clippy::cast_precision_loss, reason = "a percentage is far below 2^52")]
    fn cost(&self, result: &ResultView<'_>, gain: Tokens) -> f64 {
        let percent = self.percent(result);
        let Some(prompt) = self.terms.pass(self.prompt).filter(|_| percent > 0) else { return 0.0 };
        (prompt.0 + self.terms.write(gain).0) * percent as f64 / 100.0
    }

    /// How likely the model asks for a result again.
    fn percent(&self, result: &ResultView<'_>) -> u64 {
        let limits = self.limits;
        let Some(asked) = question(result).and_then(|asked| self.asked.get(&asked)) else {
            return limits.ask_again_percent;
        };
        let newer = self.results.saturating_sub(asked.place.saturating_add(1)) as u64;
        match asked {
            asked if asked.newest != result.tool_use_id => 0,
            asked if asked.times > 1 => limits.ask_repeated_percent,
            _ if newer < limits.recent_results => limits.ask_recent_percent,
            _ => limits.ask_again_percent,
        }
    }
}

/// What a call asked, where that can be told.
fn question<'a>(result: &ResultView<'a>) -> Option<Question<'a>> {
    let input = result.input?;
    let key = match result.tool {
        "Read" | "Edit" | "Write" => return Some((result.tool, file_of(input)?)),
        "Bash" => "command",
        "Grep" | "Glob" => "pattern",
        "WebFetch" => "url",
        _ => "query",
    };
    Some((result.tool, input.get(key).and_then(Value::as_str)?))
}
