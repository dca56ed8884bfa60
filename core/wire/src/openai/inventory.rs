//! What a server says that it has: its models, their windows, its slots (Q15).
//!
//! Each server tells it elsewhere and in other words. vLLM, LM Studio, `OpenRouter`
//! and `LiteLLM` put windows into their list of models; llama.cpp tells the window
//! that it was started with under `/props`, Ollama that of a model under
//! `/api/ps` and `/api/show`.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A program that serves models.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ServerKind {
    LlamaCpp,
    Ollama,
    LmStudio,
    Vllm,
    #[default]
    Other,
}

impl ServerKind {
    /// Its name, as its makers write it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::LlamaCpp => "llama.cpp",
            Self::Ollama => "Ollama",
            Self::LmStudio => "LM Studio",
            Self::Vllm => "vLLM",
            Self::Other => "an OpenAI-compatible server",
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServedModel {
    pub id: String,
    /// Tokens that it holds as it is served.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<u64>,
}

/// What a server has.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Inventory {
    /// Which program it is.
    #[serde(default)]
    pub kind: ServerKind,
    /// Its models, in its order.
    #[serde(default)]
    pub models: Vec<ServedModel>,
    /// How many requests it answers at once; none where it does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slots: Option<u32>,
}

/// Keys under which a list of models tells a window, the one in force first.
const WINDOWS: [&str; 7] = [
    "loaded_context_length",
    "max_model_len",
    "context_length",
    "context_window",
    "max_context_length",
    "max_input_tokens",
    "n_ctx",
];

impl Inventory {
    /// What the answer of `/v1/models` says; none where it is not a list of models.
    #[must_use]
    pub fn of_models(answer: &Value) -> Option<Self> {
        let list = answer.get("data").or_else(|| answer.get("models"))?.as_array()?;
        let models: Vec<ServedModel> = list.iter().filter_map(model).collect();
        let owners: Vec<&str> =
            list.iter().filter_map(|entry| entry.get("owned_by")?.as_str()).collect();
        let has = |key: &str| list.iter().any(|entry| entry.get(key).is_some());
        let kind = match () {
            () if owners.contains(&"llamacpp") => ServerKind::LlamaCpp,
            () if owners.contains(&"vllm") || has("max_model_len") => ServerKind::Vllm,
            () if owners.contains(&"library") => ServerKind::Ollama,
            () if owners.contains(&"organization_owner") => ServerKind::LmStudio,
            () => ServerKind::Other,
        };
        Some(Self { kind, models, slots: None })
    }

    /// What llama.cpp's `/props` adds: one window for all, and its slots.
    #[must_use]
    pub fn with_props(mut self, props: &Value) -> Self {
        let own = props.get("default_generation_settings").unwrap_or(props);
        if let Some(window) = own.get("n_ctx").and_then(Value::as_u64).filter(|size| *size > 0) {
            for model in &mut self.models {
                model.window = Some(window);
            }
        }
        let slots = props.get("total_slots").and_then(Value::as_u64);
        self.slots = slots.and_then(|slots| u32::try_from(slots).ok());
        self
    }

    /// What LM Studio's own list of models adds.
    #[must_use]
    pub fn with_list(mut self, answer: &Value) -> Self {
        for told in Self::of_models(answer).into_iter().flat_map(|own| own.models) {
            self.learn(&told.id, told.window);
        }
        self
    }

    /// What Ollama says of a model: how it is loaded now (`/api/ps`), and else
    /// how it would be (`/api/show`).
    #[must_use]
    pub fn with_ollama(mut self, model: &str, ps: &Value, show: &Value) -> Self {
        let is_it = |entry: &&Value| {
            let names = ["model", "name"].map(|key| entry.get(key).and_then(Value::as_str));
            names.contains(&Some(model))
        };
        let loaded = ps.get("models").and_then(Value::as_array);
        let loaded = loaded.and_then(|list| list.iter().find(is_it));
        let loaded = loaded.and_then(|entry| entry.get("context_length")?.as_u64());
        if self.models.iter().any(|own| own.id == model) {
            self.learn(model, loaded.or_else(|| shown(show)));
        }
        self
    }

