//! A sentence model besides the table, where one is given.

use anyhow::Result;
use everfold_memory_recall::Embedder;
use std::path::Path;
use std::sync::OnceLock;

#[cfg(feature = "tract")]
mod cache;

static MODEL: OnceLock<Box<dyn Embedder>> = OnceLock::new();

/// The model that was given.
pub(crate) fn get() -> Option<&'static dyn Embedder> {
    MODEL.get().map(|model| &**model)
}

/// Installs a model as a person does, and opens it.
#[cfg(feature = "tract")]
pub(crate) fn open(model: &Path, tokenizer: &Path) -> Result<()> {
    let home = tempfile::tempdir()?;
    let models = everfold_memory_embed::InstalledModels::in_home(home.path());
    let added = models.add(model, tokenizer, jiff::Timestamp::now())?;
    let file = std::env::temp_dir().join(format!("everfold-bench-{}.vectors", added.name));
    let _ = MODEL.set(Box::new(cache::VectorCache::open(models.open(&added)?, &file)?));
    Ok(())
}

#[cfg(not(feature = "tract"))]
pub(crate) fn open(_: &Path, _: &Path) -> Result<()> {
    anyhow::bail!("built without models: add --features tract")
}
