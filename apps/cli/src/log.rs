//! The log file: `logs/everfold.log` in the home directory, for its owner alone
//! (S5). It is made when the first line is logged, so that a start that logs
//! nothing costs nothing.

use everfold_kernel::env;
use everfold_memory_judge::secrets;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;

use crate::setup::ProcessEnv;

/// A log file over this size is put aside before the next line.
const ROTATE_BYTES: u64 = 8 << 20;

/// How much is logged where `EVERFOLD_LOG` does not say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verbosity {
    /// What somebody should look at.
    Normal,
    Verbose,
}

impl Verbosity {
    pub(crate) fn of(verbose: bool) -> Self {
        if verbose { Self::Verbose } else { Self::Normal }
    }

    fn filter(self) -> &'static str {
        match self {
            Self::Normal => "warn",
            Self::Verbose => "warn,everfold=debug,everfold_engine=debug,everfold_provider=debug",
        }
    }
}

/// Starts logging. Without a home directory, or with a filter that cannot be
/// read, there is none: a log is never a reason to stop.
pub(crate) fn start(env: &ProcessEnv, verbosity: Verbosity) {
    let home = everfold_agent::settings::Home::resolve(&env.variables, env.user_home.as_deref());
    let Ok(home) = home else { return };
    let named = env.variables.get(env::LOG).filter(|filter| !filter.is_empty());
    let filter = named.map_or(verbosity.filter(), String::as_str);
    let Ok(filter) = EnvFilter::try_new(filter) else { return };
    let lazy = Lazy { path: home.root().join("logs").join("everfold.log"), file: Arc::default() };
    let subscriber = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(false)
        .with_writer(lazy)
        .finish();
    // One that is set already is as good.
    let _ = tracing::subscriber::set_global_default(subscriber);
}

/// A file that is opened by the first line.
#[derive(Clone)]
struct Lazy {
    path: PathBuf,
    file: Arc<Mutex<Option<File>>>,
}

impl<'a> MakeWriter<'a> for Lazy {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

/// Whether lines are dropped.
static HELD: AtomicBool = AtomicBool::new(false);

/// Drops all lines while a conversation is private (L5.31).
pub(crate) fn hold(held: bool) {
    HELD.store(held, Ordering::SeqCst);
}

impl Write for Lazy {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        if HELD.load(Ordering::SeqCst) {
            return Ok(line.len());
        }
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        if file.is_none() {
            *file = Some(open(&self.path)?);
        }
        if let Some(file) = file.as_mut() {
            // Errors of servers and tools repeat what they were sent (S15).
            let text = String::from_utf8_lossy(line);
            file.write_all(secrets::mask(&text).as_bytes())?;
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn open(path: &Path) -> io::Result<File> {
    if let Some(directory) = path.parent() {
        let mut builder = DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(directory)?;
    }
    if path.metadata().is_ok_and(|found| found.len() > ROTATE_BYTES) {
        std::fs::rename(path, path.with_extension("log.old"))?;
    }
    let mut options = OpenOptions::new();
    options.create(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s5_the_log_is_made_by_its_first_line_and_is_private() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("logs").join("everfold.log");
        let mut lazy = Lazy { path: path.clone(), file: Arc::default() };
        assert!(!path.exists());
        lazy.write_all(b"one\n").unwrap();
        lazy.write_all(b"two\n").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "one\ntwo\n");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
            assert_eq!(mode(&path), 0o600);
            assert_eq!(mode(path.parent().unwrap()), 0o700);
        }
    }

    #[test]
    fn a_large_log_is_put_aside() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("everfold.log");
        File::create(&path).unwrap().set_len(ROTATE_BYTES + 1).unwrap();
        open(&path).unwrap().write_all(b"new\n").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"new\n");
        assert!(dir.path().join("everfold.log.old").exists());
    }
}
