//! `everfold trust`: what a repository brings that could act, and a person's word
//! on it (S7). Works without a key and without a network.

use crate::args::{Choices, TrustArgs};
use crate::doctor::settings::dotted;
use crate::presenter::counted;
use crate::presenter::{Presenter, TextStyle};
use crate::setup::{self, ProcessEnv};
use anyhow::Result;
use everfold_agent::Repository;
use everfold_agent::settings::trust::{TrustDecision, TrustState, TrustSubject, all, own_rules};
use everfold_agent::settings::{Refused, Trust};
use jiff::Timestamp;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// What is said of a thing that can never be trusted.
const TOO_LARGE: &str = "too large to be checked, so it stays off";

/// Shows, records or takes back.
pub(crate) async fn run(env: &ProcessEnv, args: &TrustArgs, presenter: &Presenter) -> Result<()> {
    let repository = setup::builder(env, &Choices::default())?.only_looking().repository()?;
    if args.list {
        return list(&repository, args.json, presenter);
    }
    if args.revoke {
        let was = repository.revoke()?;
        if args.json {
            let root = repository.trust().root();
            return Ok(Presenter::json(&json!({"root": root, "revoked": was}))?);
        }
        let root = repository.trust().root().display();
        let done = if was { "is no longer trusted" } else { "was not trusted" };
        return Ok(presenter.line(&format!("{root} {done}"))?);
    }
    let imports = if args.dry_run {
        repository.outside_imports().await
    } else {
        repository.say(TrustDecision::Trusted, Timestamp::now()).await?
    };
    let trust = repository.trust();
    if args.json {
        let standing = if args.dry_run { trust.standing() } else { &TrustState::Trusted };
        return Ok(Presenter::json(&json!({
            "root": trust.root(),
            "trusted": *standing == TrustState::Trusted,
            "standing": standing_json(standing),
            "things": trust.things(),
            "imports": imports,
            "refused": refused(&repository).map(|one| json!({
                "key": dotted(&one.pointer), "from": one.origin.to_string(), "reason": one.reason,
            })).collect::<Vec<_>>(),
        }))?);
    }
    presenter.styled(TextStyle::Bold, &format!("{}\n", trust.root().display()))?;
    let mut all = rows(trust, &imports);
    all.extend(refused(&repository).map(|one| {
        let said = format!("{}; it stays off even if trusted ({})", one.reason, one.origin);
        vec!["  refused".to_owned(), dotted(&one.pointer), said]
    }));
    presenter.table(&all)?;
    if trust.things().is_empty() && imports.is_empty() {
        presenter.line("nothing here runs on its own")?;
    }
    if args.dry_run {
        presenter.line(&format!("it is {}", word(trust.standing())))?;
    } else {
        presenter.line("trusted; anything new or changed asks again")?;
        presenter.note(TextStyle::Dim, "to withdraw trust: `everfold trust --revoke`");
    }
    Ok(())
}

/// What settings of the tree ask for and never get.
fn refused(repository: &Repository) -> impl Iterator<Item = &Refused> {
    repository.settings().refused.iter().filter(|one| !one.opens_with_trust())
}

/// What would act, a row for each.
pub(crate) fn rows(trust: &Trust, imports: &BTreeSet<PathBuf>) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    for thing in trust.things() {
        let kind = thing.kind.as_str();
        let named = thing.files.iter().map(|file| format!("runs {file}"));
        let too_large = thing.hash.is_none().then(|| TOO_LARGE.to_owned());
        let says = thing.says.iter().cloned().chain(named).chain(too_large);
        for (at, said) in says.enumerate() {
            let (kind, name) = if at == 0 { (kind, thing.name.as_str()) } else { ("", "") };
            rows.push(vec![format!("  {kind}"), name.to_owned(), said]);
        }
    }
    let import = |path: &PathBuf| {
        vec![
            format!("  {}", TrustSubject::Imports.as_str()),
            path.display().to_string(),
            String::new(),
        ]
    };
    rows.extend(imports.iter().map(import));
    rows
}

fn word(standing: &TrustState) -> &'static str {
    match standing {
        TrustState::Nothing => "nothing to trust: nothing here runs or grants permissions",
        TrustState::Trusted => "trusted",
        TrustState::Unknown => "not trusted yet",
        TrustState::Declined => "not trusted: you said no",
        TrustState::Changed { .. } => "not trusted: it changed since you were asked",
    }
}

fn standing_json(standing: &TrustState) -> Value {
    serde_json::to_value(standing).unwrap_or_default()
}

fn list(repository: &Repository, json: bool, presenter: &Presenter) -> Result<()> {
    let records = all(repository.home()).map_err(everfold_agent::Error::from)?;
    let rules = own_rules(repository.home()).map_err(everfold_agent::Error::from)?;
    if json {
        let kept = |(root, rules)| json!({"root": root, "verdict": "rules", "rules": rules});
        let row = |(root, record): &(PathBuf, everfold_agent::settings::trust::TrustRecord)| {
            json!({
                "root": root,
                "at": record.at,
                "verdict": record.verdict,
                "things": record.things.keys().collect::<Vec<_>>(),
                "imports": record.imports,
            })
        };
        let all: Vec<Value> = records.iter().map(row).chain(rules.iter().map(kept)).collect();
        return Ok(Presenter::json(&all)?);
    }
    if records.is_empty() && rules.is_empty() {
        return Ok(presenter.line("you have not been asked about any repository yet")?);
    }
    let mut rows: Vec<Vec<String>> = records
        .iter()
        .map(|(root, record)| {
            let verdict = match record.verdict {
                TrustDecision::Trusted => "trusted",
                TrustDecision::Declined => "not trusted",
            };
            let things = record.things.len() + record.imports.len();
            let at = record.at.strftime("%Y-%m-%d").to_string();
            vec![
                verdict.to_owned(),
                at,
                counted(things as u64, "thing"),
                root.display().to_string(),
            ]
        })
        .collect();
    for (root, rules) in &rules {
        let rule = |rule: &String| {
            vec!["allowed".into(), String::new(), rule.clone(), root.display().to_string()]
        };
        rows.extend(rules.iter().map(rule));
    }
    Ok(presenter.table(&rows)?)
}

/// What a person should know before a conversation: what is off, and why.
pub(crate) fn note(trust: &Trust) -> Option<String> {
    let off = matches!(
        trust.standing(),
        TrustState::Unknown | TrustState::Declined | TrustState::Changed { .. }
    );
    if !off || trust.things().is_empty() {
        return None;
    }
    let kinds: BTreeSet<&str> = trust.things().iter().map(|thing| thing.kind.as_str()).collect();
    let kinds = kinds.into_iter().collect::<Vec<_>>().join(", ");
    let why = match trust.standing() {
        TrustState::Changed { .. } => "they changed since you trusted them",
        _ => "it is not trusted",
    };
    Some(format!(
        "{kinds} in this repository are off: {why}; `everfold trust --dry-run` shows them, \
         `everfold trust` turns them on"
    ))
}
