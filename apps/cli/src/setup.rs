//! From the process and the command line to an agent. The only place that
//! reads the environment.

use crate::args::{Choices, Talk, split_rules};
use crate::failure::Usage;
use crate::presenter::counted;
use crate::presenter::{Presenter, TextStyle};
use crate::trust;
use anyhow::{Context, Result};
use everfold_agent::engine::permit::{Places, Rule};
use everfold_agent::settings::{Extra, Refused};
use everfold_agent::{Agent, Builder, Session};
use everfold_kernel::ports::{AgentName, Approver, Respondent};
use everfold_kernel::settings::{ProviderKind, Surface};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

/// What the process was started with.
#[derive(Clone, Debug)]
pub(crate) struct ProcessEnv {
    pub(crate) variables: BTreeMap<String, String>,
    /// The person's home directory.
    pub(crate) user_home: Option<PathBuf>,
}

impl ProcessEnv {
    /// Reads the environment. What is not UTF-8 in it is replaced.
    pub(crate) fn of_process() -> Self {
        let lossy = |text: std::ffi::OsString| text.to_string_lossy().into_owned();
        let variables: BTreeMap<String, String> =
            std::env::vars_os().map(|(name, value)| (lossy(name), lossy(value))).collect();
        let user_home = ["HOME", "USERPROFILE"]
            .into_iter()
            .find_map(|name| std::env::var_os(name).filter(|home| !home.is_empty()))
            .map(PathBuf::from);
        Self { variables, user_home }
    }

    /// Whether the environment asks for what `--bare` does.
    pub(crate) fn is_simple(&self) -> bool {
        let value = self.variables.get(everfold_kernel::env::SIMPLE);
        value.is_some_and(|value| !matches!(value.trim(), "" | "0" | "false"))
    }
}

/// An agent for a conversation.
pub(crate) async fn for_talk(
    env: &ProcessEnv,
    talk: &Talk,
    surface: Surface,
    approver: Arc<dyn Approver>,
    respondent: Option<Arc<dyn Respondent>>,
) -> Result<Agent> {
    let entrypoint = match surface {
        Surface::Interactive => "cli",
        Surface::Headless => "sdk-cli",
    };
    let mut builder =
        builder(env, &talk.choices)?.surface(surface).approver(approver).entrypoint(entrypoint);
    if let Some(respondent) = respondent {
        builder = builder.respondent(respondent);
    }
    if let Some(text) = &talk.append_system_prompt {
        builder = builder.append_system_prompt(text);
    }
    if let (Some(team), Some(name)) = (&talk.crew.team, &talk.crew.agent_name) {
        let parse = |flag: &str, text: &str| {
            let hint = format!("choose another name for {flag}");
            AgentName::parse(text).map_err(|error| Usage::new(error.to_string(), hint))
        };
        builder = builder.team(parse("--team", team)?, parse("--agent-name", name)?);
    }
    if let Some(text) = &talk.crew.agents {
        let hint = "write {\"name\": {\"description\": \"…\", \"prompt\": \"…\"}}";
        let refused = |why: String| Usage::new(format!("--agents cannot be used: {why}"), hint);
        let kinds = serde_json::from_str(text).map_err(|error| refused(error.to_string()))?;
        builder = builder.agents(&kinds).map_err(|error| refused(error.to_string()))?;
    }
    if talk.crew.coordinator {
        builder = builder.coordinator();
    }
    if let Some(turns) = talk.max_turns {
        builder = builder.max_turns(turns);
    }
    if talk.bare {
        builder = builder.set("--bare", "/autoMemoryEnabled", false).set(
            "--bare",
            "/autoDreamEnabled",
            false,
        );
        builder = builder.without_instructions().without_setups();
    }
    // What an agent is made of is large; futures that wait for it need not be.
    let agent = Box::pin(builder.build()).await?;
    refuse_broken_denials(&agent)?;
    if !talk.which.private {
        agent.tidy_in_background();
    }
    Ok(agent)
}

/// An agent that only looks at what is there. Settings that are broken are
/// told, and stop nothing (S14).
pub(crate) async fn for_looking(env: &ProcessEnv, choices: &Choices) -> Result<Agent> {
    let agent = for_diagnosis(env, choices).await?;
    let presenter = Presenter::new(&env.variables);
    let resolved = agent.settings();
    for problem in resolved.passed_over.iter().chain(&resolved.problems) {
        presenter.note(TextStyle::Yellow, problem);
    }
    Ok(agent)
}

