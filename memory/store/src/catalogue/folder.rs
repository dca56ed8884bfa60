//! Where the files of a catalogue are: beside the store, or, where we do not
//! write, in the cache under home (R16).
//!
//! Files are replaced by a rename, and nothing waits for the disk: one that was
//! cut short has another sum. Whoever dies meanwhile leaves the one before.

use super::own_dir;
use crate::checksum::sum;
use crate::journal::ContentId;
use std::fs::{self, DirBuilder};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Largest file that is read, in bytes.
const MAX_BYTES: u64 = 1 << 30;
/// Bytes of a file's name and sum.
const START_BYTES: usize = 16;
/// Characters of a folder's name in the cache.
const NAME_CHARS: usize = 32;

/// The folders that a catalogue may be kept in, the best first.
#[derive(Clone, Debug)]
pub(super) struct Folders {
    /// The directory, where we may write beside its files.
    store: Option<PathBuf>,
    cache: Option<PathBuf>,
}

/// A file of a catalogue, as it was found.
pub(super) enum Found {
    /// There is none.
    Nothing,
    /// There is one, and it cannot be used.
    Unusable(PathBuf),
    Whole(Body),
}

/// What follows the name and the sum of a file.
pub(super) struct Body(Vec<u8>);

impl Body {
    pub(super) fn bytes(&self) -> &[u8] {
        self.0.get(START_BYTES..).unwrap_or_default()
    }

    /// All of the file, and where what it holds begins.
    pub(super) fn into_buffer(self) -> (Arc<Vec<u8>>, usize) {
        (Arc::new(self.0), START_BYTES)
    }
}

impl Folders {
    /// Beside a store, else in the cache.
    pub(super) fn of_store(dir: &Path, cache: Option<&Path>) -> Self {
        Self { store: Some(dir.to_owned()), ..Self::of_any(dir, cache) }
    }

    /// In the cache alone.
    pub(super) fn of_any(dir: &Path, cache: Option<&Path>) -> Self {
        let named = |cache: &Path| {
            let id = ContentId::of(dir.as_os_str().as_encoded_bytes());
            cache.join(id.as_str().chars().take(NAME_CHARS).collect::<String>())
        };
        Self { store: None, cache: cache.map(named) }
    }

    /// Our own folder beside the files.
    pub(super) fn own(&self) -> Option<PathBuf> {
        self.store.as_deref().and_then(own_dir)
    }

    fn all(&self) -> impl Iterator<Item = PathBuf> {
        self.own().into_iter().chain(self.cache.clone())
    }

    /// What a file of this name and version holds.
    pub(super) fn read(&self, file: &str, name: [u8; 8]) -> Found {
        let mut unusable = None;
        for path in self.all().map(|folder| folder.join(file)) {
            let Ok(about) = path.symlink_metadata() else { continue };
            let read = || {
                let small = about.is_file() && about.len() <= MAX_BYTES;
                let bytes = small.then(|| fs::read(&path).ok())??;
                let (kept_name, rest) = bytes.split_first_chunk::<8>()?;
                let (kept_sum, body) = rest.split_first_chunk::<8>()?;
                let is_it = *kept_name == name && u64::from_le_bytes(*kept_sum) == sum(body);
                is_it.then_some(Body(bytes))
            };
            match read() {
                Some(body) => return Found::Whole(body),
                None => unusable = Some(path),
            }
        }
        unusable.map_or(Found::Nothing, Found::Unusable)
    }

    /// Writes a file where it can be written.
    pub(super) fn write(&self, file: &str, name: [u8; 8], body: &[u8]) -> io::Result<()> {
        let mut done = Ok(());
        for folder in self.all() {
            done = write(&folder, file, name, body);
            if done.is_ok() {
                return done;
            }
        }
        done
    }
}

fn write(folder: &Path, file: &str, name: [u8; 8], body: &[u8]) -> io::Result<()> {
    let mut maker = DirBuilder::new();
    maker.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut maker, 0o700);
    maker.create(folder)?;
    let mut temp = tempfile::Builder::new().prefix(".everfold-tmp-").tempfile_in(folder)?;
    temp.write_all(&name)?;
    temp.write_all(&sum(body).to_le_bytes())?;
    temp.write_all(body)?;
    temp.persist(folder.join(file)).map_err(|failed| failed.error)?;
    Ok(())
}