    /// The window of a model, where it is known.
    #[must_use]
    pub fn window(&self, model: &str) -> Option<u64> {
        self.models.iter().find(|own| own.id == model)?.window
    }

    /// Takes over a window.
    pub fn learn(&mut self, model: &str, window: Option<u64>) {
        let Some(window) = window.filter(|window| *window > 0) else { return };
        match self.models.iter_mut().find(|own| own.id == model) {
            Some(own) => own.window = Some(window),
            None => self.models.push(ServedModel { id: model.to_owned(), window: Some(window) }),
        }
    }
}

fn model(entry: &Value) -> Option<ServedModel> {
    let id = entry.get("id").or_else(|| entry.get("name"))?.as_str()?;
    let deep = [Some(entry), entry.get("meta"), entry.get("model_info")];
    let deep: Vec<&Value> = deep.into_iter().flatten().collect();
    let window = WINDOWS.iter().find_map(|key| {
        deep.iter().find_map(|place| place.get(key)?.as_u64()).filter(|size| *size > 0)
    });
    // What is no model for conversations is no choice.
    let is_other = entry.get("type").and_then(Value::as_str) == Some("embeddings");
    (!is_other).then(|| ServedModel { id: id.to_owned(), window })
}

/// The window of Ollama's `/api/show`: what the model's own file sets, else what
/// the model could hold.
fn shown(show: &Value) -> Option<u64> {
    let set = show.get("parameters").and_then(Value::as_str).and_then(|text| {
        let line = text.lines().find_map(|line| line.trim().strip_prefix("num_ctx"))?;
        line.trim().parse().ok()
    });
    set.or_else(|| {
        let info = show.get("model_info")?.as_object()?;
        info.iter().find(|(key, _)| key.ends_with(".context_length"))?.1.as_u64()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn q15_each_server_tells_its_window_in_its_own_words() {
        let list = |entry: Value| Inventory::of_models(&json!({"data": [entry]})).unwrap();
        let llama = list(json!({"id": "q.gguf", "owned_by": "llamacpp",
            "meta": {"n_ctx_train": 32_768}}));
        assert_eq!((llama.kind, llama.window("q.gguf")), (ServerKind::LlamaCpp, None));
        let props = json!({"default_generation_settings": {"n_ctx": 16_384}, "total_slots": 1});
        let llama = llama.with_props(&props);
        assert_eq!((llama.window("q.gguf"), llama.slots), (Some(16_384), Some(1)));
        let vllm = list(json!({"id": "Qwen/Q", "owned_by": "vllm", "max_model_len": 8_192}));
        assert_eq!((vllm.kind, vllm.window("Qwen/Q")), (ServerKind::Vllm, Some(8_192)));
        let studio = list(json!({"id": "q", "owned_by": "organization_owner"}));
        let studio = studio.with_list(&json!({"data": [{"id": "q", "type": "llm",
            "max_context_length": 131_072, "loaded_context_length": 4_096}]}));
        assert_eq!((studio.kind, studio.window("q")), (ServerKind::LmStudio, Some(4_096)));
        let router = list(json!({"id": "a/b", "context_length": 128_000}));
        assert_eq!(router.window("a/b"), Some(128_000));
    }

    #[test]
    fn q15_ollama_counts_what_is_loaded_then_what_is_set_then_what_could_be() {
        let own = Inventory::of_models(&json!({"data": [{"id": "q:1", "owned_by": "library"}]}));
        let own = own.unwrap();
        assert_eq!(own.kind, ServerKind::Ollama);
        let info = json!({"qwen2.block_count": 28, "qwen2.context_length": 32_768});
        let set = json!({"parameters": "stop \"x\"\nnum_ctx   8192", "model_info": info});
        let loaded = json!({"models": [{"name": "q:1", "context_length": 4_096}]});
        let told =
            |ps: &Value, show: &Value| own.clone().with_ollama("q:1", ps, show).window("q:1");
        assert_eq!(told(&loaded, &set), Some(4_096));
        assert_eq!(told(&json!({}), &set), Some(8_192));
        assert_eq!(told(&json!({}), &json!({"model_info": info})), Some(32_768));
        assert_eq!(told(&json!({}), &json!({})), None);
        assert_eq!(Inventory::of_models(&json!({"detail": "Not Found"})), None);
    }
}
