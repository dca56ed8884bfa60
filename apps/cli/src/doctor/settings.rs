//! Settings that do nothing, or not what they say (C4, S2, Q6).

use super::{Finding, Severity};
use everfold_agent::Agent;
use everfold_kernel::ModelId;
use everfold_kernel::settings::ProviderKind;

const AREA: &str = "settings";

/// Looks through the settings.
pub(super) fn look(agent: &Agent) -> Vec<Finding> {
    let resolved = agent.settings();
    let mut findings = Vec::new();
    for broken in &resolved.passed_over {
        let fix = "fix it there; conversations do not start until then";
        findings.push(Finding::new(Severity::Error, AREA, broken).fix(fix));
    }
    for problem in &resolved.problems {
        findings.push(Finding::new(Severity::Warning, AREA, problem));
    }
    for (pointer, origin) in &resolved.unknown {
        let key = dotted(pointer);
        let message = format!("unknown setting {key} ({origin})");
        let fix = "remove it or correct its name; `everfold config --schema` has every key";
        findings.push(Finding::new(Severity::Warning, AREA, message).fix(fix));
    }
    for refused in &resolved.refused {
        let key = dotted(&refused.pointer);
        let message = format!("{key} was not applied ({}): {}", refused.origin, refused.reason);
        let own = agent.home().settings();
        let fix = if refused.opens_with_trust() {
            format!("`everfold trust` applies it; or set {key} in {}", own.display())
        } else {
            format!("if you want it, set {key} in {}", own.display())
        };
        findings.push(Finding::new(Severity::Warning, AREA, message).fix(fix));
    }
    for broken in agent.start().broken_rules() {
        let fix = "write rules as Tool, Bash(words:*), Edit(glob) or WebFetch(domain:host)";
        findings.push(Finding::new(Severity::Warning, AREA, broken.to_string()).fix(fix));
    }
    if agent.provider().kind != ProviderKind::Offline {
        findings.extend(models(agent));
    }
    findings
}

fn models(agent: &Agent) -> Vec<Finding> {
    let config = agent.config();
    let mut names: Vec<&ModelId> = vec![&config.models.model, &config.models.small];
    names.extend(&config.models.fallback);
    names.dedup();
    let mut findings = Vec::new();
    for model in names {
        let spec = config.models.table.spec(model);
        if spec.window.is_none() {
            let message = format!("unknown model {model}; its window is a guess");
            let fix = format!("set everfold.models.\"{model}\".window, or correct the name");
            findings.push(Finding::new(Severity::Warning, "model", message).fix(fix));
        }
        if spec.prices.is_none() {
            let message = format!("the model {model} has no price; its cost is not counted");
            let fix = format!("set everfold.prices.\"{model}\" (USD per million tokens)");
            findings.push(Finding::new(Severity::Info, "model", message).fix(fix));
        }
    }
    findings
}

pub(crate) fn dotted(pointer: &str) -> String {
    pointer.trim_start_matches('/').replace('/', ".").replace("~1", "/").replace("~0", "~")
}
