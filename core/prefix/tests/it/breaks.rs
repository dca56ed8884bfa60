//! Break detection, with the cache simulator as the server.

use crate::conversations::{Log, Round, rounds, write};
use everfold_kernel::limits::BreakLimits;
use everfold_kernel::record::{
    Boundary, BreakSeen, CacheState, CacheTtl, ClearTrigger, Cleared, ClearedResult, ClearingSum,
    Keeps,
};
use everfold_kernel::{
    Block, Decision, Entry, ModelTable, Prelude, QuerySource, Timestamp, Tokens, Usage, Usd,
    UserOrigin,
};
use everfold_prefix::breaks::{Answered, Detector, NOTHING_CHANGED, RequestBase, Sent};
use everfold_prefix::sim::{SimConfig, Simulator, pieces_of};
use everfold_prefix::{Directive, Fold, Request};
use proptest::prelude::*;
use serde_json::{Value, json};

/// Tokens of every tool, system block and message block.
const PIECE: u64 = 3_000;
const MINUTE: i64 = 60;

/// A server with a cache, and a detector that watches it.
struct Watched {
    server: Simulator,
    detector: Detector,
    now: i64,
}

impl Watched {
    fn new() -> Self {
        let server = Simulator::new(SimConfig::default());
        Self { server, detector: Detector::new(BreakLimits::default()), now: 1_700_000_000 }
    }

    fn at(&self) -> Timestamp {
        Timestamp::from_second(self.now).unwrap()
    }

    /// The main thread's next request.
    fn main(&mut self, fold: &mut Fold) -> Option<BreakSeen> {
        let declared = fold.take_break();
        let request = fold.request(None).unwrap();
        self.ask(&QuerySource::Main, RequestBase::Own, request, declared)
    }

    /// The first request of a fork.
    fn fork(&mut self, fold: &mut Fold) -> Option<BreakSeen> {
        let declared = fold.take_break();
        let request = fold.request(Some(Directive("look back"))).unwrap();
        self.ask(&QuerySource::Extract, RequestBase::Main, request, declared)
    }

    fn ask(
        &mut self,
        source: &QuerySource,
        base: RequestBase,
        request: Request,
        declared: Option<everfold_prefix::BreakCause>,
    ) -> Option<BreakSeen> {
        self.now += 1;
        let usage = self.bill(&request);
        let (fingerprint, at) = (request.fingerprint, self.at());
        self.detector.sent(Sent { source: source.clone(), base, fingerprint, at, declared });
        let prices = ModelTable::builtin().spec(&"claude-sonnet-4-6".into()).prices;
        self.detector.answered(source, Answered { usage, prices, server_reason: None })
    }

    fn bill(&mut self, request: &Request) -> Usage {
        let body: Value = serde_json::from_slice(&request.body.whole()).unwrap();
        let pieces = pieces_of(&body, &|_| Tokens(PIECE)).unwrap();
        let scope = format!("{} {:?}", body["model"], request.betas);
        self.server.request(self.at(), &scope, Tokens(1_024), &pieces).unwrap()
    }
}

/// A conversation of a few rounds.
fn talk() -> Log {
    let mut log = Log::started();
    log.user("start").calls(&["t1", "t2"]).result("t1", "one").result("t2", "two");
    log.says("so").user("and now?");
    log
}

/// The same log with another prelude from the start.
fn with_prelude(log: &Log, change: impl FnOnce(&mut Prelude)) -> Log {
    let mut log = log.clone();
    let Entry::Decision(Decision::Prelude(prelude)) = &mut log.records[0].entry else {
        panic!("a log starts with its prelude");
    };
    change(prelude);
    log
}

/// What is reported when a conversation goes on under another log.
fn seen_after(change: impl FnOnce(&mut Prelude)) -> BreakSeen {
    let mut watched = Watched::new();
    let mut log = talk();
    assert_eq!(watched.main(&mut log.fold()), None);
    log = with_prelude(&log, change);
    log.says("this").user("go on");
    let seen = watched.main(&mut log.fold()).unwrap();
    log.says("that").user("further");
    assert_eq!(watched.main(&mut log.fold()), None, "told once");
    seen
}

#[test]
fn pc6_the_part_that_changed_is_named() {
    assert_eq!(seen_after(|p| p.system[1].text.push('!')).part, "system");
    assert_eq!(seen_after(|p| p.tools.push(json!({"name": "Late"}))).part, "tools");
    assert_eq!(seen_after(|p| p.params.model = "claude-opus-4-6".into()).part, "model");
    assert_eq!(seen_after(|p| p.params.betas.push("new".into())).part, "betas");
    assert_eq!(seen_after(|p| p.params.effort = Some("low".into())).part, "parameters");
    assert_eq!(seen_after(|p| p.params.cache = None).part, "breakpoints");
    let both = seen_after(|p| {
        p.tools.clear();
        p.system[0].text.clear();
    });
    assert_eq!(both.part, "tools, system");
}

