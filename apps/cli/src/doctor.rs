//! `everfold doctor`: what is wrong or missing, and how to fix it.
//! It looks and changes nothing.

use crate::args::{Choices, DoctorArgs};
use crate::failure::{self, told};
use crate::presenter::{Presenter, TextStyle};
use crate::setup::{self, ProcessEnv};
use anyhow::Result;
use everfold_agent::Agent;
use everfold_kernel::settings::ProviderKind;
use everfold_tui::{Table, TableRow};
use serde::Serialize;
use std::process::ExitCode;

mod files;
mod host_versions;
mod hosts;
mod instructions;
mod memories;
mod permissions;
mod server;
pub(crate) mod settings;
mod setups;
mod waste;

/// What a finding about the platform is about.
const AREA: &str = "platform";

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
enum Severity {
    /// Nothing works before it is mended.
    Error,
    /// Something does not do what the person thinks.
    Warning,
    /// Good to know.
    Info,
}

impl Severity {
    fn shown(self) -> (TextStyle, &'static str) {
        match self {
            Self::Error => (TextStyle::Red, "error"),
            Self::Warning => (TextStyle::Yellow, "warning"),
            Self::Info => (TextStyle::Dim, "info"),
        }
    }
}

/// Something that was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Finding {
    severity: Severity,
    /// What it is about: `settings`, `permissions`, `provider`, `model`, `platform`, `files`,
    /// `hooks`, `servers`, `skills`, `plugins`, `instructions`, `memory`, `sessions`, `hosts`.
    area: &'static str,
    message: String,
    /// The command or change that mends it.
    #[serde(skip_serializing_if = "Option::is_none")]
    fix: Option<String>,
}

impl Finding {
    fn new(severity: Severity, area: &'static str, message: impl Into<String>) -> Self {
        Self { severity, area, message: message.into(), fix: None }
    }

    fn fix(mut self, fix: impl Into<String>) -> Self {
        self.fix = Some(fix.into());
        self
    }
}

/// Looks, and says what was found.
pub(crate) async fn run(
    env: &ProcessEnv,
    args: &DoctorArgs,
    presenter: &Presenter,
) -> Result<ExitCode> {
    let findings = Box::pin(findings(env, &args.choices)).await?;
    if args.json {
        Presenter::json(&findings)?;
    } else {
        show(&findings, presenter)?;
    }
    let failed = findings.iter().any(|finding| finding.severity == Severity::Error);
    Ok(if failed { ExitCode::from(failure::FAILED) } else { ExitCode::SUCCESS })
}

/// Everything that was found, the worst first.
async fn findings(env: &ProcessEnv, choices: &Choices) -> Result<Vec<Finding>> {
    let mut findings = platform(env);
    match Box::pin(setup::for_diagnosis(env, choices)).await {
        Ok(agent) => {
            findings.extend(provider(&agent));
            findings.extend(server::look(&agent).await);
            findings.extend(settings::look(&agent));
            findings.extend(permissions::look(&agent));
            findings.extend(files::look(&agent).await);
            findings.extend(memories::look(env, choices)?);
            findings.extend(Box::pin(setups::look(&agent)).await);
            findings.extend(Box::pin(instructions::look(env)).await);
            findings.extend(waste::look(&agent).await);
            findings.extend(hosts::look(env, choices));
            agent.shutdown().await;
        }
        Err(error) => {
            let told = told(&error);
            let mut finding =
                Finding::new(Severity::Error, "settings", told.message.unwrap_or_default());
            finding.fix = told.hint;
            findings.push(finding);
        }
    }
    findings.sort_by_key(|finding| finding.severity);
    Ok(findings)
}

