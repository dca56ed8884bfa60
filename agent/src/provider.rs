//! From the provider that settings choose to one that answers.

use crate::error::Error;
use crate::model_server::{self, Attentive, Keep, Served, ServerKind};
use everfold_engine::ModelChoice;
use everfold_kernel::ports::Model;
use everfold_kernel::settings::ProviderKind;
use everfold_kernel::{Limits, Secret};
use everfold_provider::{
    AnthropicProvider, Auth, Offline, OpenAiProvider, Progress, ProviderConfig, key,
};
use everfold_settings::provider::{AuthStyle, KeySetting, ProviderChoice};
use everfold_settings::{Resolved, ValueOrigin};
use everfold_wire::anthropic::Version;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// How long a key command may take.
const KEY_COMMAND_TIME: Duration = Duration::from_secs(10);

/// A provider and the key it uses.
pub(crate) struct Made {
    pub(crate) model: Arc<dyn Model>,
    pub(crate) key: Option<Secret>,
    /// What a server of one's own has.
    pub(crate) served: Served,
}

impl Made {
    /// A model that somebody else made.
    pub(crate) fn of(model: Arc<dyn Model>) -> Self {
        Self { model, key: None, served: Served::default() }
    }

    /// One that is not asked for anything.
    pub(crate) fn none() -> Self {
        Self::of(Arc::new(Offline::new()))
    }
}

/// Makes the provider that was chosen. A server of one's own is asked what it
/// has; `model` is the one that a person named.
pub(crate) async fn make(
    choice: &ProviderChoice,
    limits: &Limits,
    home: &Path,
    model: Option<&str>,
) -> Result<Made, Error> {
    if choice.kind == ProviderKind::Offline {
        return Ok(Made::none());
    }
    let (key, hint) = resolve_key(&choice.key).await?;
    let config = settings_of(choice, limits, key.clone(), hint);
    if choice.kind != ProviderKind::OpenAi {
        let model = Arc::new(AnthropicProvider::new(&config)?);
        return Ok(Made { key, ..Made::of(model) });
    }
    let served = model_server::look(&config, home, model, Keep::Yes).await?;
    let progress = match served.kind {
        ServerKind::LlamaCpp => Progress::Asked,
        _ => Progress::Unasked,
    };
    let model = Arc::new(OpenAiProvider::new(&config, progress)?);
    let model = Arc::new(Attentive::new(model, &config.base_url, home));
    Ok(Made { model, key, served })
}

/// What a server of one's own has, for whoever only looks: no key command is
/// run, and nothing is written.
pub(crate) async fn served(
    choice: &ProviderChoice,
    limits: &Limits,
    home: &Path,
    model: Option<&str>,
) -> Result<Option<Served>, Error> {
    if choice.kind != ProviderKind::OpenAi {
        return Ok(None);
    }
    let (key, hint) = match &choice.key {
        KeySetting::Command(_) => (None, String::new()),
        source => resolve_key(source).await?,
    };
    let config = settings_of(choice, limits, key, hint);
    Ok(Some(model_server::look(&config, home, model, Keep::No).await?))
}

fn settings_of(
    choice: &ProviderChoice,
    limits: &Limits,
    key: Option<Secret>,
    key_hint: String,
) -> ProviderConfig {
    ProviderConfig {
        base_url: choice.base_url.clone().unwrap_or_default(),
        key,
        auth: auth(choice.auth),
        key_hint,
        anthropic_version: Version::by_name(&choice.anthropic_version).unwrap_or_default(),
        headers: choice.headers.iter().map(|(n, v)| (n.clone(), v.clone())).collect(),
        betas: choice.betas.clone(),
        limits: limits.clone(),
    }
}

async fn resolve_key(source: &KeySetting) -> Result<(Option<Secret>, String), Error> {
    Ok(match source {
        KeySetting::None => (None, "ANTHROPIC_API_KEY or OPENAI_API_KEY".to_owned()),
        KeySetting::Variable { name, value } => (Some(value.clone()), (*name).to_owned()),
        KeySetting::Command(command) => {
            let source = key::KeySource::Command(command.clone());
            let key = key::resolve_key(&source, KEY_COMMAND_TIME).await?;
            (Some(key), "apiKeyHelper".to_owned())
        }
    })
}

fn auth(style: AuthStyle) -> Auth {
    match style {
        AuthStyle::ApiKey | AuthStyle::None => Auth::ApiKey,
        AuthStyle::Bearer => Auth::Bearer,
        AuthStyle::Both => Auth::Both,
    }
}

/// Whether a person named the model.
pub(crate) fn model_choice(resolved: &Resolved) -> ModelChoice {
    match resolved.origin("/model") {
        ValueOrigin::Env(_) | ValueOrigin::Flag(_) | ValueOrigin::File(_) => ModelChoice::Named,
        _ => ModelChoice::Default,
    }
}
