//! What holds of the simulator for every conversation.

use super::*;
use everfold_kernel::ModelTable;
use proptest::prelude::*;

const SCOPE: &str = "claude-opus-5";
const MINIMUM: Tokens = Tokens(512);

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + seconds).unwrap()
}

fn piece(name: usize, tokens: u64) -> SimPiece {
    SimPiece::new(format!("piece {name}").as_bytes(), Tokens(tokens))
}

fn conversation(length: usize, tokens: u64) -> Vec<SimPiece> {
    (0..length).map(|name| piece(name, tokens)).collect()
}

fn mark(pieces: &mut [SimPiece], position: usize, ttl: CacheTtl) {
    pieces[position].breakpoint = Some(ttl);
}

fn cache() -> Simulator {
    Simulator::new(SimConfig::default())
}

fn ask(cache: &mut Simulator, seconds: i64, pieces: &[SimPiece]) -> Usage {
    cache.request(at(seconds), SCOPE, MINIMUM, pieces).unwrap()
}

/// Pieces of 0 to 3,000 tokens with up to four markers in a valid order.
fn any_request() -> impl Strategy<Value = Vec<SimPiece>> {
    let sizes = prop::collection::vec(0_u64..3_000, 1..60);
    (sizes, prop::collection::vec(any::<prop::sample::Index>(), 0..=4_usize), 0..5_usize).prop_map(
        |(sizes, marks, hours)| {
            let mut pieces: Vec<SimPiece> =
                sizes.into_iter().enumerate().map(|(name, tokens)| piece(name, tokens)).collect();
            let mut positions: Vec<usize> =
                marks.iter().map(|mark| mark.index(pieces.len())).collect();
            positions.sort_unstable();
            positions.dedup();
            for (rank, position) in positions.into_iter().enumerate() {
                let ttl = if rank < hours { CacheTtl::OneHour } else { CacheTtl::FiveMinutes };
                mark(&mut pieces, position, ttl);
            }
            pieces
        },
    )
}

proptest! {
    #[test]
    fn pc7_read_written_and_plain_tokens_are_all_of_them(
        requests in prop::collection::vec((0_i64..400, any_request()), 1..8),
    ) {
        let mut cache = cache();
        let mut now = 0;
        for (wait, pieces) in requests {
            now += wait;
            let total: Tokens = pieces.iter().map(|piece| piece.tokens).sum();
            prop_assert_eq!(ask(&mut cache, now, &pieces).prompt(), total);
        }
    }

    #[test]
    fn pc7_a_repeated_request_reads_up_to_its_last_marker(
        pieces in any_request(), wait in 0_i64..300,
    ) {
        let mut cache = cache();
        let first = ask(&mut cache, 0, &pieces);
        let again = ask(&mut cache, wait, &pieces);
        prop_assert_eq!(again.cache_read, first.cache_write());
        prop_assert_eq!(again.cache_write(), 0);
        prop_assert_eq!(again.input, first.input);
    }

    #[test]
    fn pc5_a_turn_reads_what_the_turn_before_wrote(
        sizes in prop::collection::vec(200_u64..2_000, 5..60),
        steps in prop::collection::vec(1_usize..8, 1..8),
    ) {
        let all: Vec<SimPiece> = sizes.iter().enumerate().map(|(n, t)| piece(n, *t)).collect();
        let mut cache = cache();
        let (mut end, mut previous) = (1, None::<Usage>);
        for step in steps {
            let last_end = end;
            end = (end + step).min(all.len());
            let mut pieces = all[..end].to_vec();
            mark(&mut pieces, last_end - 1, CacheTtl::FiveMinutes);
            mark(&mut pieces, end - 1, CacheTtl::FiveMinutes);
            let usage = ask(&mut cache, 0, &pieces);
            if let Some(before) = previous {
                prop_assert!(usage.cache_read >= before.cache_read + before.cache_write());
            }
            previous = Some(usage);
        }
    }

    #[test]
    fn pc7_what_is_remembered_of_the_last_request_changes_nothing(
        requests in prop::collection::vec(any_request(), 1..6),
    ) {
        let mut remembering = cache();
        let mut forgetful = cache();
        for pieces in requests {
            forgetful.last = Chain::default();
            prop_assert_eq!(ask(&mut remembering, 0, &pieces), ask(&mut forgetful, 0, &pieces));
        }
    }
}

#[test]
fn pc7_the_look_back_is_exactly_twenty_positions() {
    for (added, hit) in [(19, true), (20, false)] {
        let mut cache = cache();
        let mut pieces = conversation(10, 1_000);
        mark(&mut pieces, 9, CacheTtl::FiveMinutes);
        ask(&mut cache, 0, &pieces);
        let mut longer = conversation(10 + added, 1_000);
        mark(&mut longer, 9 + added, CacheTtl::FiveMinutes);
        let usage = ask(&mut cache, 1, &longer);
        assert_eq!(usage.cache_read > 0, hit, "{added} pieces later");
        assert_eq!(usage.prompt(), Tokens((10 + added as u64) * 1_000));
    }
}

