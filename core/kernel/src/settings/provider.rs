//! Which provider, and what it offers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Which provider, and where it is. Ignored in a repository.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Provider {
    /// The kind; unset, the keys that are set decide.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<ProviderKind>,
    /// The base URL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    /// The `anthropic-version` header.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub anthropic_version: Option<String>,
    /// Headers sent with every request.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// Betas sent with every request.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub betas: Vec<String>,
    /// Whether it clears old results itself when asked to (`context_management`);
    /// the flag `prune_api` asks it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_management: Option<bool>,
    /// Whether it takes `cache_edits` blocks, which no public API documents;
    /// the flag `prune_cache_edit` sends them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_edits: Option<bool>,
    /// Whether its cache knows scopes, which no public API documents: then what
    /// is the same for everyone is marked as shareable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_scopes: Option<bool>,
    /// Whether it says why a prompt was not read from its cache when asked to
    /// (`diagnostics`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_diagnostics: Option<bool>,
    /// How many requests it answers at once; unset, unlimited. With one, background work waits
    /// until the server is idle.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slots: Option<u32>,
    /// Whether it searches the web when a model asks it to (Q14). Unset, only Anthropic's own API
    /// does; a rule that denies `WebSearch` turns it off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub web_search: Option<bool>,
}

/// Kinds of providers (Q8).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ProviderKind {
    /// Anthropic's Messages API.
    Anthropic,
    /// A server that speaks OpenAI's chat completions.
    OpenAi,
    /// No model: answers by rule.
    Offline,
}

impl ProviderKind {
    /// The name in settings and environment.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::OpenAi => "openai",
            Self::Offline => "offline",
        }
    }

    /// The kind of this name.
    #[must_use]
    pub fn by_name(name: &str) -> Option<Self> {
        [Self::Anthropic, Self::OpenAi, Self::Offline]
            .into_iter()
            .find(|kind| kind.as_str() == name)
    }
}
