//! Who answers (C5, Q8): provider, key, address, models.
//!
//! Keys come from the environment or from a key command (S5). The command is
//! named here and run by the provider adapter.

use crate::environment::{Variables, get};
use crate::error::Error;
use crate::resolved::Resolved;
use everfold_kernel::settings::{
    ANTHROPIC_URL, DEFAULT_MODEL, DEFAULT_SMALL_MODEL, OPENAI_URL, ProviderKind,
};
use everfold_kernel::window::{Overrides, WindowRank};
use everfold_kernel::{ModelId, Secret, env};
use reqwest::Url;
use reqwest::header::{HeaderName, HeaderValue};
use std::collections::BTreeMap;

/// The version of the Messages API that is spoken.
pub const ANTHROPIC_VERSION: &str = "2023-06-01";

/// The provider that answers, and how it is reached.
#[derive(Clone, Debug, PartialEq)]
pub struct ProviderChoice {
    pub kind: ProviderKind,
    /// The base address, without a slash at its end; none offline.
    pub base_url: Option<String>,
    pub key: KeySetting,
    /// How the key is sent.
    pub auth: AuthStyle,
    /// Headers sent with every request, names in lower case.
    pub headers: BTreeMap<String, Secret>,
    /// Betas sent with every request.
    pub betas: Vec<String>,
    /// The `anthropic-version` header.
    pub anthropic_version: String,
    /// Why this one, in a line for people.
    pub reason: String,
}

impl ProviderChoice {
    /// Nobody answers, for this reason.
    #[must_use]
    pub fn offline(reason: &str) -> Self {
        Self {
            kind: ProviderKind::Offline,
            base_url: None,
            key: KeySetting::None,
            auth: AuthStyle::None,
            headers: BTreeMap::new(),
            betas: Vec::new(),
            anthropic_version: ANTHROPIC_VERSION.to_owned(),
            reason: reason.to_owned(),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeySetting {
    /// There is none, and none is sent.
    None,
    /// This variable held it.
    Variable { name: &'static str, value: Secret },
    /// This command prints it.
    Command(String),
}

/// How a key is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuthStyle {
    /// Not at all.
    None,
    /// As `x-api-key`.
    ApiKey,
    /// As `Authorization: Bearer`.
    Bearer,
    /// Both ways: whoever wrote the command knows which one counts.
    Both,
}

/// The models that are asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Models {
    /// The model of the conversation.
    pub main: ModelId,
    /// The model of side queries.
    pub small: ModelId,
    /// The model that answers when the first is overloaded.
    pub fallback: Option<ModelId>,
}

/// Chooses the provider: the one that is named, else by the keys and addresses
/// that are there, else offline.
///
/// # Errors
/// [`Error::Address`] or [`Error::Header`] for what cannot be used.
pub fn choose(resolved: &Resolved, variables: &Variables) -> Result<ProviderChoice, Error> {
    let (kind, why) = kind(resolved, variables);
    let (key, auth) = key(kind, resolved, variables);
    let keyed = match &key {
        KeySetting::None => "no key".to_owned(),
        KeySetting::Variable { name, .. } => format!("key from {name}"),
        KeySetting::Command(_) => "key from apiKeyHelper".to_owned(),
    };
    let reason = match kind {
        ProviderKind::Offline => format!("{why}: offline"),
        _ => format!("{why}: {}, {keyed}", kind.as_str()),
    };
    let own = &resolved.settings.everfold.provider;
    Ok(ProviderChoice {
        kind,
        base_url: base_url(kind, resolved, variables)?,
        key,
        auth,
        headers: headers(kind, resolved, variables)?,
        betas: betas(resolved, variables),
        anthropic_version: own
            .anthropic_version
            .clone()
            .unwrap_or_else(|| ANTHROPIC_VERSION.to_owned()),
        reason,
    })
}

fn kind(resolved: &Resolved, variables: &Variables) -> (ProviderKind, String) {
    if let Some(kind) = resolved.settings.everfold.provider.kind {
        let origin = resolved.origin("/everfold/provider/kind");
        return (kind, format!("asked for by {origin}"));
    }
    let found = |names: &[&'static str]| {
        let mut set = names.iter().copied();
        set.find(|name| get(variables, name).is_some())
    };
    if let Some(name) = found(&[env::ANTHROPIC_AUTH_TOKEN, env::ANTHROPIC_API_KEY]) {
        return (ProviderKind::Anthropic, format!("{name} is set"));
    }
    if resolved.settings.api_key_helper.is_some() {
        return (ProviderKind::Anthropic, "apiKeyHelper is set".to_owned());
    }
    // A gateway on this machine may need no key.
    if let Some(name) = found(&[env::ANTHROPIC_BASE_URL]) {
        return (ProviderKind::Anthropic, format!("{name} is set"));
    }
    if let Some(name) = found(&[env::OPENAI_API_KEY, env::OPENAI_BASE_URL]) {
        return (ProviderKind::OpenAi, format!("{name} is set"));
    }
    if resolved.settings.everfold.provider.base_url.is_some() {
        let why = "everfold.provider.base_url is set".to_owned();
        return (ProviderKind::Anthropic, why);
    }
    (ProviderKind::Offline, "no key found".to_owned())
}

fn key(kind: ProviderKind, resolved: &Resolved, variables: &Variables) -> (KeySetting, AuthStyle) {
    let from = |name: &'static str, style: AuthStyle| {
        let value = Secret::new(get(variables, name)?);
        Some((KeySetting::Variable { name, value }, style))
    };
    let helper = resolved.settings.api_key_helper.clone();
    let managed = resolved.origin("/apiKeyHelper").beats_environment();
    let (by_variable, style) = match kind {
        ProviderKind::Anthropic => (
            from(env::ANTHROPIC_AUTH_TOKEN, AuthStyle::Bearer)
                .or_else(|| from(env::ANTHROPIC_API_KEY, AuthStyle::ApiKey)),
            AuthStyle::Both,
        ),
        ProviderKind::OpenAi => (from(env::OPENAI_API_KEY, AuthStyle::Bearer), AuthStyle::Bearer),
        ProviderKind::Offline => return (KeySetting::None, AuthStyle::None),
    };
    match (by_variable, helper) {
        (Some(key), helper) if helper.is_none() || !managed => key,
        (_, Some(command)) => (KeySetting::Command(command), style),
        (_, None) => (KeySetting::None, AuthStyle::None),
    }
}

fn base_url(
    kind: ProviderKind,
    resolved: &Resolved,
    variables: &Variables,
) -> Result<Option<String>, Error> {
    let (variable, default) = match kind {
        ProviderKind::Anthropic => (env::ANTHROPIC_BASE_URL, ANTHROPIC_URL),
        ProviderKind::OpenAi => (env::OPENAI_BASE_URL, OPENAI_URL),
        ProviderKind::Offline => return Ok(None),
    };
    let pointer = "/everfold/provider/base_url";
    let set = resolved.settings.everfold.provider.base_url.as_deref();
    let by_variable = get(variables, variable);
    let (url, from) = match (by_variable, set) {
        (Some(url), None) => (url, variable),
        (Some(url), Some(_)) if !resolved.origin(pointer).beats_environment() => (url, variable),
        (_, Some(url)) => (url, "everfold.provider.base_url"),
        (None, None) => (default, "the default"),
    };
    web_address(url, from)?;
    Ok(Some(url.trim_end_matches('/').to_owned()))
}

/// A web address, checked.
pub(crate) fn web_address(url: &str, from: &str) -> Result<Url, Error> {
    let wrong = |reason: String| Error::Address { from: from.to_owned(), reason };
    let parsed = Url::parse(url).map_err(|error| wrong(error.to_string()))?;
    if matches!(parsed.scheme(), "http" | "https") {
        Ok(parsed)
    } else {
        Err(wrong(format!("it starts with {}:", parsed.scheme())))
    }
}

fn headers(
    kind: ProviderKind,
    resolved: &Resolved,
    variables: &Variables,
) -> Result<BTreeMap<String, Secret>, Error> {
    let lines = match kind {
        ProviderKind::Anthropic => get(variables, env::ANTHROPIC_CUSTOM_HEADERS),
        ProviderKind::OpenAi | ProviderKind::Offline => None,
    };
    let mut headers = BTreeMap::new();
    for (index, line) in lines.unwrap_or_default().lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        header(&mut headers, name, value, env::ANTHROPIC_CUSTOM_HEADERS, index)?;
    }
    let set = &resolved.settings.everfold.provider.headers;
    for (index, (name, value)) in set.iter().enumerate() {
        let pointer = crate::origin::child("/everfold/provider/headers", name);
        let wins = resolved.origin(&pointer).beats_environment();
        if wins || !headers.contains_key(&name.trim().to_ascii_lowercase()) {
            header(&mut headers, name, value, "everfold.provider.headers", index)?;
        }
    }
    Ok(headers)
}