#[test]
fn pc7_entries_expire_and_every_hit_refreshes_them() {
    for (ttl, seconds) in [(CacheTtl::FiveMinutes, 300), (CacheTtl::OneHour, 3_600)] {
        let mut pieces = conversation(3, 1_000);
        mark(&mut pieces, 2, ttl);
        let mut cache = cache();
        ask(&mut cache, 0, &pieces);
        assert_eq!(ask(&mut cache, seconds - 1, &pieces).cache_read, 3_000);
        assert_eq!(ask(&mut cache, 2 * seconds - 2, &pieces).cache_read, 3_000);
        let late = ask(&mut cache, 3 * seconds - 2, &pieces);
        assert_eq!((late.cache_read, late.cache_write()), (0, 3_000));
    }
}

#[test]
fn pc7_below_the_minimum_nothing_is_cached() {
    for (tokens, cached) in [(511, 0), (512, 512)] {
        let mut cache = cache();
        let pieces = [piece(0, tokens).with_breakpoint(CacheTtl::FiveMinutes)];
        assert_eq!(ask(&mut cache, 0, &pieces).cache_write(), cached);
        assert_eq!(ask(&mut cache, 1, &pieces).cache_read, cached);
    }
}

#[test]
fn pc7_scopes_do_not_share_and_content_breaks_the_prefix() {
    let mut cache = cache();
    let mut pieces = conversation(3, 1_000);
    mark(&mut pieces, 2, CacheTtl::FiveMinutes);
    ask(&mut cache, 0, &pieces);
    let other = cache.request(at(1), "claude-haiku-4-5", MINIMUM, &pieces);
    assert_eq!(other.unwrap().cache_read, 0);
    let mut changed = pieces.clone();
    changed[0] = piece(99, 1_000);
    assert_eq!(ask(&mut cache, 2, &changed).cache_read, 0);
    assert_eq!(ask(&mut cache, 3, &pieces).cache_read, 3_000);
}

#[test]
fn pc7_hours_are_billed_before_minutes() {
    let mut cache = cache();
    let mut pieces = conversation(4, 1_000);
    mark(&mut pieces, 1, CacheTtl::OneHour);
    mark(&mut pieces, 2, CacheTtl::FiveMinutes);
    let first = ask(&mut cache, 0, &pieces);
    assert_eq!((first.cache_write_1h, first.cache_write_5m, first.input), (2_000, 1_000, 1_000));
    let later = ask(&mut cache, 400, &pieces);
    assert_eq!((later.cache_read, later.cache_write_5m), (2_000, 1_000));
}

#[test]
fn pc7_a_marker_of_an_hour_does_not_upgrade_five_minutes_for_nothing() {
    let mut cache = cache();
    let mut pieces = conversation(2, 1_000);
    mark(&mut pieces, 1, CacheTtl::FiveMinutes);
    ask(&mut cache, 0, &pieces);
    mark(&mut pieces, 0, CacheTtl::OneHour);
    mark(&mut pieces, 1, CacheTtl::OneHour);
    assert_eq!(ask(&mut cache, 1, &pieces).cache_write(), 0);
    assert_eq!(ask(&mut cache, 400, &pieces).cache_read, 0);
}

#[test]
fn pc7_markers_that_the_server_refuses_are_errors() {
    let mut cache = cache();
    let mut pieces = conversation(5, 1_000);
    for position in 0..5 {
        mark(&mut pieces, position, CacheTtl::FiveMinutes);
    }
    let refused = cache.request(at(0), SCOPE, MINIMUM, &pieces);
    assert_eq!(refused, Err(SimError::TooManyBreakpoints { found: 5, max: 4 }));
    pieces[0].breakpoint = None;
    mark(&mut pieces, 4, CacheTtl::OneHour);
    let refused = cache.request(at(0), SCOPE, MINIMUM, &pieces);
    assert_eq!(refused, Err(SimError::TtlOrder { position: 4 }));
    assert_eq!(refused.unwrap_err().class(), Class::Refuse);
}

#[test]
fn t6_the_split_is_priced_by_the_model_table() {
    let table = ModelTable::builtin();
    let spec = table.spec(&SCOPE.into());
    let mut cache = cache();
    let pieces = [piece(0, 1_000_000).with_breakpoint(CacheTtl::FiveMinutes)];
    let written = spec.cost(&ask(&mut cache, 0, &pieces)).unwrap();
    let read = spec.cost(&ask(&mut cache, 1, &pieces)).unwrap();
    assert!((written.0 - 6.25).abs() < 1e-9 && (read.0 - 0.5).abs() < 1e-9);
}

#[test]
fn pc7_five_thousand_turns_keep_the_map_small() {
    let mut cache = cache();
    let mut pieces = Vec::new();
    for turn in 0..5_000 {
        pieces.push(piece(turn, 100));
        let mut request = pieces.clone();
        mark(&mut request, turn, CacheTtl::FiveMinutes);
        let usage = ask(&mut cache, i64::try_from(turn).unwrap() * 10, &request);
        if turn >= 6 {
            assert_eq!((usage.cache_write(), usage.input), (100, 0));
        }
    }
    assert!(cache.entries.len() <= SWEEP_ENTRIES + 1);
}
