use super::*;
use crate::merge::merge;
use serde_json::json;

fn variables(pairs: &[(&str, &str)]) -> Variables {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

fn value(pairs: &[(&str, &str)]) -> Value {
    merge(&read(&variables(pairs)).unwrap().layers).value
}

fn error(pairs: &[(&str, &str)]) -> String {
    read(&variables(pairs)).unwrap_err().to_string()
}

#[test]
fn c5_every_variable_sets_its_key() {
    let all = value(&[
        ("EVERFOLD_PROVIDER", "offline"),
        ("EVERFOLD_MODEL", "m"),
        ("EVERFOLD_SMALL_MODEL", "s"),
        ("EVERFOLD_MEMORY_DIR", "/mem"),
        ("EVERFOLD_DISABLE_AUTO_MEMORY", "1"),
        ("EVERFOLD_AUTO_COMPACT_WINDOW", "100000"),
        ("EVERFOLD_AUTO_COMPACT_PERCENT", "80"),
        ("EVERFOLD_FLAG_RECALL", "0"),
        ("EVERFOLD_LIMIT_MAX_RETRIES", "3"),
        ("HOME", "/home/ada"),
    ]);
    assert_eq!(
        all,
        json!({
            "model": "m", "autoMemoryDirectory": "/mem", "autoMemoryEnabled": false,
            "autoCompactWindow": 100_000,
            "everfold": {"provider": {"kind": "offline"}, "small_model": "s", "auto_compact_percent": 80,
                       "flags": {"recall": false}, "limits": {"max_retries": 3}}
        })
    );
}

#[test]
fn c5_every_flag_has_a_variable() {
    for flag in Flag::ALL {
        let name = flag.env_name();
        let on = value(&[(&name, "1")]);
        assert_eq!(on["everfold"]["flags"][flag.name()], true, "{name}");
    }
}

#[test]
fn q3_every_limit_has_a_variable_of_its_own() {
    let mut names: Vec<String> = limit_variables().map(|(name, _)| name).collect();
    let count = names.len();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), count);
    assert!(names.contains(&"EVERFOLD_LIMIT_MAX_RETRIES".to_owned()));
}

#[test]
fn q3_nested_limits_are_joined_by_an_underscore() {
    let mut out = Vec::new();
    walk(
        &json!({"offload": {"preview_bytes": 1}, "plain": 2}),
        env::LIMIT_PREFIX,
        "/everfold/limits",
        &mut out,
    );
    assert_eq!(
        out,
        [
            (
                "EVERFOLD_LIMIT_OFFLOAD_PREVIEW_BYTES".to_owned(),
                "/everfold/limits/offload/preview_bytes".to_owned()
            ),
            ("EVERFOLD_LIMIT_PLAIN".to_owned(), "/everfold/limits/plain".to_owned()),
        ]
    );
}

#[test]
fn c5_names_of_claude_code_are_honoured_where_ours_is_unset() {
    assert_eq!(
        value(&[("CLAUDE_CODE_DISABLE_AUTO_MEMORY", "1")]),
        json!({"autoMemoryEnabled": false})
    );
    assert_eq!(
        value(&[("CLAUDE_CODE_DISABLE_AUTO_MEMORY", "0")]),
        json!({"autoMemoryEnabled": true})
    );
    assert_eq!(
        value(&[("CLAUDE_CODE_AUTO_COMPACT_WINDOW", "5"), ("EVERFOLD_AUTO_COMPACT_WINDOW", "6")]),
        json!({"autoCompactWindow": 6})
    );
    assert_eq!(
        value(&[("CLAUDE_CODE_MAX_RETRIES", "5"), ("EVERFOLD_LIMIT_MAX_RETRIES", "")]),
        json!({"everfold": {"limits": {"max_retries": 5}}})
    );
    let read = read(&variables(&[("CLAUDE_AUTOCOMPACT_PCT_OVERRIDE", "50")])).unwrap();
    assert_eq!(read.layers[0].origin, ValueOrigin::Env("CLAUDE_AUTOCOMPACT_PCT_OVERRIDE".into()));
}

