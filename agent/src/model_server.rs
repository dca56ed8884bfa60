//! A server of one's own: what it says that it has, and what was learned of it (Q15).
//!
//! It is asked at every start, within a moment; what it said last is kept, for a
//! start at which it is too slow. A window that only an overflow told is kept
//! beside it, for as long as the server does not say another.

use everfold_disk::atomic::{self, FileReaders};
use everfold_kernel::ports::{
    BoxFuture, Headroom, Model, ModelCall, ModelError, ModelKind, ModelStream,
};
use everfold_kernel::record::Dialect;
use everfold_kernel::settings::DEFAULT_MODEL;
use everfold_provider::inventory::{self, Asked};
use everfold_provider::{Error, ProviderConfig};
use everfold_wire::openai::Inventory;
pub use everfold_wire::openai::{ServedModel, ServerKind};
use futures_util::StreamExt;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// What a server of one's own has, as far as it is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Served {
    /// Which program it is.
    pub kind: ServerKind,
    /// Its models.
    pub models: Vec<ServedModel>,
    /// How many requests it answers at once, where that is known.
    pub slots: Option<u32>,
    /// Why it could not be asked now.
    pub absent: Option<String>,
}

impl Served {
    /// The model that is meant where a person named none: the only one that
    /// there is for conversations, or ours where it is among them.
    #[must_use]
    pub fn only_model(&self) -> Option<&str> {
        let talks = |model: &&ServedModel| !model.id.to_ascii_lowercase().contains("embed");
        let mut talking = self.models.iter().filter(talks);
        match (talking.next(), talking.next()) {
            (Some(only), None) => Some(&only.id),
            _ => self.models.iter().map(|model| model.id.as_str()).find(|id| *id == DEFAULT_MODEL),
        }
    }

    /// The names of its models, where a person has to choose one of them.
    #[must_use]
    pub fn choices(&self) -> Option<Vec<&str>> {
        let is_open = self.models.len() > 1 && self.only_model().is_none();
        is_open.then(|| self.models.iter().map(|model| model.id.as_str()).collect())
    }

    /// Each window that is known, by model.
    pub fn windows(&self) -> impl Iterator<Item = (&str, u64)> {
        self.models.iter().filter_map(|model| Some((model.id.as_str(), model.window?)))
    }
}

/// The file of what servers said, by address.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Known {
    version: u32,
    servers: BTreeMap<String, KnownServer>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct KnownServer {
    /// What it said last.
    told: Option<Inventory>,
    /// What overflows told, by model.
    learned: BTreeMap<String, Learned>,
}

/// A window that an overflow told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Learned {
    window: u64,
    /// What the server itself said then.
    told: Option<u64>,
}

/// Where what servers said is kept.
fn file(home: &Path) -> PathBuf {
    home.join("cache").join("servers.json")
}

fn read(home: &Path) -> Known {
    let bytes = std::fs::read(file(home)).unwrap_or_default();
    serde_json::from_slice(&bytes).unwrap_or_default()
}

/// It is a cache: what cannot be written is asked again.
fn write(home: &Path, known: &Known) {
    if let Ok(bytes) = serde_json::to_vec_pretty(known) {
        let _ = atomic::write(&file(home), &bytes, FileReaders::Private);
    }
}

/// Whether what a server says is written down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keep {
    /// It is.
    Yes,
    /// One only looks (S14).
    No,
}

/// Asks a server what it has; what it does not say now is taken from before.
pub(crate) async fn look(
    config: &ProviderConfig,
    home: &Path,
    model: Option<&str>,
    keep: Keep,
) -> Result<Served, Error> {
    let limit = Duration::from_millis(config.limits.server_question_ms);
    let asked = inventory::ask(config, model, limit).await?;
    let mut known = read(home);
    let own = known.servers.entry(config.base_url.clone()).or_default();
    let mut absent = None;
    match asked {
        Asked::Told(told) => {
            if own.told.as_ref() != Some(&told) {
                own.told = Some(told);
                let own = own.clone();
                known.version = 1;
                if keep == Keep::Yes {
                    write(home, &known);
                }
                return Ok(own.served(None));
            }
        }
        Asked::Silent => {}
        Asked::Absent(why) => absent = Some(why),
    }
    Ok(own.served(absent))
}

