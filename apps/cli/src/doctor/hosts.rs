//! Other agents that Everfold works beside (X10): whether their hooks are called,
//! by which program, and who reviews what is said in them.

use super::{Finding, Severity, host_versions};
use crate::args::Choices;
use crate::install::{HookState, HostSight, look_at_hosts};
use crate::presenter::counted;
use crate::setup::{self, ProcessEnv};
use everfold_agent::hosts::{Ability, Capability, Delegate, HostKind, HostService};
use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, SystemTime};

pub(super) const AREA: &str = "hosts";
const HOUR: u64 = 3_600;
const DAY: u64 = 24 * HOUR;

/// Looks at every agent that is used here.
pub(super) fn look(env: &ProcessEnv, choices: &Choices) -> Vec<Finding> {
    let service = setup::builder(env, choices).ok();
    let service = service.and_then(|builder| builder.only_looking().host_service().ok().flatten());
    let mut findings = Vec::new();
    for sight in look_at_hosts(env).into_iter().filter(|sight| sight.is_used || sight.is_installed)
    {
        let is_there = sight.is_installed || !sight.programs.is_empty() || sight.plugin.is_some();
        if !is_there {
            let message =
                format!("{} is used here, but Everfold is not installed in it", sight.host.title());
            let fix = format!("everfold install {}", sight.host.as_str());
            findings.push(Finding::new(Severity::Info, AREA, message).fix(fix));
            continue;
        }
        findings.extend(programs(&sight));
        findings.extend(host_versions::look(env, sight.host));
        findings.extend(doubled(&sight));
        findings.extend(outdated(&sight));
        findings.extend(hooks(&sight));
        findings.extend(service.as_ref().map(|service| seen(&sight, service)));
        findings.extend(service.as_ref().map(|service| reviews(&sight, service)));
        findings.push(abilities(sight.host));
    }
    findings
}

/// Programs that are gone, or are not this one.
fn programs(sight: &HostSight) -> Vec<Finding> {
    let host = sight.host.as_str();
    let own = std::env::current_exe().and_then(|path| path.canonicalize()).ok();
    let finding = |path: &Path| {
        let shown = path.display();
        let title = sight.host.title();
        let message = match path.canonicalize() {
            Err(_) => format!("{title} calls {shown}, which does not exist"),
            Ok(real) if own.as_ref() != Some(&real) => {
                format!("{title} calls {shown}, a different Everfold")
            }
            Ok(_) => return None,
        };
        let fix = format!("everfold install {host}");
        Some(Finding::new(Severity::Warning, AREA, message).fix(fix))
    };
    sight
        .programs
        .iter()
        .filter(|path| path.is_absolute())
        .filter_map(|path| finding(path))
        .collect()
}

fn outdated(sight: &HostSight) -> Option<Finding> {
    let path = sight.outdated.as_ref()?.display();
    let message =
        format!("{} loads {path}, which another version of Everfold wrote", sight.host.title());
    let fix = format!("everfold install {}", sight.host.as_str());
    Some(Finding::new(Severity::Warning, AREA, message).fix(fix))
}

fn doubled(sight: &HostSight) -> Option<Finding> {
    let plugin = sight.plugin.as_ref().filter(|_| !sight.programs.is_empty())?;
    let message = format!(
        "{} has Everfold twice: from `install`, and as the plugin {plugin}; its tools appear twice",
        sight.host.title()
    );
    let fix = format!("claude plugin uninstall {plugin}, or everfold uninstall claude");
    Some(Finding::new(Severity::Warning, AREA, message).fix(fix))
}

fn hooks(sight: &HostSight) -> Option<Finding> {
    let title = sight.host.title();
    let (message, fix) = match sight.hooks {
        HookState::On => return None,
        HookState::Off(key) => (
            format!("{title} runs no hooks because of {key}; only the tools work"),
            format!("remove {key} from its settings"),
        ),
        HookState::Untrusted => (
            format!("{title} skips Everfold's hooks until you trust them"),
            "start codex, and trust them in /hooks".to_owned(),
        ),
    };
    Some(Finding::new(Severity::Warning, AREA, message).fix(fix))
}

/// When a hook was last called.
fn seen(sight: &HostSight, service: &HostService) -> Finding {
    let title = sight.host.title();
    let ago =
        service.last_seen_in(sight.host).and_then(|at| SystemTime::now().duration_since(at).ok());
    if let Some(ago) = ago {
        let message = format!("{title} last called a hook {} ago", words(ago));
        return Finding::new(Severity::Info, AREA, message);
    }
    let message = format!("{title} has not called a hook yet");
    let fix = format!("start a new session of {title}; hooks are read at its start");
    Finding::new(Severity::Info, AREA, message).fix(fix)
}

fn words(ago: Duration) -> String {
    match ago.as_secs() {
        seconds if seconds < HOUR => counted(seconds / 60, "minute"),
        seconds if seconds < DAY => counted(seconds / HOUR, "hour"),
        seconds => counted(seconds / DAY, "day"),
    }
}

/// Who looks through what is said there.
fn reviews(sight: &HostSight, service: &HostService) -> Finding {
    let delegate = service.delegate(Some(sight.host));
    let message =
        format!("what is said in {} is reviewed by {}", sight.host.title(), delegate.words());
    match delegate {
        Delegate::Rules => {
            let fix =
                "set a key, or everfold.memory.host_review to auto with its program in the PATH";
            Finding::new(Severity::Warning, AREA, message).fix(fix)
        }
        _ => Finding::new(Severity::Info, AREA, message),
    }
}

/// What the host lets us do: its column of the table in the guide.
fn abilities(host: HostKind) -> Finding {
    let (mut can, mut cannot) = (Vec::new(), Vec::new());
    for what in Capability::ALL {
        match host.can(what) {
            Ability::Yes => can.push(what.words().to_owned()),
            Ability::Partly(how) => can.push(format!("{} ({how})", what.words())),
            Ability::No => cannot.push(what.words()),
        }
    }
    let mut message = format!("{} supports: {}", host.title(), can.join(", "));
    if !cannot.is_empty() {
        let _ = write!(message, "; it does not support: {}", cannot.join(", "));
    }
    Finding::new(Severity::Info, AREA, message)
}