#[test]
fn pc6_what_was_lost_is_counted_and_priced() {
    let seen = seen_after(|prelude| prelude.tools.clear());
    // A tool, two system blocks, and the blocks of six messages: all written again.
    assert_eq!(seen.tokens, PIECE * 10, "{seen:?}");
    assert_eq!(seen.source, QuerySource::Main);
    // Sonnet: writing costs 3.75, reading 0.30 a million.
    let Usd(cost) = seen.cost.unwrap();
    assert!((cost - 0.030 * (3.75 - 0.30)).abs() < 1e-9, "{cost}");
    // Without markers nothing is written: plain input, at 3.00.
    let Usd(cost) = seen_after(|prelude| prelude.params.cache = None).cost.unwrap();
    assert!((cost - 0.030 * (3.0 - 0.30)).abs() < 1e-9, "{cost}");
}

#[test]
fn pc6_an_old_message_that_changed_is_named_by_its_number() {
    let mut watched = Watched::new();
    let mut log = talk();
    watched.main(&mut log.fold());
    let Entry::User(user) = &mut log.records[5].entry else { panic!("the second result") };
    user.content = vec![Block::tool_result(&"t2".into(), json!("Two"))];
    let seen = watched.main(&mut log.fold()).unwrap();
    assert_eq!(seen.part, "messages (first changed message 3)");
    assert_eq!(watched.main(&mut log.fold()), None);
}

#[test]
fn pc6_an_eviction_is_told_apart_and_the_server_may_say_why() {
    let mut watched = Watched::new();
    let mut fold = talk().fold();
    watched.main(&mut fold);
    watched.server = Simulator::new(SimConfig::default());
    assert_eq!(watched.main(&mut fold).unwrap().part, NOTHING_CHANGED);

    let request = fold.request(None).unwrap();
    let (source, at, base) = (QuerySource::Main, watched.at(), RequestBase::Own);
    let fingerprint = request.fingerprint;
    watched.detector.sent(Sent { source: source.clone(), base, fingerprint, at, declared: None });
    let answer = Answered {
        usage: Usage { input: 40_000, ..Usage::default() },
        prices: None,
        server_reason: Some("system_changed".into()),
    };
    let seen = watched.detector.answered(&source, answer).unwrap();
    assert_eq!((seen.server_reason.as_deref(), seen.cost), (Some("system_changed"), None));
}

#[test]
fn pc6_a_fork_is_compared_with_the_main_thread() {
    let mut watched = Watched::new();
    let log = talk();
    watched.main(&mut log.fold());
    assert_eq!(watched.fork(&mut log.fold()), None);
    let mut other = with_prelude(&log, |prelude| prelude.tools.clear()).fold();
    let seen = watched.fork(&mut other).unwrap();
    assert_eq!((seen.source, seen.part.as_str()), (QuerySource::Extract, "tools"));
    assert_eq!(watched.main(&mut log.fold()), None, "the main thread is as it was");
}

#[test]
fn pc6_a_conversation_of_its_own_expects_nothing() {
    let mut watched = Watched::new();
    watched.main(&mut talk().fold());
    let mut other = Log::started();
    other.user("which memories?");
    let request = other.fold().request(None).unwrap();
    assert_eq!(watched.ask(&QuerySource::Recall, RequestBase::Own, request.clone(), None), None);
    other = with_prelude(&other, |prelude| prelude.system[0].text.push('!'));
    let request = other.fold().request(None).unwrap();
    assert_eq!(watched.ask(&QuerySource::Recall, RequestBase::Nothing, request, None), None);
}

#[test]
fn pc6_what_expired_is_not_missed() {
    for (wait, ttl) in [(5 * MINUTE, CacheTtl::FiveMinutes), (60 * MINUTE, CacheTtl::OneHour)] {
        let log = with_prelude(&talk(), |prelude| prelude.params.cache = Some(ttl));
        let other = with_prelude(&log, |prelude| prelude.tools.clear());
        for (after, reported) in [(wait - 2, true), (wait, false), (-wait, false)] {
            let mut watched = Watched::new();
            watched.main(&mut log.fold());
            watched.now += after;
            assert_eq!(watched.main(&mut other.fold()).is_some(), reported, "{ttl:?} {after}");
        }
    }
}