impl KnownServer {
    fn served(&self, absent: Option<String>) -> Served {
        let mut told = self.told.clone().unwrap_or_default();
        for (model, learned) in &self.learned {
            if told.window(model) == learned.told {
                told.learn(model, Some(learned.window));
            }
        }
        // These two answer one after the other unless they are told otherwise.
        let one = matches!(told.kind, ServerKind::Ollama | ServerKind::LmStudio).then_some(1);
        Served { kind: told.kind, slots: told.slots.or(one), models: told.models, absent }
    }
}

/// A model that keeps the window which an overflow tells.
pub(crate) struct Attentive {
    inner: Arc<dyn Model>,
    base_url: String,
    home: PathBuf,
}

impl Attentive {
    pub(crate) fn new(inner: Arc<dyn Model>, base_url: &str, home: &Path) -> Self {
        Self { inner, base_url: base_url.to_owned(), home: home.to_owned() }
    }
}

impl Model for Attentive {
    fn call(&self, call: ModelCall) -> BoxFuture<'_, Result<ModelStream, ModelError>> {
        let body = call.body.clone();
        let (base_url, home) = (self.base_url.clone(), self.home.clone());
        Box::pin(async move {
            let stream = self.inner.call(call).await?;
            let heard = stream.inspect(move |item| {
                if let Err(ModelError::PromptTooLong { maximum: Some(maximum), .. }) = item {
                    learn(&home, &base_url, &body.whole(), *maximum);
                }
            });
            Ok(Box::pin(heard) as ModelStream)
        })
    }

    fn dialect(&self) -> Dialect {
        self.inner.dialect()
    }

    fn kind(&self) -> ModelKind {
        self.inner.kind()
    }

    fn headroom(&self) -> Option<Headroom> {
        self.inner.headroom()
    }
}

fn learn(home: &Path, base_url: &str, body: &[u8], window: u64) {
    #[derive(Deserialize)]
    struct Asked {
        model: String,
    }
    let Ok(Asked { model }) = serde_json::from_slice(body) else { return };
    let mut known = read(home);
    known.version = 1;
    let own = known.servers.entry(base_url.to_owned()).or_default();
    let told = own.told.as_ref().and_then(|told| told.window(&model));
    let learned = Learned { window, told };
    if own.learned.insert(model, learned) != Some(learned) {
        write(home, &known);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn q15_what_an_overflow_told_holds_until_the_server_says_another_window() {
        let home = tempfile::tempdir().unwrap();
        let body = br#"{"model":"m","max_tokens":5}"#;
        learn(home.path(), "http://h", body, 8_192);
        let known = |told: Option<u64>| {
            let mut own = read(home.path()).servers.remove("http://h").unwrap();
            let mut inventory = Inventory::default();
            inventory.learn("m", told);
            own.told = Some(inventory);
            own.served(None).windows().map(|(_, window)| window).collect::<Vec<_>>()
        };
        assert_eq!(known(None), [8_192]);
        assert_eq!(known(Some(32_768)), [32_768]);
    }

    #[test]
    fn q15_one_model_is_taken_and_several_are_not_guessed_at() {
        let served = |ids: &[&str]| {
            let model = |id: &&str| ServedModel { id: (*id).to_owned(), window: None };
            Served { models: ids.iter().map(model).collect(), ..Served::default() }
        };
        let only = |ids: &[&str]| served(ids).only_model().map(str::to_owned);
        assert_eq!(only(&["a"]).as_deref(), Some("a"));
        assert_eq!(only(&["a", "nomic-embed-text:latest"]).as_deref(), Some("a"));
        assert_eq!(only(&["a", "b"]), None);
        assert_eq!(only(&["a", DEFAULT_MODEL]).as_deref(), Some(DEFAULT_MODEL));
        assert_eq!(only(&[]), None);
    }
}
