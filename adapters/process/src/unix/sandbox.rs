//! Commands that the operating system holds to a few directories, without a
//! network, and that do not see what is not for them (S8, S12).
//!
//! What stays as it is inside of a directory that may be written, and what is
//! hidden, needs a mount namespace of its own: [`namespace`], entered by this
//! program where it can be (`sandbox_entered`), or made by bubblewrap. Beneath it are Landlock and a filter of system calls
//! ([`restriction`]). What is not available in full is left out: the
//! command is not run.

#[cfg(target_os = "linux")]
pub(crate) mod entrance;
mod namespace;
mod placeholder;
mod restriction;

use everfold_kernel::ports::{SandboxProfile, SandboxState, ShellError};
use namespace::Namespace;
pub(super) use placeholder::Placeholders;
use process_wrap::tokio::{ChildWrapper, CommandWrap};
use restriction::NoRestriction;
use std::ffi::OsString;
use std::fmt::Display;
use std::io;
use std::path::{Path, PathBuf};

/// Whether commands can be held here; why not, where they cannot, in words that
/// end a sentence.
pub(super) fn state() -> SandboxState {
    match (restriction::available(), namespace::find()) {
        (Err(reason), _) => SandboxState::Missing(reason.to_string()),
        (Ok(()), None) => SandboxState::Missing(namespace::NONE.to_owned()),
        (Ok(()), Some(_)) => SandboxState::Ready,
    }
}

/// How a command is held.
pub(super) struct Holding {
    /// Words that come before the command's own.
    pub(super) before: Vec<OsString>,
    /// What stands in for what is not there, as long as it runs.
    pub(super) placeholders: Placeholders,
    /// What the thread that starts it is held to.
    thread: Restriction,
}

/// What a thread is held to.
enum Restriction {
    /// It writes in these places alone, and makes no sockets.
    Files(Vec<PathBuf>),
    /// It makes no sockets.
    Sockets,
    /// Nothing: the command enters its sandbox itself.
    None,
}

/// Finds out how a command can be held to a profile.
pub(super) fn hold(profile: &SandboxProfile, cwd: &Path) -> Result<Holding, ShellError> {
    let failed = |message: &dyn Display| ShellError::NoSandbox { message: message.to_string() };
    restriction::available().map_err(|error| failed(&error))?;
    let placeholders = Placeholders::put(profile);
    let binds = namespace::binds(profile);
    if binds.is_plain() {
        let thread = Restriction::Files(profile.writable.clone());
        return Ok(Holding { before: Vec::new(), placeholders, thread });
    }
    let space = namespace::find().ok_or_else(|| failed(&namespace::NONE))?;
    let before = space.words(&binds, cwd);
    let thread = match space {
        Namespace::Own(_) => Restriction::None,
        Namespace::Bubblewrap(_) => Restriction::Sockets,
    };
    Ok(Holding { before, placeholders, thread })
}

/// Starts a command as it is held. A restriction holds for the thread that asks
/// for it and for every process that it starts, for ever: so a thread of its
/// own restricts itself, starts the command, and ends. The inner result is that
/// of starting it.
pub(super) fn spawn(
    mut command: CommandWrap,
    holding: &Holding,
) -> Result<io::Result<Box<dyn ChildWrapper>>, ShellError> {
    let runtime = tokio::runtime::Handle::current();
    let started = std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            match &holding.thread {
                Restriction::Files(writable) => restriction::hold(writable)?,
                Restriction::Sockets => restriction::no_sockets()?,
                Restriction::None => {}
            }
            let _inside = runtime.enter();
            Ok(command.spawn())
        });
        thread.join().unwrap_or_else(|_| Err(NoRestriction::ThreadEnded))
    });
    started.map_err(|error| ShellError::NoSandbox { message: error.to_string() })
}