#[test]
fn c5_auto_compact_is_off_by_the_names_of_claude_code() {
    let off = json!({"everfold": {"flags": {"auto_compact": false}}});
    assert_eq!(value(&[("DISABLE_AUTO_COMPACT", "1")]), off);
    assert_eq!(value(&[("DISABLE_COMPACT", "true")]), off);
    assert_eq!(value(&[("DISABLE_COMPACT", "0")]), json!({}));
    assert_eq!(
        value(&[("DISABLE_AUTO_COMPACT", "1"), ("EVERFOLD_FLAG_AUTO_COMPACT", "1")]),
        json!({"everfold": {"flags": {"auto_compact": true}}})
    );
}

#[test]
fn c5_a_wrong_value_names_the_variable_and_what_it_takes() {
    assert_eq!(
        error(&[("EVERFOLD_PROVIDER", "acme")]),
        "use the variable EVERFOLD_PROVIDER: it takes anthropic, openai or offline"
    );
    assert_eq!(
        error(&[("EVERFOLD_FLAG_RECALL", "maybe")]),
        "use the variable EVERFOLD_FLAG_RECALL: it takes 0 or 1"
    );
    assert_eq!(
        error(&[("CLAUDE_AUTOCOMPACT_PCT_OVERRIDE", "0")]),
        "use the variable CLAUDE_AUTOCOMPACT_PCT_OVERRIDE: it takes a whole number from 1 to 100"
    );
    for wrong in ["-1", "many", "99999999999", "1.5", "\"3\"", "null"] {
        assert!(
            error(&[("EVERFOLD_LIMIT_MAX_RETRIES", wrong)]).contains("EVERFOLD_LIMIT_MAX_RETRIES"),
            "{wrong}"
        );
    }
}

#[test]
fn c4_unknown_flags_and_limits_are_named() {
    let read =
        read(&variables(&[("EVERFOLD_FLAG_FLY", "what"), ("EVERFOLD_LIMIT_SPEED", "x")])).unwrap();
    let names: Vec<&str> = read.unknown.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["/everfold/flags/fly", "/everfold/limits/speed"]);
    assert!(read.layers.is_empty());
}

#[test]
fn t3_the_window_of_an_unknown_model_comes_from_the_environment() {
    let window = |name: &str| read(&variables(&[(name, "64000")])).unwrap().ambient.context_window;
    assert_eq!(window("EVERFOLD_CONTEXT_WINDOW"), Some(64_000));
    assert_eq!(window("CLAUDE_CODE_MAX_CONTEXT_TOKENS"), Some(64_000));
    assert!(error(&[("EVERFOLD_CONTEXT_WINDOW", "200k")]).contains("EVERFOLD_CONTEXT_WINDOW"));
}

#[test]
fn c5_remote_mode() {
    let read = read(&variables(&[
        ("EVERFOLD_REMOTE", "1"),
        ("EVERFOLD_REMOTE_MEMORY_DIR", "/r"),
        ("EVERFOLD_MEMORY_EXTRA_GUIDELINES", "be brief"),
    ]))
    .unwrap();
    assert_eq!(read.ambient.place, RunPlace::Remote);
    assert_eq!(read.ambient.remote_memory_dir.as_deref(), Some("/r"));
    assert_eq!(read.ambient.memory_extra_guidelines.as_deref(), Some("be brief"));
}

#[test]
fn c5_remote_mode_and_cowork_by_the_names_that_claude_code_has_for_them() {
    let read = read(&variables(&[
        ("CLAUDE_CODE_REMOTE", "true"),
        ("CLAUDE_CODE_REMOTE_MEMORY_DIR", "/r"),
        ("CLAUDE_COWORK_MEMORY_EXTRA_GUIDELINES", "be brief"),
    ]))
    .unwrap();
    assert_eq!(read.ambient.place, RunPlace::Remote);
    assert_eq!(read.ambient.remote_memory_dir.as_deref(), Some("/r"));
    assert_eq!(read.ambient.memory_extra_guidelines.as_deref(), Some("be brief"));
    let theirs = value(&[("CLAUDE_COWORK_MEMORY_PATH_OVERRIDE", "/w/memory")]);
    assert_eq!(theirs, value(&[("EVERFOLD_MEMORY_DIR", "/w/memory")]));
}
