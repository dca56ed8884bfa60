//! The folder of models under home: one folder for each, with its two files and
//! a note of what they were when they were put there.

use crate::error::Error;
use crate::model::SentenceModel;
use everfold_memory_recall::Embedder;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

const MODEL: &str = "model.onnx";
const TOKENIZER: &str = "tokenizer.json";
const NOTE: &str = "installed.json";
/// Characters of a checksum that tell models of one name apart.
const SUM_CHARS: usize = 8;
/// Largest note that is read, in bytes.
const NOTE_BYTES: u64 = 64 * 1024;

/// The models of a home.
#[derive(Clone, Debug)]
pub struct InstalledModels {
    dir: PathBuf,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstalledModel {
    pub name: String,
    /// How many numbers its vectors have.
    pub dims: usize,
    /// What its two files were, as one sum.
    pub checksum: String,
    /// Bytes of both.
    pub bytes: u64,
    pub added: Timestamp,
}

impl InstalledModels {
    #[must_use]
    pub fn in_home(home: &Path) -> Self {
        Self { dir: home.join("models") }
    }

    /// Tries a model, and copies its two files.
    ///
    /// # Errors
    /// If they are no model that this build can run, or cannot be copied.
    pub fn add(
        &self,
        model: &Path,
        tokenizer: &Path,
        now: Timestamp,
    ) -> Result<InstalledModel, Error> {
        let tried = SentenceModel::open("trial", model, tokenizer)?;
        let (checksum, bytes) = sum_of(model, tokenizer)?;
        let stem = model.file_stem().and_then(|stem| stem.to_str()).unwrap_or("model");
        let plain = |sign: char| if sign.is_ascii_alphanumeric() { sign } else { '-' };
        let stem: String = stem.to_ascii_lowercase().chars().map(plain).collect();
        let short: String = checksum.chars().take(SUM_CHARS).collect();
        let name = format!("{stem}-{short}");
        let installed = InstalledModel { name, dims: tried.dims(), checksum, bytes, added: now };
        self.copy(&installed, model, tokenizer)
            .map_err(|source| Error::Unwritable { path: self.dir.clone(), source })?;
        Ok(installed)
    }

    /// Whole or not at all: the folder gets its name when all is in it.
    fn copy(&self, own: &InstalledModel, model: &Path, tokenizer: &Path) -> io::Result<()> {
        fs::create_dir_all(&self.dir)?;
        let made = tempfile::Builder::new().prefix(".everfold-tmp-").tempdir_in(&self.dir)?;
        fs::copy(model, made.path().join(MODEL))?;
        fs::copy(tokenizer, made.path().join(TOKENIZER))?;
        fs::write(made.path().join(NOTE), serde_json::to_vec_pretty(own)?)?;
        let place = self.dir.join(&own.name);
        if place.exists() {
            fs::remove_dir_all(&place)?;
        }
        fs::rename(made.keep(), place)
    }

    /// The models that are there, newest first.
    #[must_use]
    pub fn list(&self) -> Vec<InstalledModel> {
        let folders = fs::read_dir(&self.dir).into_iter().flatten().flatten();
        let mut found: Vec<InstalledModel> =
            folders.filter_map(|folder| note_in(&folder.path())).collect();
        found.sort_by(|one, other| (other.added, &one.name).cmp(&(one.added, &other.name)));
        found
    }

    /// Whether the files of a model are what was installed.
    ///
    /// # Errors
    /// [`Error::Damaged`] if not.
    pub fn check(&self, own: &InstalledModel) -> Result<(), Error> {
        let (model, tokenizer) = self.files(own);
        let damaged = || Error::Damaged { name: own.name.clone() };
        match sum_of(&model, &tokenizer) {
            Ok((checksum, _)) if checksum == own.checksum => Ok(()),
            _ => Err(damaged()),
        }
    }

    /// Makes a model ready.
    ///
    /// # Errors
    /// If its files are not what was installed, or cannot be run.
    pub fn open(&self, own: &InstalledModel) -> Result<SentenceModel, Error> {
        self.check(own)?;
        let (model, tokenizer) = self.files(own);
        SentenceModel::open(&format!("{}/{}", own.name, own.checksum), &model, &tokenizer)
    }

    /// Removes a model.
    ///
    /// # Errors
    /// If there is none of this name, or it cannot be removed.
    pub fn remove(&self, name: &str) -> Result<(), Error> {
        let known = self.list().into_iter().find(|own| own.name == name);
        let own = known.ok_or_else(|| Error::NoSuch { name: name.to_owned() })?;
        fs::remove_dir_all(self.dir.join(&own.name))
            .map_err(|source| Error::Unwritable { path: self.dir.clone(), source })
    }

    fn files(&self, own: &InstalledModel) -> (PathBuf, PathBuf) {
        let folder = self.dir.join(&own.name);
        (folder.join(MODEL), folder.join(TOKENIZER))
    }
}

/// What stands in a model's folder; its name is the folder's.
fn note_in(folder: &Path) -> Option<InstalledModel> {
    let name = folder.file_name()?.to_str()?.to_owned();
    let mut bytes = Vec::new();
    fs::File::open(folder.join(NOTE)).ok()?.take(NOTE_BYTES).read_to_end(&mut bytes).ok()?;
    let read = serde_json::from_slice::<InstalledModel>(&bytes).ok()?;
    (!name.starts_with('.')).then_some(InstalledModel { name, ..read })
}

fn sum_of(model: &Path, tokenizer: &Path) -> Result<(String, u64), Error> {
    let mut sum = blake3::Hasher::new();
    let mut bytes = 0;
    for path in [model, tokenizer] {
        let read = fs::read(path);
        let read = read.map_err(|source| Error::Unreadable { path: path.to_owned(), source })?;
        bytes += read.len() as u64;
        sum.update(&(read.len() as u64).to_le_bytes());
        sum.update(&read);
    }
    Ok((sum.finalize().to_hex().to_string(), bytes))
}
