//! Settings and trust records out of any bytes, by bolero: nothing panics,
//! and nothing widens (S9, S14). Short with every change; at length by
//! `cargo xtask soak fuzz`.

use crate::house::House;
use crate::smoke::{assert_harmless, trust_at};
use everfold_settings::trust::{TrustDecision, TrustState};
use serde_json::json;
use std::collections::BTreeSet;

/// Cases of an ordinary run.
const FEW: usize = 150;
/// Cases of a soak.
const MANY: usize = 50_000;

/// Any bytes behind some that settings begin with.
fn settings_load(cases: usize) {
    let start = json!({"hooks": {"Stop": []}, "env": {"A": "b"}, "permissions": {"allow": ["Bash"],
        "defaultMode": "bypassPermissions"}, "everfold": {"sandbox": {"enabled": false}}});
    let start = start.to_string().into_bytes();
    bolero::check!().with_type::<(u8, Vec<u8>)>().with_iterations(cases).for_each(
        |(cut, bytes)| {
            let mut text = start.clone();
            text.truncate(usize::from(*cut));
            text.extend(bytes);
            let house = House::new().write("repo/.claude/settings.json", &text);
            assert_harmless(&house.load().unwrap().settings);
        },
    );
}

/// A record that was cut, or has other bytes in it, trusts no more than it did.
fn records_trust_no_more(cases: usize) {
    let hook = json!({"hooks": {"Stop": [{"hooks": [{"command": "./h.sh"}]}]}});
    let house = House::new().project(&hook);
    let root = house.path("repo").canonicalize().unwrap();
    let trust = trust_at(&house.path("home"), &root);
    let at = everfold_kernel::Timestamp::default();
    trust.keep(&house.home(), TrustDecision::Trusted, BTreeSet::new(), at).unwrap();
    let record = std::fs::read(house.path("home/trust.json")).unwrap();
    assert_eq!(trust_at(&house.path("home"), &root).standing(), &TrustState::Trusted);
    // What was trusted changes, so that no honest record covers it.
    let house =
        house.project(&json!({"hooks": {"Stop": [{"hooks": [{"command": "./other.sh"}]}]}}));
    bolero::check!().with_type::<(u16, Vec<u8>, u16)>().with_iterations(cases).for_each(
        |(cut, bytes, skip)| {
            let mut text = record.clone();
            text.truncate(usize::from(*cut) % (record.len() + 1));
            text.extend(bytes);
            text.extend(record.iter().skip(usize::from(*skip) % (record.len() + 1)));
            std::fs::write(house.path("home/trust.json"), &text).unwrap();
            let trust = trust_at(&house.path("home"), &root);
            assert_ne!(trust.standing(), &TrustState::Trusted);
        },
    );
}

#[test]
fn s9_s14_settings_of_any_bytes_widen_nothing() {
    settings_load(FEW);
}

#[test]
fn s9_a_trust_record_of_any_bytes_trusts_no_more() {
    records_trust_no_more(FEW);
}

#[test]
#[ignore = "a soak: cargo xtask soak fuzz"]
fn s9_fuzz_of_settings_and_trust_records() {
    settings_load(MANY);
    records_trust_no_more(MANY);
}
