//! A request that is only measured is billed as the one that is written (PC7).

use crate::conversations::{Log, Round, body_of, rounds, write};
use everfold_kernel::record::{
    CacheState, CacheTtl, ClearTrigger, Cleared, ClearedResult, ClearingSum,
};
use everfold_kernel::tokens::estimate_block;
use everfold_kernel::{Block, Decision, Entry, Limits, Tokens, Usd};
use everfold_prefix::Fold;
use everfold_prefix::sim::{Chain, SimConfig, Simulator, pieces_of};
use proptest::prelude::*;
use serde_json::Value;

const HEAD: usize = 3;
const MINIMUM: Tokens = Tokens(4);

/// One cache for requests that are written, one for those that are measured.
struct Both {
    written: Simulator,
    measured: Simulator,
    chain: Chain,
}

impl Both {
    fn new() -> Self {
        let cache = || Simulator::new(SimConfig::default());
        let mut chain = Chain::default();
        chain.enter("m");
        Self { written: cache(), measured: cache(), chain }
    }

    /// Bills the next request of a fold both ways.
    fn check(&mut self, fold: &mut Fold, log: &Log) -> Result<(), TestCaseError> {
        let at = log.records.last().unwrap().at;
        let count = |block: &Value| {
            estimate_block(&Block::from_value(block.clone()).unwrap(), &Limits::default())
        };
        let pieces = pieces_of(&body_of(fold), &count).unwrap();
        let written = self.written.request(at, "m", MINIMUM, &pieces).unwrap();

        let measure = fold.measure(false);
        if self.chain.is_empty() {
            pieces.iter().take(HEAD).for_each(|own| self.chain.push(own.content, own.tokens));
        }
        self.chain.truncate(HEAD + measure.kept);
        for own in measure.blocks.iter().skip(self.chain.len() - HEAD) {
            self.chain.push(own.weight.content, own.weight.tokens);
        }
        let marks: Vec<usize> =
            [1, 2].into_iter().chain(measure.marks.iter().map(|mark| mark + HEAD)).collect();
        let lifetime = CacheTtl::FiveMinutes;
        let measured = self.measured.advance(at, &self.chain, MINIMUM, (&marks, lifetime)).unwrap();
        prop_assert_eq!(written, measured);
        prop_assert_eq!(measure.blocks.len() + HEAD, pieces.len());
        let all: Tokens = pieces.iter().skip(HEAD).map(|own| own.tokens).sum();
        prop_assert_eq!(measure.shares.total(), all.0);
        Ok(())
    }
}

fn clearing(id: &str) -> Entry {
    let result = ClearedResult { tool_use_id: id.into(), marker: "[cleared]".to_owned() };
    let nothing = Usd(0.0);
    let sum = ClearingSum {
        cache: CacheState::Warm,
        cleared_tokens: 1,
        rewritten_tokens: 1,
        rounds: 1.0,
        saves: nothing,
        costs: nothing,
    };
    let cleared = Cleared { results: vec![result], trigger: ClearTrigger::Economy, sum };
    Entry::Decision(Decision::Cleared(cleared))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn pc7_what_is_measured_is_billed_as_what_is_written(
        rounds in rounds(), cleared in prop::collection::vec(any::<prop::sample::Index>(), 30),
    ) {
        let mut log = Log::started();
        log.user("start");
        let mut fold = log.fold();
        let mut both = Both::new();
        both.check(&mut fold, &log)?;
        for (number, (round, index)) in rounds.iter().zip(&cleared).enumerate() {
            let taken = log.records.len();
            write(&mut log, round, number);
            // Now and then a result of an earlier round is cleared.
            let earlier = index.index(number + 1);
            if let (0, Some(Round::Calls { .. })) = (earlier % 3, rounds.get(earlier)) {
                log.entry(clearing(&format!("t{earlier}_0")));
            }
            for record in &log.records[taken..] {
                fold.push(record.clone());
            }
            both.check(&mut fold, &log)?;
        }
    }
}
