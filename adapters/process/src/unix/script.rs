//! What the shell is given so that it tells where it was at its end.
//!
//! The command is evaluated as it is; before it a trap is set that writes the
//! working directory to a file when the shell exits, however it does. Nothing
//! comes after the command, so a heredoc, an open quote or a comment at its
//! end changes nothing, and the exit code is its own. A command that sets an
//! exit trap itself, or becomes another program by `exec`, just does not tell.

use everfold_kernel::ports::Confinement;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The command with the trap before it.
pub(super) fn with_cwd(command: &str, file: &Path) -> Vec<u8> {
    let mut trap = b"{ set +x; } 2>/dev/null; command pwd -P 2>/dev/null >|".to_vec();
    trap.extend(quoted(file.as_os_str().as_bytes()));
    let mut script = b"trap ".to_vec();
    script.extend(quoted(&trap));
    script.extend(b" EXIT; eval ");
    script.extend(quoted(command.as_bytes()));
    script
}

/// The same confinement, with the file that the trap writes let through.
pub(super) fn with_note(confinement: &Confinement, file: &Path) -> Confinement {
    match confinement {
        Confinement::Free => Confinement::Free,
        Confinement::Sandbox(profile) => {
            let mut profile = profile.clone();
            profile.writable.push(file.to_owned());
            Confinement::Sandbox(profile)
        }
    }
}

/// What the trap wrote, if it did.
pub(super) fn cwd_from(written: &[u8]) -> Option<PathBuf> {
    let path = Path::new(OsStr::from_bytes(written.strip_suffix(b"\n")?));
    path.is_absolute().then(|| path.to_path_buf())
}

/// Text as one word for a shell.
fn quoted(text: &[u8]) -> Vec<u8> {
    let mut word = vec![b'\''];
    for byte in text {
        match byte {
            b'\'' => word.extend(b"'\\''"),
            byte => word.push(*byte),
        }
    }
    word.push(b'\'');
    word
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_are_kept() {
        assert_eq!(quoted(b"it's"), b"'it'\\''s'");
        assert_eq!(quoted(b""), b"''");
    }

    #[test]
    fn a_directory_is_read_back() {
        assert_eq!(cwd_from(b"/a b\n"), Some(PathBuf::from("/a b")));
        assert_eq!(cwd_from(b"/a\nb\n"), Some(PathBuf::from("/a\nb")));
        assert_eq!(cwd_from(b""), None);
        assert_eq!(cwd_from(b"relative\n"), None);
    }
}
