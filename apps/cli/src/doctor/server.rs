//! A server of one's own: what it has, and what of it is used (Q15).

use super::{Finding, Severity};
use everfold_agent::Agent;
use everfold_agent::model_server::{Served, ServerKind};

const AREA: &str = "server";

/// What was found at its address.
pub(super) async fn look(agent: &Agent) -> Vec<Finding> {
    let url = agent.provider().base_url.clone().unwrap_or_default();
    let served = match agent.ask_server().await {
        Ok(Some(served)) => served,
        Ok(None) => return Vec::new(),
        Err(error) => return vec![Finding::new(Severity::Error, AREA, error.to_string())],
    };
    if let Some(why) = &served.absent {
        let fix = "start the server, or correct OPENAI_BASE_URL; for Ollama it is \
            http://localhost:11434/v1";
        return vec![Finding::new(Severity::Warning, AREA, why.clone()).fix(fix)];
    }
    let mut findings = vec![Finding::new(Severity::Info, AREA, told(&served, &url))];
    findings.extend(choice(agent, &served));
    findings
}

/// What the server said, in a line.
fn told(served: &Served, url: &str) -> String {
    let models: Vec<String> = served
        .models
        .iter()
        .map(|model| match model.window {
            Some(window) => format!("{} ({window} tokens)", model.id),
            None => model.id.clone(),
        })
        .collect();
    let slots = match served.slots {
        Some(1) => "; it answers one request at a time".to_owned(),
        Some(slots) => format!("; it answers {slots} requests at a time"),
        None => String::new(),
    };
    if models.is_empty() {
        return format!("{url} does not say which models it has");
    }
    format!("{} at {url} has {}{slots}", served.kind.name(), models.join(", "))
}

/// What is wrong with the model that would be asked.
fn choice(agent: &Agent, served: &Served) -> Option<Finding> {
    let named = agent.settings().settings.model.clone();
    let warn = |message: String| Finding::new(Severity::Warning, AREA, message);
    let model = match (&named, served.only_model()) {
        (Some(named), _) => named.clone(),
        (None, Some(only)) => only.to_owned(),
        (None, None) if served.models.is_empty() => return None,
        (None, None) => {
            let message = "none of its models is selected".to_owned();
            return Some(warn(message).fix("use --model NAME, or set \"model\" in your settings"));
        }
    };
    let known = served.models.iter().find(|own| own.id == model);
    match known {
        None if !served.models.is_empty() => {
            let message = format!("it has no model {model}");
            Some(warn(message).fix("use --model with one of those above"))
        }
        Some(own) if own.window.is_none() => {
            let message = format!("the window of {model} is unknown");
            let fix = match served.kind {
                ServerKind::Ollama => "set OLLAMA_CONTEXT_LENGTH where Ollama runs",
                _ => "set EVERFOLD_CONTEXT_WINDOW to what the server was started with",
            };
            Some(warn(message).fix(fix))
        }
        _ => None,
    }
}
