//! The newest installed model, for a memory service.
//!
//! Loading takes longer than anybody waits for a prompt. So where somebody
//! waits, a thread loads it for the next time; where nobody does, it is loaded.

use crate::installed::InstalledModels;
use crate::model::SentenceModel;
use everfold_kernel::ports::Urgency;
use everfold_memory_recall::{Embedder, MODEL_WEIGHT};
use everfold_memory_service::{EmbedderSource, Pace, WeighedEmbedder};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// What reads memories by meaning where a model is installed in a home.
#[must_use]
pub fn installed_embedders(home: &Path) -> Vec<WeighedEmbedder> {
    let models = InstalledModels::in_home(home);
    if !cfg!(feature = "tract") || models.list().is_empty() {
        return Vec::new();
    }
    let source = ModelSource { models, state: Arc::default() };
    vec![WeighedEmbedder { weight: MODEL_WEIGHT, source: Arc::new(source) }]
}

struct ModelSource {
    models: InstalledModels,
    state: Arc<Mutex<State>>,
}

/// How far the model is.
#[derive(Clone, Default)]
enum State {
    #[default]
    Unread,
    Loading,
    Ready(Arc<SentenceModel>),
    /// It cannot be used, which was said.
    Useless,
}

impl EmbedderSource for ModelSource {
    fn embedder(&self, urgency: Urgency) -> Option<Arc<dyn Embedder>> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match (&*state, urgency) {
            (State::Ready(model), _) => Some(Arc::clone(model) as Arc<dyn Embedder>),
            (State::Useless, _) | (State::Loading, Urgency::Prompt) => None,
            (State::Unread, Urgency::Prompt) => {
                let (models, shared) = (self.models.clone(), Arc::clone(&self.state));
                let load = move || {
                    let loaded = load(&models);
                    *shared.lock().unwrap_or_else(PoisonError::into_inner) = loaded;
                };
                let name = "sentence model".to_owned();
                if std::thread::Builder::new().name(name).spawn(load).is_ok() {
                    *state = State::Loading;
                }
                None
            }
            // Two that load it at once both have it.
            (State::Unread | State::Loading, Urgency::Thorough) => {
                *state = load(&self.models);
                match &*state {
                    State::Ready(model) => Some(Arc::clone(model) as Arc<dyn Embedder>),
                    _ => None,
                }
            }
        }
    }

    fn pace(&self) -> Pace {
        Pace::Slow
    }
}

fn load(models: &InstalledModels) -> State {
    let Some(newest) = models.list().into_iter().next() else { return State::Useless };
    match models.open(&newest) {
        Ok(model) => State::Ready(Arc::new(model)),
        Err(error) => {
            tracing::warn!(%error, "memories are found by their words alone");
            State::Useless
        }
    }
}
