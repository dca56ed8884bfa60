use crate::house::House;
use everfold_kernel::settings::ProviderKind;
use everfold_kernel::settings::{ANTHROPIC_URL, OPENAI_URL};
use everfold_kernel::window::{Overrides, WindowRank};
use everfold_settings::provider::{
    AuthStyle, KeySetting, ProviderChoice, choose, models, window_overrides,
};
use serde_json::json;

fn chosen(house: &House) -> ProviderChoice {
    choose(&house.load().unwrap(), &house.variables).unwrap()
}

fn with(pairs: &[(&str, &str)]) -> House {
    let house = House::new();
    pairs.iter().fold(house, |house, (name, value)| house.env(name, value))
}

#[test]
fn c5_without_a_key_it_is_offline_and_says_so() {
    let choice = chosen(&with(&[("ANTHROPIC_API_KEY", "")]));
    assert_eq!(choice.kind, ProviderKind::Offline);
    assert_eq!(choice.reason, "no key found: offline");
    assert_eq!((choice.base_url, choice.auth), (None, AuthStyle::None));
}

#[test]
fn c5_the_keys_that_are_there_choose() {
    let choice = chosen(&with(&[("ANTHROPIC_API_KEY", "k"), ("OPENAI_API_KEY", "o")]));
    assert_eq!(choice.kind, ProviderKind::Anthropic);
    assert_eq!(choice.auth, AuthStyle::ApiKey);
    assert_eq!(choice.base_url.as_deref(), Some(ANTHROPIC_URL));
    assert_eq!(choice.reason, "ANTHROPIC_API_KEY is set: anthropic, key from ANTHROPIC_API_KEY");
    let token = chosen(&with(&[("ANTHROPIC_AUTH_TOKEN", "t"), ("ANTHROPIC_API_KEY", "k")]));
    assert_eq!(token.auth, AuthStyle::Bearer);
    let openai = chosen(&with(&[("OPENAI_API_KEY", "o")]));
    assert_eq!(openai.kind, ProviderKind::OpenAi);
    assert_eq!(openai.base_url.as_deref(), Some(OPENAI_URL));
    let local = chosen(&with(&[("OPENAI_BASE_URL", "http://127.0.0.1:8080/v1/")]));
    assert_eq!(local.kind, ProviderKind::OpenAi);
    assert_eq!(local.key, KeySetting::None);
    assert_eq!(local.base_url.as_deref(), Some("http://127.0.0.1:8080/v1"));
    let gateway = chosen(&with(&[("ANTHROPIC_BASE_URL", "http://127.0.0.1:1")]));
    assert_eq!(gateway.kind, ProviderKind::Anthropic);
    assert_eq!(gateway.auth, AuthStyle::None);
}

#[test]
fn c5_a_named_provider_beats_the_keys() {
    let choice = chosen(&with(&[("EVERFOLD_PROVIDER", "offline"), ("ANTHROPIC_API_KEY", "k")]));
    assert_eq!(choice.kind, ProviderKind::Offline);
    assert_eq!(choice.key, KeySetting::None);
    assert_eq!(choice.reason, "asked for by environment, EVERFOLD_PROVIDER: offline");
    let openai = with(&[("EVERFOLD_PROVIDER", "openai"), ("ANTHROPIC_API_KEY", "k")]);
    assert_eq!(chosen(&openai).key, KeySetting::None);
}

#[test]
fn s5_a_key_command_is_named_and_keys_are_not_shown() {
    let house = House::new().home_settings(&json!({"apiKeyHelper": "pass show key"}));
    let choice = chosen(&house);
    assert_eq!(choice.key, KeySetting::Command("pass show key".into()));
    assert_eq!(choice.auth, AuthStyle::Both);
    let house = house
        .env("ANTHROPIC_API_KEY", "sk-secret")
        .env("ANTHROPIC_CUSTOM_HEADERS", "X-Token: hush\n\nX-Other: a: b");
    let choice = chosen(&house);
    assert!(matches!(choice.key, KeySetting::Variable { .. }));
    assert_eq!(choice.headers["x-token"].expose(), "hush");
    assert_eq!(choice.headers["x-other"].expose(), "a: b");
    let shown = format!("{choice:?}");
    assert!(!shown.contains("sk-secret") && !shown.contains("hush"), "{shown}");
}

#[test]
fn c4_managed_provider_settings_beat_the_environment() {
    let house = House::new()
        .managed(&json!({"apiKeyHelper": "vault", "everfold": {"provider":
            {"base_url": "https://gate.example", "headers": {"X-Team": "a"}, "betas": ["one"]}}}))
        .env("ANTHROPIC_API_KEY", "k")
        .env("ANTHROPIC_BASE_URL", "http://elsewhere")
        .env("ANTHROPIC_CUSTOM_HEADERS", "x-team: b")
        .env("ANTHROPIC_BETAS", "two, one,");
    let choice = chosen(&house);
    assert_eq!(choice.base_url.as_deref(), Some("https://gate.example"));
    assert_eq!(choice.key, KeySetting::Command("vault".into()));
    assert_eq!(choice.headers["x-team"].expose(), "a");
    assert_eq!(choice.betas, ["one", "two"]);
    let own = House::new()
        .home_settings(&json!({"everfold": {"provider": {"base_url": "https://mine.example"}}}))
        .env("ANTHROPIC_BASE_URL", "http://elsewhere");
    assert_eq!(chosen(&own).base_url.as_deref(), Some("http://elsewhere"));
}

#[test]
fn c5_an_address_or_header_that_cannot_be_used_is_named() {
    let refused = |pairs: &[(&str, &str)]| {
        let house = with(pairs);
        choose(&house.load().unwrap(), &house.variables).unwrap_err().to_string()
    };
    let text = refused(&[("ANTHROPIC_BASE_URL", "localhost:8080")]);
    assert!(text.contains("ANTHROPIC_BASE_URL"), "{text}");
    let text =
        refused(&[("ANTHROPIC_API_KEY", "k"), ("ANTHROPIC_CUSTOM_HEADERS", "A: b\nhush hush")]);
    assert_eq!(text, "use header 2 of ANTHROPIC_CUSTOM_HEADERS: write `Name: Value`, one per line");
}

#[test]
fn c5_models_have_defaults() {
    let resolved = House::new().load().unwrap();
    let defaults = models(&resolved, ProviderKind::Anthropic);
    assert_eq!(defaults.main.as_str(), "claude-sonnet-5-5");
    assert_eq!(defaults.small.as_str(), "claude-haiku-5-5");
    assert_eq!(defaults.fallback, None);
    let house = with(&[("EVERFOLD_MODEL", "llama-4")])
        .home_settings(&json!({"everfold": {"fallback_model": "spare"}}));
    let local = models(&house.load().unwrap(), ProviderKind::OpenAi);
    assert_eq!(local.small.as_str(), "llama-4");
    assert_eq!(local.fallback.unwrap().as_str(), "spare");
}

#[test]
fn t5_window_overrides_by_setting_and_by_environment() {
    let house = House::new()
        .home_settings(
            &json!({"autoCompactWindow": 100_000, "everfold": {"auto_compact_percent": 70}}),
        )
        .env("CLAUDE_AUTOCOMPACT_PCT_OVERRIDE", "60")
        .env("EVERFOLD_CONTEXT_WINDOW", "32000");
    assert_eq!(
        window_overrides(&house.load().unwrap(), ProviderKind::OpenAi),
        Overrides {
            window: Some(32_000),
            rank: WindowRank::Environment,
            auto_compact_window: Some(100_000),
            auto_compact_percent: Some(60),
        }
    );
}
