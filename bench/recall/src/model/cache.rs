//! Vectors of a model that are kept from run to run: the model is slow, and a set
//! asks for the same texts for each way to rank.

use anyhow::{Context, Result};
use everfold_memory_embed::SentenceModel;
use everfold_memory_recall::Embedder;
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// A model, and what it made of the texts that it has read. A file has the
/// lengths of a text and its vector, the text, the vector; again and again.
pub(super) struct VectorCache {
    model: SentenceModel,
    cached: Mutex<Cached>,
}

struct Cached {
    known: BTreeMap<String, Vec<f32>>,
    file: File,
}

impl VectorCache {
    pub(super) fn open(model: SentenceModel, path: &Path) -> Result<Self> {
        let bytes = std::fs::read(path).unwrap_or_default();
        let (mut known, mut rest) = (BTreeMap::new(), bytes.as_slice());
        while let Some((text, vector)) = read(&mut rest) {
            known.insert(text, vector);
        }
        let file = OpenOptions::new().create(true).append(true).open(path);
        let file = file.with_context(|| format!("failed to open {}", path.display()))?;
        // What a run that was stopped left behind is cut off.
        file.set_len((bytes.len() - rest.len()) as u64)?;
        Ok(Self { model, cached: Mutex::new(Cached { known, file }) })
    }
}

fn read(bytes: &mut &[u8]) -> Option<(String, Vec<f32>)> {
    let (text, rest) = bytes.split_first_chunk::<4>()?;
    let (count, rest) = rest.split_first_chunk::<4>()?;
    let (text, rest) = rest.split_at_checked(u32::from_le_bytes(*text) as usize)?;
    let (vector, rest) = rest.split_at_checked(u32::from_le_bytes(*count) as usize * 4)?;
    let (values, _) = vector.as_chunks::<4>();
    let vector = values.iter().map(|value| f32::from_le_bytes(*value)).collect();
    *bytes = rest;
    Some((String::from_utf8(text.to_vec()).ok()?, vector))
}

impl Cached {
    fn add(&mut self, text: &str, vector: &[f32]) -> std::io::Result<()> {
        let mut bytes = Vec::new();
        for length in [text.len(), vector.len()] {
            bytes.extend(u32::try_from(length).unwrap_or_default().to_le_bytes());
        }
        bytes.extend(text.as_bytes());
        bytes.extend(vector.iter().flat_map(|value| value.to_le_bytes()));
        self.known.insert(text.to_owned(), vector.to_vec());
        self.file.write_all(&bytes)
    }
}

impl Embedder for VectorCache {
    fn id(&self) -> &str {
        self.model.id()
    }

    fn dims(&self) -> usize {
        self.model.dims()
    }

    fn embed(&self, text: &str) -> Option<Vec<f32>> {
        let mut cached = self.cached.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(vector) = cached.known.get(text) {
            return Some(vector.clone());
        }
        let vector = self.model.embed(text)?;
        // Without the file the next run takes as long as this one.
        let _ = cached.add(text, &vector);
        Some(vector)
    }
}
