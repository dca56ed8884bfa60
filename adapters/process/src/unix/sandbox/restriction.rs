//! What the kernel holds a thread and all that it starts to: where they write
//! (Landlock), and that they make no sockets (seccomp).

use std::path::PathBuf;

/// Whether a thread can be held here; why not, where it cannot.
pub(super) fn available() -> Result<(), String> {
    std::thread::scope(|scope| {
        let tried = scope.spawn(|| hold(&[]));
        tried.join().unwrap_or_else(|_| Err("the thread for it ended early".to_owned()))
    })
}

#[cfg(not(target_os = "linux"))]
pub(super) fn hold(_writable: &[PathBuf]) -> Result<(), String> {
    Err("there is none on this platform".to_owned())
}

#[cfg(not(target_os = "linux"))]
pub(super) fn no_sockets() -> Result<(), String> {
    Err("there is none on this platform".to_owned())
}

/// Holds the calling thread: it writes in these places alone, and makes no
/// sockets.
#[cfg(target_os = "linux")]
pub(super) fn hold(writable: &[PathBuf]) -> Result<(), String> {
    files(writable).map_err(|error| format!("Landlock cannot hold it: {error}"))?;
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
pub(super) fn no_sockets() -> Result<(), String> {
    sockets().map_err(|error| format!("its network cannot be taken away: {error}"))
}

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