/// The same for who tells of what is broken by itself.
pub(crate) async fn for_diagnosis(env: &ProcessEnv, choices: &Choices) -> Result<Agent> {
    Ok(Box::pin(builder(env, choices)?.only_looking().build()).await?)
}

/// An agent for work that no conversation is about.
pub(crate) async fn for_work(env: &ProcessEnv, choices: &Choices) -> Result<Agent> {
    Ok(Box::pin(builder(env, choices)?.build()).await?)
}

/// The start of an agent, by the flags that settings can say too.
pub(crate) fn builder(env: &ProcessEnv, choices: &Choices) -> Result<Builder> {
    let cwd = std::env::current_dir().context("the current directory cannot be used").map_err(
        |error| Usage::new(format!("{error:#}"), "change to an existing directory that you own"),
    )?;
    let mut builder = Agent::builder(cwd).environment(env.variables.clone(), env.user_home.clone());
    let texts = [
        ("--model", "/model", &choices.model),
        ("--small-model", "/everfold/small_model", &choices.small_model),
        ("--fallback-model", "/everfold/fallback_model", &choices.fallback_model),
    ];
    for (flag, pointer, value) in texts {
        if let Some(value) = value {
            builder = builder.set(flag, pointer, value.as_str());
        }
    }
    if choices.lean {
        builder = builder.set("--lean", "/everfold/lean", true);
    }
    if let Some(mode) = choices.permission_mode {
        builder = builder.set("--permission-mode", "/permissions/defaultMode", mode.as_str());
    }
    let lists = [
        ("--allowed-tools", "/permissions/allow", &choices.allowed_tools),
        ("--disallowed-tools", "/permissions/deny", &choices.disallowed_tools),
    ];
    for (flag, pointer, values) in lists {
        let rules: Vec<String> = values.iter().flat_map(|value| split_rules(value)).collect();
        if !rules.is_empty() {
            builder = builder.set(flag, pointer, rules);
        }
    }
    if let Some(extra) = &choices.settings {
        builder = builder.settings(Extra::parse(extra));
    }
    for directory in &choices.add_dir {
        builder = builder.directory(directory);
    }
    for folder in &choices.plugin_dir {
        builder = builder.plugin(folder);
    }
    Ok(builder)
}

/// What a person should know of an agent that has no model behind it (Q8).
pub(crate) fn offline_notice(agent: &Agent) -> Option<String> {
    let choice = agent.provider();
    (choice.kind == ProviderKind::Offline).then(|| {
        format!(
            "{}; answers come from fixed rules, not a language model. Set ANTHROPIC_API_KEY or \
             OPENAI_BASE_URL to use one",
            choice.reason
        )
    })
}

/// What a person should know of the settings before a conversation.
pub(crate) fn notes(agent: &Agent, session: &Session) -> Vec<String> {
    let mut notes: Vec<String> = session.broken_rules().iter().map(ToString::to_string).collect();
    notes.extend(trust::note(agent.trust()));
    notes.extend(agent.team().and_then(|team| team.trouble()));
    notes.extend(agent.settings().problems.iter().cloned());
    notes.extend(agent.plugins().problems.iter().cloned());
    let is_never = |refused: &&Refused| !refused.opens_with_trust();
    let refused = agent.settings().refused.iter().filter(is_never).count();
    if refused > 0 {
        notes.push(format!(
            "{} not applied, most likely from this repository; `everfold doctor` says \
             which and why",
            counted(refused as u64, "setting")
        ));
    }
    notes
}

/// The model that answers, as a person should see it.
pub(crate) fn model_name(agent: &Agent, session: &Session) -> String {
    match agent.provider().kind {
        ProviderKind::Offline => "offline".to_owned(),
        _ => session.model().to_string(),
    }
}

/// A rule that denies and cannot be read would be left out, and what it
/// denies would be allowed. That is no way to start.
fn refuse_broken_denials(agent: &Agent) -> Result<()> {
    let config = agent.config();
    let places = Places {
        roots: config.workplace.roots.clone(),
        home: config.workplace.user_home.clone(),
        ..Places::default()
    };
    for rule in &config.permissions.rules.deny {
        if let Err(error) = Rule::parse(rule, &places) {
            let message = format!("a deny rule is invalid: {error}");
            let hint = "fix it under permissions.deny or in --disallowed-tools";
            return Err(Usage::new(message, hint).into());
        }
    }
    Ok(())
}
