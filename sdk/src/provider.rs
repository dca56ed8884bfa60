//! From the provider that settings choose to one that answers.

use crate::error::Error;
use everfold_engine::ModelChoice;
use everfold_kernel::ports::Model;
use everfold_kernel::settings::ProviderKind;
use everfold_kernel::{Limits, Secret};
use everfold_provider::{AnthropicProvider, Auth, Offline, OpenAiProvider, ProviderConfig, key};
use everfold_settings::provider::{AuthStyle, KeySetting, ProviderChoice};
use everfold_settings::{Resolved, ValueOrigin};
use everfold_wire::anthropic::Version;
use std::sync::Arc;
use std::time::Duration;

/// How long a key command may take.
const KEY_COMMAND_TIME: Duration = Duration::from_secs(10);

/// A provider and the key it uses.
pub(crate) struct Made {
    pub(crate) model: Arc<dyn Model>,
    pub(crate) key: Option<Secret>,
}

impl Made {
    /// One that is not asked for anything.
    pub(crate) fn none() -> Self {
        Self { model: Arc::new(Offline::new()), key: None }
    }
}

/// Makes the provider that was chosen.
pub(crate) async fn make(choice: &ProviderChoice, limits: &Limits) -> Result<Made, Error> {
    if choice.kind == ProviderKind::Offline {
        return Ok(Made::none());
    }
    let (key, hint) = resolve_key(&choice.key).await?;
    let config = ProviderConfig {
        base_url: choice.base_url.clone().unwrap_or_default(),
        key: key.clone(),
        auth: auth(choice.auth),
        key_hint: hint,
        anthropic_version: Version::by_name(&choice.anthropic_version).unwrap_or_default(),
        headers: choice.headers.iter().map(|(n, v)| (n.clone(), v.clone())).collect(),
        betas: choice.betas.clone(),
        limits: limits.clone(),
    };
    let model: Arc<dyn Model> = match choice.kind {
        ProviderKind::OpenAi => Arc::new(OpenAiProvider::new(&config)?),
        _ => Arc::new(AnthropicProvider::new(&config)?),
    };
    Ok(Made { model, key })
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