/// The same as a list for the screen.
pub(crate) async fn table(env: &ProcessEnv, choices: &Choices) -> Result<Table> {
    let row = |finding: &Finding| {
        let (look, word) = finding.severity.shown();
        let mend = finding.fix.as_ref().map(|fix| format!("\nfix: {fix}")).unwrap_or_default();
        TableRow {
            id: finding.message.clone(),
            cells: vec![word.to_owned(), finding.area.to_owned(), finding.message.clone()],
            look,
            more: format!("{}{mend}", finding.message),
        }
    };
    let rows = Box::pin(findings(env, choices)).await?.iter().map(row).collect();
    Ok(Table { head: Vec::new(), rows, empty: "no problems found".to_owned() })
}

fn show(findings: &[Finding], presenter: &Presenter) -> Result<()> {
    for finding in findings {
        let (look, word) = finding.severity.shown();
        presenter.styled(look, word)?;
        presenter.line(&format!("  {}: {}", finding.area, finding.message))?;
        if let Some(fix) = &finding.fix {
            presenter.line(&format!("    fix: {fix}"))?;
        }
    }
    let serious = findings.iter().filter(|finding| finding.severity < Severity::Info).count();
    if serious == 0 {
        presenter.line("no problems found")?;
    }
    Ok(())
}

/// Who answers, and why.
fn provider(agent: &Agent) -> Vec<Finding> {
    let choice = agent.provider();
    let address = choice.base_url.as_deref().map(|url| format!(" at {url}")).unwrap_or_default();
    let message = format!("{}{address}", choice.reason);
    let mut finding = Finding::new(Severity::Info, "provider", message);
    if choice.kind == ProviderKind::Offline {
        finding.message.push_str("; answers come from fixed rules, not a language model");
        finding = finding.fix(
            "export ANTHROPIC_API_KEY=…, or OPENAI_BASE_URL=http://localhost:11434/v1 for a \
             local server",
        );
    }
    let mut findings = vec![finding];
    if let Some(url) = &choice.base_url
        && sends_key_in_clear(url)
    {
        let message = format!(
            "{url} is not encrypted: the key and everything you say can be read in \
                     transit"
        );
        findings.push(Finding::new(Severity::Warning, "provider", message).fix("use https://"));
    }
    findings
}

fn sends_key_in_clear(url: &str) -> bool {
    let Some(rest) = url.strip_prefix("http://") else { return false };
    let host = rest.split(['/', '?']).next().unwrap_or_default();
    !["localhost", "127.", "[::1]"].iter().any(|local| host.starts_with(local))
}

/// What this platform lacks (C7).
fn platform(env: &ProcessEnv) -> Vec<Finding> {
    let mut findings = Vec::new();
    if !cfg!(unix) {
        let message = "the Bash tool does not work on this platform yet; the other tools do";
        let fix = "use WSL if you need commands";
        findings.push(Finding::new(Severity::Warning, AREA, message).fix(fix));
        let message = "files have no permission bits here; Everfold's home is as private as its \
                       folder";
        findings.push(Finding::new(Severity::Info, AREA, message));
    } else if !has_bash(env) {
        let message = "there is no bash on the PATH; the Bash tool uses sh instead";
        findings.push(Finding::new(Severity::Warning, AREA, message).fix("install bash"));
    }
    findings
}

fn has_bash(env: &ProcessEnv) -> bool {
    let path = env.variables.get("PATH").map(String::as_str).unwrap_or_default();
    std::env::split_paths(path).any(|directory| directory.join("bash").is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s5_a_key_in_clear_is_seen() {
        assert!(sends_key_in_clear("http://gateway.example/v1"));
        assert!(!sends_key_in_clear("https://gateway.example"));
        assert!(!sends_key_in_clear("http://127.0.0.1:8080"));
        assert!(!sends_key_in_clear("http://localhost/v1"));
    }

    #[test]
    fn c7_a_missing_shell_is_told() {
        let env = ProcessEnv { variables: std::collections::BTreeMap::default(), user_home: None };
        let findings = platform(&env);
        assert!(findings.iter().any(|finding| finding.message.contains("no bash")));
    }
}
