//! What it costs that a model asks again for what was cleared.
//!
//! Asking again takes a request: the whole prompt is read once more, and the
//! result is written once more. How often that happens is a setting,
//! `ask_again_percent`, chosen with `mnemon replay` on one long session. It
//! counts for the last answer to a question only: of two reads of one file,
//! two runs of one command, the earlier is stale, and nobody misses it.

use crate::plan::Stale;
use crate::policy::Situation;
use mnemon_kernel::{Tokens, Usd};
use mnemon_prefix::economy::Terms;
use mnemon_prefix::{Fold, ResultView};
use serde_json::Value;
use std::collections::BTreeMap;

/// Which results are the last answers to their questions, and what it costs
/// to ask them again.
pub(crate) struct Again<'a> {
    /// The last result for each question.
    newest: BTreeMap<Question<'a>, &'a str>,
    terms: &'a Terms,
    /// What the prompt would have if all of them went: the same before and
    /// after some of them did.
    prompt: Tokens,
    share: f64,
}

/// What a call asked: two that are equal asked the same.
type Question<'a> = (&'a str, &'a str);

impl<'a> Again<'a> {
    #[expect(clippy::cast_precision_loss, reason = "a percentage is far below 2^52")]
    pub(crate) fn new(
        results: &[&ResultView<'a>],
        stale: &[Stale<'_>],
        fold: &Fold,
        terms: &'a Terms,
        situation: &Situation<'_>,
    ) -> Self {
        let asked = results.iter().filter_map(|own| Some((question(own)?, own.tool_use_id)));
        let gains = stale.iter().map(|own| own.gain).sum();
        Self {
            newest: asked.collect(),
            terms,
            prompt: fold.count() - fold.calibration().apply(gains),
            share: situation.limits.prune.ask_again_percent as f64 / 100.0,
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

    fn cost(&self, result: &ResultView<'_>, gain: Tokens) -> f64 {
        let is_superseded = question(result)
            .and_then(|asked| self.newest.get(&asked))
            .is_some_and(|newest| *newest != result.tool_use_id);
        if is_superseded {
            return 0.0;
        }
        let Some(prompt) = self.terms.pass(self.prompt) else { return 0.0 };
        self.share * (prompt.0 + self.terms.write(gain).0)
    }
}

/// What a call asked, where that can be told.
fn question<'a>(result: &ResultView<'a>) -> Option<Question<'a>> {
    let key = match result.tool {
        "Read" | "Edit" | "Write" => "file_path",
        "Bash" => "command",
        "Grep" | "Glob" => "pattern",
        "WebFetch" => "url",
        _ => "query",
    };
    Some((result.tool, result.input?.get(key).and_then(Value::as_str)?))
}
