//! Files that grow at their end.

use super::{Root, parent};
use crate::error::Error;
use cap_std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::Path;

impl Root {
    /// Adds bytes to the end of a file, making it (0600) as needed; they are
    /// not brought to the disk. A link there is not followed.
    ///
    /// # Errors
    /// If it leads out or cannot be written; then nothing was added.
    pub fn append(&self, path: &Path, bytes: &[u8]) -> Result<(), Error> {
        let failed = |source| self.failed(path, source);
        let inside = self.inside(path)?;
        self.make_dirs_inside(parent(&inside))?;
        match self.dir.symlink_metadata(&inside) {
            Ok(there) => self.must_be_file(path, there.is_dir(), there.is_file())?,
            Err(source) if source.kind() == io::ErrorKind::NotFound => {}
            Err(source) => return Err(failed(source)),
        }
        let mut options = OpenOptions::new();
        options.append(true).create(true);
        #[cfg(unix)]
        cap_std::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = self.dir.open_with(&inside, &options).map_err(failed)?;
        let before = file.metadata().map_err(failed)?.len();
        file.write_all(bytes).map_err(|source| {
            // A part that fitted on a full disk is worse than nothing.
            let _ = file.set_len(before);
            failed(source)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s1_s5_bytes_are_added_to_a_private_file_inside() {
        let dir = tempfile::tempdir().unwrap();
        let root = Root::open(dir.path()).unwrap();
        let name = Path::new("sub/a.bin");
        root.append(name, b"one").unwrap();
        root.append(name, b" two").unwrap();
        assert_eq!(std::fs::read(dir.path().join(name)).unwrap(), b"one two");
        assert!(root.append(Path::new("../a"), b"x").is_err());
        assert!(root.append(Path::new("sub"), b"x").is_err());
        #[cfg(unix)]
        {
            use std::os::unix::fs::{PermissionsExt, symlink};
            let mode = std::fs::metadata(dir.path().join(name)).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
            symlink(dir.path().join(name), dir.path().join("link")).unwrap();
            assert!(root.append(Path::new("link"), b"x").is_err());
        }
    }
}