fn header(
    headers: &mut BTreeMap<String, Secret>,
    name: &str,
    value: &str,
    from: &str,
    index: usize,
) -> Result<(), Error> {
    let (name, value) = (name.trim(), value.trim());
    match (name.parse::<HeaderName>(), HeaderValue::from_str(value)) {
        (Ok(name), Ok(_)) if !value.is_empty() => {
            headers.insert(name.as_str().to_owned(), Secret::new(value));
            Ok(())
        }
        _ => Err(Error::Header { from: from.to_owned(), number: index + 1 }),
    }
}

fn betas(resolved: &Resolved, variables: &Variables) -> Vec<String> {
    let named = get(variables, env::ANTHROPIC_BETAS).unwrap_or_default();
    let mut betas: Vec<String> = Vec::new();
    let set = resolved.settings.everfold.provider.betas.iter();
    for beta in set.map(String::as_str).chain(named.split(',')) {
        let beta = beta.trim();
        if !beta.is_empty() && !betas.iter().any(|known| known == beta) {
            betas.push(beta.to_owned());
        }
    }
    betas
}

/// The models that are asked. A server that is not Anthropic's has no model of
/// the default's name for side queries, so the main one answers those too.
#[must_use]
pub fn models(resolved: &Resolved, kind: ProviderKind) -> Models {
    let settings = &resolved.settings;
    let main = settings.model.as_deref().unwrap_or(DEFAULT_MODEL);
    let small = match (settings.everfold.small_model.as_deref(), kind) {
        (Some(small), _) => small,
        (None, ProviderKind::OpenAi) => main,
        (None, ProviderKind::Anthropic | ProviderKind::Offline) => DEFAULT_SMALL_MODEL,
    };
    Models {
        main: ModelId::new(main),
        small: ModelId::new(small),
        fallback: settings.everfold.fallback_model.as_ref().map(ModelId::new),
    }
}

/// What a person set about the window (T3, T5).
#[must_use]
pub fn window_overrides(resolved: &Resolved, kind: ProviderKind) -> Overrides {
    Overrides {
        window: resolved.ambient.context_window,
        rank: match kind {
            ProviderKind::OpenAi => WindowRank::Environment,
            ProviderKind::Anthropic | ProviderKind::Offline => WindowRank::Table,
        },
        auto_compact_window: resolved.settings.auto_compact_window,
        auto_compact_percent: resolved.settings.everfold.auto_compact_percent,
    }
}
