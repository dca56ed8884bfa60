//! What is ours to write to (S17): sockets and mailboxes that really lie under
//! our home, whatever links say, and that nobody else could have put there.

use everfold_kernel::ports::PostError;
use std::path::{Path, PathBuf};

/// That a path is a socket of a session, in the directory of our sockets.
#[cfg(unix)]
pub(crate) fn socket(path: &Path, dir: &Path) -> Result<(), PostError> {
    use std::os::unix::fs::FileTypeExt as _;
    let refused = |reason: String| Err(PostError::Outside { path: path.to_owned(), reason });
    let gone = || PostError::NotRunning { path: path.to_owned() };
    let parent = path.parent().and_then(|parent| parent.canonicalize().ok());
    let dir = dir.canonicalize().map_err(|_| gone())?;
    if parent.as_deref() != Some(&dir) {
        return refused(format!("sessions of this home listen in {}", dir.display()));
    }
    let found = std::fs::symlink_metadata(path).map_err(|_| gone())?;
    if !found.file_type().is_socket() {
        return refused("it is not a socket, or a link to one".to_owned());
    }
    match strangers(&dir, &found) {
        Some(reason) => refused(reason),
        None => Ok(()),
    }
}

/// What others could have done there.
#[cfg(unix)]
fn strangers(dir: &Path, found: &std::fs::Metadata) -> Option<String> {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
    let Ok(own) = std::fs::symlink_metadata(dir) else {
        return Some("its directory is gone".into());
    };
    let us = rustix::process::geteuid().as_raw();
    if found.uid() != us || own.uid() != us {
        return Some("it belongs to another user".to_owned());
    }
    let is_open = own.permissions().mode() & 0o022 != 0;
    is_open.then(|| format!("others may write to {}", dir.display()))
}

/// That a directory of ours, or the place where it would be made, really is
/// under our home and belongs to us.
pub(crate) fn directory(path: &Path, home: &Path) -> Result<(), PostError> {
    let refused = |reason: String| Err(PostError::Outside { path: path.to_owned(), reason });
    let Some(real) = nearest(path) else { return Ok(()) };
    // Before anything is there, the home is not either.
    let Some(root) = nearest(home) else { return Ok(()) };
    if !real.starts_with(&root) {
        return refused(format!("it leads to {}, out of {}", real.display(), home.display()));
    }
    #[cfg(unix)]
    if path.exists()
        && let Ok(found) = std::fs::symlink_metadata(&real)
        && let Some(reason) = strangers(&real, &found)
    {
        return refused(reason);
    }
    Ok(())
}

/// The real path of the nearest part of a path that is there.
fn nearest(path: &Path) -> Option<PathBuf> {
    path.ancestors().find_map(|part| part.canonicalize().ok())
}
