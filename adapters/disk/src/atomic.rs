//! A file written whole or not at all, at any path.
//!
//! The bytes go to a temporary file in the same directory, are brought to the
//! disk, and take the place of the old file in one rename; then the directory
//! is brought to the disk. Whatever happens in between, a reader sees the old
//! bytes or the new ones.
//!
//! A link is followed: what it leads to is replaced, not the link. An existing
//! file keeps its permissions and, where allowed, its owner. This is not
//! confined to any directory: for that there is [`crate::Root`].

use crate::error::Error;
use std::fs::{self, File, Metadata};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// As many links as Linux follows before it calls it a loop.
const MAX_LINKS: usize = 40;

/// Who may read a file, and the directories above it, where they are new.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileReaders {
    /// Only its owner: files that are ours.
    Private,
    /// Whoever the person's umask lets: files that are the person's.
    Umask,
}

/// Writes a file whole or not at all, making directories as needed.
///
/// # Errors
/// If it cannot be written; then what was there is unchanged.
pub fn write(path: &Path, bytes: &[u8], audience: FileReaders) -> Result<(), Error> {
    Staged::new(path, bytes, audience)?.commit()
}

/// Bytes that are on the disk but not yet at their place. Dropping it leaves
/// nothing behind.
#[derive(Debug)]
pub(crate) struct Staged {
    temp: NamedTempFile,
    target: PathBuf,
}

impl Staged {
    /// Brings bytes to the disk, next to where they are to go.
    pub(crate) fn new(path: &Path, bytes: &[u8], audience: FileReaders) -> Result<Self, Error> {
        let target = follow(path)?;
        let old = replaceable(&target)?;
        let parent = target.parent().unwrap_or(Path::new("/"));
        make_dirs(parent, audience)?;
        let failed = |source| Error::io(&target, source);
        let mut temp = temporary(parent, audience).map_err(failed)?;
        temp.write_all(bytes).map_err(failed)?;
        if let Some(old) = old {
            take_after(temp.as_file(), &old).map_err(failed)?;
        }
        temp.as_file().sync_all().map_err(failed)?;
        Ok(Self { temp, target })
    }

    /// Where the bytes will go: the path with its links followed.
    pub(crate) fn target(&self) -> &Path {
        &self.target
    }

    /// Puts the bytes at their place, whatever is there.
    pub(crate) fn commit(self) -> Result<(), Error> {
        let Self { temp, target } = self;
        temp.persist(&target).map_err(|failed| Error::io(&target, failed.error))?;
        sync_parent(&target)
    }

    /// Puts the bytes at their place if nothing is there.
    pub(crate) fn commit_new(self) -> Result<(), Error> {
        let Self { temp, target } = self;
        temp.persist_noclobber(&target).map_err(|failed| Error::io(&target, failed.error))?;
        sync_parent(&target)
    }
}

/// Where a path leads once links at its end are followed, there or not.
fn follow(path: &Path) -> Result<PathBuf, Error> {
    let mut at = path.to_path_buf();
    for _ in 0..MAX_LINKS {
        match fs::symlink_metadata(&at) {
            Ok(found) if found.is_symlink() => {
                let to = fs::read_link(&at).map_err(|source| Error::io(&at, source))?;
                at = at.parent().unwrap_or(Path::new("/")).join(to);
            }
            _ => return Ok(at),
        }
    }
    let source = io::Error::other("too many links; they seem to lead in a circle");
    Err(Error::io(path, source))
}

/// What is at the target now, if it is a file that may be replaced. Renaming
/// asks only the directory for leave, so the file is asked here.
fn replaceable(target: &Path) -> Result<Option<Metadata>, Error> {
    let old = match fs::metadata(target) {
        Ok(old) => old,
        Err(source) if source.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(Error::io(target, source)),
    };
    let path = || target.to_path_buf();
    if old.is_dir() {
        return Err(Error::IsDirectory { path: path() });
    }
    if !old.is_file() {
        return Err(Error::Special { path: path() });
    }
    #[cfg(unix)]
    rustix::fs::access(target, rustix::fs::Access::WRITE_OK)
        .map_err(|source| Error::io(target, source.into()))?;
    #[cfg(not(unix))]
    if old.permissions().readonly() {
        return Err(Error::Denied { path: path() });
    }
    Ok(Some(old))
}

