//! Which provider, and what it offers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Which provider, and where it is. A repository's is not taken over.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Provider {
    /// The kind; unset, it follows from the keys that are there.
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
    /// is the same for everybody is marked as shareable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_scopes: Option<bool>,
    /// Whether it says why a prompt was not read from its cache when asked to
    /// (`diagnostics`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_diagnostics: Option<bool>,
    /// How many requests it answers at once; unset, as many as come. With one,
    /// work in the background waits until nobody else asks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slots: Option<u32>,
    /// Whether it searches the web when a model asks it to (Q14). Unset,
    /// Anthropic's own API is asked to, and nothing else; a rule that denies
    /// `WebSearch` takes it away.
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
