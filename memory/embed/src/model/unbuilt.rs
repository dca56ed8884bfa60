//! What stands for a model where none can be run.

use crate::error::Error;
use everfold_memory_recall::Embedder;
use std::path::Path;

/// A sentence model; there is none in this build.
pub enum UnbuiltModel {}

impl UnbuiltModel {
    /// Says that this build runs no models.
    ///
    /// # Errors
    /// Always.
    pub fn open(_id: &str, _model: &Path, _tokenizer: &Path) -> Result<Self, Error> {
        Err(Error::NotBuilt)
    }
}

impl Embedder for UnbuiltModel {
    fn id(&self) -> &str {
        match *self {}
    }

    fn dims(&self) -> usize {
        match *self {}
    }

    fn embed(&self, _text: &str) -> Option<Vec<f32>> {
        match *self {}
    }
}