/// Makes a directory and those above it.
pub(crate) fn make_dirs(dir: &Path, audience: FileReaders) -> Result<(), Error> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    if audience == FileReaders::Private {
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    }
    #[cfg(not(unix))]
    let _ = audience;
    builder.create(dir).map_err(|source| Error::io(dir, source))
}

fn temporary(parent: &Path, audience: FileReaders) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".everfold-").suffix(".tmp");
    // The mode goes through open(2), so the umask still has its say.
    #[cfg(unix)]
    if audience == FileReaders::Umask {
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    }
    #[cfg(not(unix))]
    let _ = audience;
    builder.tempfile_in(parent)
}

/// Gives a new file the owner and the permissions of the one it replaces.
fn take_after(new: &File, old: &Metadata) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, fchown};
        let made = new.metadata()?;
        if (made.uid(), made.gid()) != (old.uid(), old.gid()) {
            // Only root may give files away; anybody else keeps their own.
            let _ = fchown(new, Some(old.uid()), Some(old.gid()));
        }
    }
    new.set_permissions(old.permissions())
}

/// Brings a rename to the disk. A file system that cannot sync a directory
/// has nothing better to offer, so only real failures count.
fn sync_parent(target: &Path) -> Result<(), Error> {
    #[cfg(unix)]
    if let Some(parent) = target.parent() {
        File::open(parent).and_then(|dir| dir.sync_all()).or_else(|source| {
            match source.kind() {
                // The last: a directory that may be written but not listed.
                io::ErrorKind::InvalidInput
                | io::ErrorKind::Unsupported
                | io::ErrorKind::PermissionDenied => Ok(()),
                _ => Err(Error::io(target, source)),
            }
        })?;
    }
    #[cfg(not(unix))]
    let _ = target;
    Ok(())
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    fn names(dir: &Path) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(dir)
            .unwrap()
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn s5_new_private_files_are_0600_in_0700() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a/b/c.json");
        write(&path, b"x", FileReaders::Private).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"x");
        assert_eq!(mode(&path), 0o600);
        assert_eq!(mode(path.parent().unwrap()), 0o700);
        assert_eq!(names(path.parent().unwrap()), ["c.json"]);
    }

    #[test]
    fn permissions_of_an_old_file_are_kept() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("run.sh");
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o751)).unwrap();
        write(&path, b"new", FileReaders::Private).unwrap();
        assert_eq!(mode(&path), 0o751);
        assert_eq!(fs::read(&path).unwrap(), b"new");
    }

    #[test]
    fn a_link_is_followed_even_to_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let link = dir.path().join("link");
        symlink("sub/target", &link).unwrap();
        write(&link, b"one", FileReaders::Umask).unwrap();
        assert_eq!(fs::read(dir.path().join("sub/target")).unwrap(), b"one");
        write(&link, b"two", FileReaders::Umask).unwrap();
        assert_eq!(fs::read(dir.path().join("sub/target")).unwrap(), b"two");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    }

    #[test]
    fn s6_links_in_a_circle_are_an_error() {
        let dir = tempfile::tempdir().unwrap();
        symlink("b", dir.path().join("a")).unwrap();
        symlink("a", dir.path().join("b")).unwrap();
        let error = write(&dir.path().join("a"), b"x", FileReaders::Umask).unwrap_err();
        assert!(error.to_string().contains("circle"), "{error}");
    }

    #[test]
    fn s6_directories_and_devices_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let error = write(dir.path(), b"x", FileReaders::Umask).unwrap_err();
        assert!(matches!(error, Error::IsDirectory { .. }), "{error}");
        let error = write(Path::new("/dev/null"), b"x", FileReaders::Umask).unwrap_err();
        assert!(matches!(error, Error::Special { .. }), "{error}");
    }

    #[test]
    fn nothing_is_left_behind_when_it_is_given_up() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        drop(Staged::new(&path, b"x", FileReaders::Umask).unwrap());
        assert!(names(dir.path()).is_empty());
        fs::write(&path, "there").unwrap();
        let staged = Staged::new(&path, b"x", FileReaders::Umask).unwrap();
        let error = staged.commit_new().unwrap_err();
        assert!(matches!(error, Error::Exists { .. }), "{error}");
        assert_eq!(names(dir.path()), ["f"]);
        assert_eq!(fs::read(&path).unwrap(), b"there");
    }
}