#[test]
fn pc6_small_losses_are_passed_over() {
    let limits = BreakLimits::default();
    let usage = |read| Usage { input: 1, cache_read: read, ..Usage::default() };
    let seen = |cached: u64, read: u64| {
        let mut detector = Detector::new(limits.clone());
        let fingerprint = talk().fold().request(None).unwrap().fingerprint;
        let (source, at, base) = (QuerySource::Main, Timestamp::UNIX_EPOCH, RequestBase::Own);
        let sent = Sent { source: source.clone(), base, fingerprint, at, declared: None };
        let answer = |read| Answered { usage: usage(read), ..Answered::default() };
        detector.sent(sent.clone());
        assert_eq!(detector.answered(&source, answer(cached)), None);
        detector.sent(sent);
        detector.answered(&source, answer(read)).map(|seen| seen.tokens)
    };
    assert_eq!(seen(10_000, 8_000), None);
    assert_eq!(seen(10_000, 7_999), Some(2_001));
    assert_eq!(seen(100_000, 95_000), None);
    assert_eq!(seen(100_000, 94_999), Some(5_001));
    assert_eq!(seen(u64::MAX, 0), Some(u64::MAX));
}

#[test]
fn pc6_an_answer_without_usage_or_request_says_nothing() {
    let mut watched = Watched::new();
    let mut fold = talk().fold();
    watched.main(&mut fold);
    let fingerprint = fold.request(None).unwrap().fingerprint;
    let (source, at, base) = (QuerySource::Main, watched.at(), RequestBase::Own);
    watched.detector.sent(Sent { source: source.clone(), base, fingerprint, at, declared: None });
    assert_eq!(watched.detector.answered(&source, Answered::default()), None);
    let unasked = Usage { input: 9, ..Usage::default() };
    let answer = Answered { usage: unasked, ..Answered::default() };
    assert_eq!(watched.detector.answered(&source, answer), None);
    assert_eq!(watched.main(&mut fold), None, "what was known before still holds");
}

#[test]
fn pc6_a_break_declared_by_a_fork_holds_for_the_main_thread() {
    let mut watched = Watched::new();
    let mut log = talk();
    watched.main(&mut log.fold());
    log.entry(clearing("t1"));
    let mut fold = log.fold();
    assert_eq!(watched.fork(&mut fold), None);
    assert_eq!(fold.take_break(), None, "the fork took it");
    assert_eq!(watched.main(&mut fold), None);
}

#[test]
fn pc6_an_answer_from_before_a_declared_break_is_no_measure() {
    let mut watched = Watched::new();
    let log = talk();
    watched.main(&mut log.fold());
    let late = log.fold().request(None).unwrap();
    let (source, at, base) = (QuerySource::Main, watched.at(), RequestBase::Own);
    let fingerprint = late.fingerprint.clone();
    watched.detector.sent(Sent { source: source.clone(), base, fingerprint, at, declared: None });
    let mut cleared = log.clone();
    cleared.entry(clearing("t1"));
    let mut fold = cleared.fold();
    assert_eq!(watched.fork(&mut fold), None);
    let usage = watched.bill(&late);
    let answer = Answered { usage, ..Answered::default() };
    assert_eq!(watched.detector.answered(&source, answer), None);
    assert_eq!(watched.main(&mut fold), None);
}

#[test]
fn pc6_cache_edits_are_declared() {
    let mut log = talk();
    log.entry(Entry::Decision(Decision::CacheEdited { tool_use_ids: vec!["t1".into()] }));
    let mut fold = log.fold();
    assert_eq!(fold.take_break(), Some(everfold_prefix::BreakCause::CacheEdit));
    assert_eq!(fold.last_break(), None, "no byte changed");
}

fn clearing(id: &str) -> Entry {
    let results = vec![ClearedResult { tool_use_id: id.into(), marker: "[cleared]".into() }];
    let sum = ClearingSum {
        cache: CacheState::Cold,
        cleared_tokens: 1,
        rewritten_tokens: 1,
        rounds: 1.0,
        saves: Usd(1.0),
        costs: Usd(0.0),
    };
    Entry::Decision(Decision::Cleared(Cleared { results, trigger: ClearTrigger::Time, sum }))
}

/// Something that happens in a session.
#[derive(Clone, Debug)]
enum Happening {
    Round(Round),
    Fork,
    Pause(i64),
    Switch(bool),
    Clear(usize),
    Compact,
    Retract,
}

