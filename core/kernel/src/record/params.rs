//! How every request of a conversation is made.

use super::{CacheTtl, Dialect};
use crate::ids::ModelId;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The parameters of a request that every request of a conversation repeats.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Params {
    /// The form of requests.
    #[serde(default)]
    pub dialect: Dialect,
    /// The model, as a person named it; a `[1m]` suffix is not sent.
    pub model: ModelId,
    /// Most tokens of one answer.
    pub max_tokens: u64,
    /// The `thinking` parameter, as it is sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinking: Option<Value>,
    /// The effort asked for (`output_config.effort`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<String>,
    /// The JSON schema that answers have to follow, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<Value>,
    /// Beta names, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub betas: Vec<String>,
    /// How long cached prefixes live; none where caching is off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<CacheTtl>,
    /// What the server is asked to clear by itself (`context_management`, L2.4).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_management: Option<Value>,
    /// Whether the model takes pictures and documents.
    #[serde(default, skip_serializing_if = "Pictures::are_taken")]
    pub pictures: Pictures,
    /// How tools are declared and called.
    #[serde(default, skip_serializing_if = "CallForm::is_declared")]
    pub calls: CallForm,
    /// How words are chosen.
    #[serde(default, skip_serializing_if = "Sampling::is_usual")]
    pub sampling: Sampling,
    /// Whether the answer is streamed.
    #[serde(default, skip_serializing_if = "Delivery::is_streamed")]
    pub delivery: Delivery,
}

/// How an answer is sent: it is no part of the prompt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Delivery {
    /// Piece by piece, as it is written.
    #[default]
    Streamed,
    /// In one piece, for loops that do not read streams (K1).
    Whole,
}

impl Delivery {
    /// Whether it comes piece by piece.
    #[must_use]
    pub fn is_streamed(&self) -> bool {
        *self == Self::Streamed
    }
}

/// How tools are declared and called (Q18).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallForm {
    /// By the API's own fields.
    #[default]
    Declared,
    /// In the text: the server takes no tools.
    Text,
}

impl CallForm {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
    fn is_declared(&self) -> bool {
        *self == Self::Declared
    }
}

/// How a model chooses its words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sampling {
    /// As the server does.
    #[default]
    Usual,
    /// The likeliest each time: the same question gets the same answer. Only
    /// servers of chat completions are asked for it.
    Greedy,
}

impl Sampling {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
    fn is_usual(&self) -> bool {
        *self == Self::Usual
    }
}

/// Whether a model takes pictures and documents (Q13).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pictures {
    #[default]
    Taken,
    /// It does not: it is told what is there.
    Told,
}

impl Pictures {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
    fn are_taken(&self) -> bool {
        *self == Self::Taken
    }
}

impl Params {
    /// Parameters with only a model and a limit, for the Anthropic API.
    pub fn new(model: impl Into<ModelId>, max_tokens: u64) -> Self {
        Self {
            dialect: Dialect::Anthropic,
            model: model.into(),
            max_tokens,
            thinking: None,
            effort: None,
            schema: None,
            betas: Vec::new(),
            cache: Some(CacheTtl::FiveMinutes),
            context_management: None,
            pictures: Pictures::Taken,
            calls: CallForm::Declared,
            sampling: Sampling::Usual,
            delivery: Delivery::Streamed,
        }
    }
}
