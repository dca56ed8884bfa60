//! Commands that the operating system holds to a few directories, without a
//! network (S8).
//!
//! A restriction of Landlock and a filter of system calls hold for the thread
//! that asks for them and for every process that it starts, for ever. So a
//! thread of its own restricts itself, starts the command, and ends: nothing
//! else in this program is held, and no code runs between `fork` and `exec`.
//! What is not to be had in full is not had at all.

use everfold_kernel::ports::ShellError;
use process_wrap::tokio::{ChildWrapper, CommandWrap};
use std::io;
use std::path::PathBuf;

/// Whether commands can be held here; why not, where they cannot.
///
/// # Errors
/// The reason, in words that end a sentence.
pub fn available() -> Result<(), String> {
    std::thread::scope(|scope| {
        let tried = scope.spawn(|| held(&[]));
        tried.join().unwrap_or_else(|_| Err("the thread for it ended early".to_owned()))
    })
}

/// Starts a command that writes in these places alone. The inner result is
/// that of starting it.
pub(super) fn spawn(
    mut command: CommandWrap,
    writable: &[PathBuf],
) -> Result<io::Result<Box<dyn ChildWrapper>>, ShellError> {
    let runtime = tokio::runtime::Handle::current();
    let started = std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            held(writable)?;
            let _inside = runtime.enter();
            Ok(command.spawn())
        });
        thread.join().unwrap_or_else(|_| Err("the thread for it ended early".to_owned()))
    });
    started.map_err(|message| ShellError::NoSandbox { message })
}

#[cfg(not(target_os = "linux"))]
fn held(_writable: &[PathBuf]) -> Result<(), String> {
    Err("there is none on this platform".to_owned())
}

/// Holds the calling thread.
#[cfg(target_os = "linux")]
fn held(writable: &[PathBuf]) -> Result<(), String> {
    files(writable).map_err(|error| format!("Landlock cannot hold it: {error}"))?;
    sockets().map_err(|error| format!("its network cannot be taken away: {error}"))
}

/// Writing anywhere but in these places is refused.
#[cfg(target_os = "linux")]
fn files(writable: &[PathBuf]) -> Result<(), landlock::RulesetError> {
    use landlock::{
        ABI, AccessFs, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset, RulesetAttr,
        RulesetCreatedAttr,
    };
    /// Truncation is held from this one on (Linux 6.2).
    const NEEDED: ABI = ABI::V3;
    let mut rules = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_write(NEEDED))?
        .create()?;
    let devices = ["/dev/null", "/dev/zero", "/dev/tty", "/dev/full"].map(PathBuf::from);
    for path in writable.iter().chain(&devices) {
        // A place that is not there cannot be written to either.
        let Ok(place) = PathFd::new(path) else { continue };
        let rights = if path.is_dir() {
            AccessFs::from_write(NEEDED)
        } else {
            AccessFs::from_file(NEEDED) & AccessFs::from_write(NEEDED)
        };
        rules = rules.add_rule(PathBeneath::new(place, rights))?;
    }
    rules.restrict_self()?;
    Ok(())
}

/// No socket can be made, and none around the back by `io_uring`. Those of
/// this machine's own processes are left out too: behind one of them may be a
/// program that writes for whoever asks.
#[cfg(target_os = "linux")]
fn sockets() -> Result<(), String> {
    use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, TargetArch, apply_filter};
    let refused = u32::try_from(rustix::io::Errno::PERM.raw_os_error()).unwrap_or(1);
    let calls = [SOCKET, IO_URING_SETUP].map(|number| (number, Vec::new()));
    let filter = TargetArch::try_from(std::env::consts::ARCH)
        .and_then(|arch| {
            let (rest, these) = (SeccompAction::Allow, SeccompAction::Errno(refused));
            SeccompFilter::new(calls.into(), rest, these, arch)
        })
        .and_then(BpfProgram::try_from)
        .map_err(|error| error.to_string())?;
    apply_filter(&filter).map_err(|error| error.to_string())
}

/// The number of `socket`.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
const SOCKET: i64 = 41;
/// The number of `socket`, on machines that took the common table.
#[cfg(all(target_os = "linux", not(target_arch = "x86_64")))]
const SOCKET: i64 = 198;
/// The number of `io_uring_setup`, the same everywhere.
#[cfg(target_os = "linux")]
const IO_URING_SETUP: i64 = 425;