fn happenings() -> impl Strategy<Value = Vec<Happening>> {
    let other = prop_oneof![
        4 => Just(Happening::Fork),
        2 => (0_i64..700).prop_map(Happening::Pause),
        1 => any::<bool>().prop_map(Happening::Switch),
        1 => (0_usize..12).prop_map(Happening::Clear),
        1 => Just(Happening::Compact),
        1 => Just(Happening::Retract),
    ];
    (rounds(), prop::collection::vec((any::<prop::sample::Index>(), other), 0..20)).prop_map(
        |(rounds, others)| {
            let mut all: Vec<Happening> = rounds.into_iter().map(Happening::Round).collect();
            for (place, other) in others {
                let place = place.index(all.len() + 1);
                all.insert(place, other);
            }
            all
        },
    )
}

/// Writes what happens; the pause and the fork leave the log alone.
fn happen(log: &mut Log, happening: &Happening, number: usize) {
    match happening {
        Happening::Round(round) => write(log, round, number),
        Happening::Switch(large) => {
            log.prelude(if *large { "claude-opus-4-6" } else { "claude-sonnet-5-5" });
        }
        Happening::Clear(round) => {
            log.entry(clearing(&format!("t{round}_0")));
        }
        Happening::Compact => {
            let last_before = log.records.last().map(|record| record.id.clone());
            log.entry(Entry::Boundary(Boundary {
                trigger: "auto".into(),
                pre_tokens: 1,
                last_before,
                preserved: Vec::new(),
                keeps: Keeps::Suffix,
                metadata: serde_json::Map::new(),
            }));
            log.user_entry(vec![Block::text("the summary")], UserOrigin::CompactSummary);
        }
        Happening::Retract => {
            let message_id = log.says("half an ans").response_id();
            let reason = "cut off".to_owned();
            log.entry(Entry::Decision(Decision::Retracted { message_id, reason }));
        }
        Happening::Fork | Happening::Pause(_) => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn pc6_without_an_undeclared_change_nothing_is_reported(happenings in happenings()) {
        let mut watched = Watched::new();
        let mut log = Log::started();
        log.user("start");
        let mut fold = log.fold();
        let mut taken = log.records.len();
        prop_assert_eq!(watched.main(&mut fold), None);
        for (number, happening) in happenings.iter().enumerate() {
            happen(&mut log, happening, number);
            for record in &log.records[taken..] {
                fold.push(record.clone());
            }
            taken = log.records.len();
            let seen = match happening {
                Happening::Fork => watched.fork(&mut fold),
                Happening::Pause(seconds) => {
                    watched.now += seconds;
                    None
                }
                _ => watched.main(&mut fold),
            };
            prop_assert_eq!(seen, None, "{:?}", happening);
        }
    }

    #[test]
    fn pc6_one_changed_byte_is_reported_once_and_named(
        rounds in rounds(), later in rounds(), place in any::<prop::sample::Index>(), part in 0..3,
    ) {
        let mut watched = Watched::new();
        let mut log = Log::started();
        log.user("start");
        prop_assert_eq!(watched.main(&mut log.fold()), None);
        for (number, round) in rounds.iter().enumerate() {
            write(&mut log, round, number);
            prop_assert_eq!(watched.main(&mut log.fold()), None);
        }
        let expected = match part {
            0 => {
                log = with_prelude(&log, |prelude| prelude.system[0].text.push('!'));
                "system".to_owned()
            }
            1 => {
                log = with_prelude(&log, |prelude| prelude.tools[0]["description"] = json!("Reads"));
                "tools".to_owned()
            }
            _ => format!("messages (first changed message {})", change_a_message(&mut log, place)),
        };
        let mut reports = Vec::new();
        reports.extend(watched.main(&mut log.fold()));
        for (number, round) in later.iter().enumerate() {
            write(&mut log, round, rounds.len() + number);
            reports.extend(watched.main(&mut log.fold()));
        }
        let parts: Vec<String> = reports.into_iter().map(|seen| seen.part).collect();
        prop_assert_eq!(parts, [expected]);
    }
}

/// Changes a byte of something that a person said in the first half, and
/// tells the number of its message.
fn change_a_message(log: &mut Log, place: prop::sample::Index) -> usize {
    let half = log.records.len() / 2 + 1;
    let said: Vec<usize> = (0..half)
        .filter(|at| {
            matches!(&log.records[*at].entry,
            Entry::User(user) if user.origin == UserOrigin::Human)
        })
        .collect();
    let at = *place.get(&said);
    let Entry::User(user) = &mut log.records[at].entry else { panic!("chosen so") };
    user.content = vec![Block::text(format!("{}!", user.content[0].plain_text()))];
    let id = log.records[at].id.clone();
    let fold = log.fold();
    let holds = |message: &everfold_prefix::Message| {
        message.pieces().iter().any(|piece| piece.record == id)
    };
    fold.messages().iter().position(holds).unwrap() + 1
}
