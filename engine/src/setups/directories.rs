//! Another directory in which tools may work, while the session goes on.

use crate::session::Session;
use everfold_kernel::ports::FileKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Why a directory was not added.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DirectoryError {
    /// Nothing is there, or no directory.
    #[error("{} is not a directory", .0.display())]
    NoDirectory(PathBuf),
    /// Tools may work there already.
    #[error("tools can already work in {}", .0.display())]
    Known(PathBuf),
}

/// Lets tools work in a directory too, until the session ends. A relative path
/// is seen from the working directory.
///
/// # Errors
/// If it is not a directory, or tools may work there already.
pub async fn add(session: &mut Session, dir: &Path) -> Result<PathBuf, DirectoryError> {
    let path = session.context.cwd().join(dir);
    let stat = session.world.files.stat(&path).await;
    if !stat.is_ok_and(|stat| stat.kind == FileKind::Directory) {
        return Err(DirectoryError::NoDirectory(path));
    }
    let real = session.world.files.resolve(&path).await;
    if session.context.roots.iter().any(|root| real.starts_with(root)) {
        return Err(DirectoryError::Known(real));
    }
    session.permit.add_root(real.clone());
    session.context = Arc::new(session.context.with_root(real.clone()));
    Ok(real)
}
