//! What the kernel holds a thread and all that it starts to: where they write
//! (Landlock), and that they make no sockets (seccomp).

use std::path::PathBuf;

/// Why a thread cannot be held, in words that end a sentence.
#[derive(Debug, thiserror::Error)]
pub(super) enum NoRestriction {
    #[error("the thread for it ended early")]
    ThreadEnded,
    #[cfg(not(target_os = "linux"))]
    #[error("not available on this platform")]
    Platform,
    #[cfg(target_os = "linux")]
    #[error("Landlock cannot hold it: {0}")]
    Files(#[from] landlock::RulesetError),
    #[cfg(target_os = "linux")]
    #[error("its network cannot be taken away: {0}")]
    Filter(seccompiler::Error),
}

/// Whether a thread can be held here; why not, where it cannot.
pub(super) fn available() -> Result<(), NoRestriction> {
    std::thread::scope(|scope| {
        let tried = scope.spawn(|| hold(&[]));
        tried.join().unwrap_or(Err(NoRestriction::ThreadEnded))
    })
}

#[cfg(not(target_os = "linux"))]
pub(super) fn hold(_writable: &[PathBuf]) -> Result<(), NoRestriction> {
    Err(NoRestriction::Platform)
}

#[cfg(not(target_os = "linux"))]
pub(super) fn no_sockets() -> Result<(), NoRestriction> {
    Err(NoRestriction::Platform)
}

/// Holds the calling thread: it writes in these places alone, and makes no
/// sockets.
#[cfg(target_os = "linux")]
pub(super) fn hold(writable: &[PathBuf]) -> Result<(), NoRestriction> {
    files(writable)?;
    no_sockets()
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
pub(super) fn no_sockets() -> Result<(), NoRestriction> {
    use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, TargetArch, apply_filter};
    let refused = u32::try_from(rustix::io::Errno::PERM.raw_os_error()).unwrap_or(1);
    let calls = [SOCKET, IO_URING_SETUP].map(|number| (number, Vec::new()));
    let filter = TargetArch::try_from(std::env::consts::ARCH)
        .and_then(|arch| {
            let (rest, these) = (SeccompAction::Allow, SeccompAction::Errno(refused));
            SeccompFilter::new(calls.into(), rest, these, arch)
        })
        .and_then(BpfProgram::try_from)
        .map_err(|error| NoRestriction::Filter(error.into()))?;
    apply_filter(&filter).map_err(NoRestriction::Filter)
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
