//! The program, started once more to enter a sandbox and become a command.
//!
//! A user namespace can only be entered by a process of one thread, so it is
//! entered at the very start. Then: mounts, Landlock, the filter of system
//! calls, no way back, and the command in this process's place. Whatever of it
//! fails, the command is not run.

use super::namespace::{Bind, BindKind, Binds, ENTER, open_entrance};
use super::restriction;
use rustix::mount::{
    MountFlags, MountPropagationFlags, mount, mount_bind_recursive, mount_change, mount_remount,
};
use rustix::thread::UnshareFlags;
use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// What a shell says of a command that could not be started.
const NOT_RUN: u8 = 126;

/// Becomes the command of a sandbox where the program was started for that;
/// else remembers that it can be. Call it before anything else: no thread may
/// run yet.
#[must_use]
pub fn entered() -> Option<ExitCode> {
    let mut args = std::env::args_os().skip(1);
    if args.next().is_none_or(|first| first != ENTER) {
        open_entrance();
        return None;
    }
    let error = enter(args);
    // Nothing else is there to tell it.
    let _ = io::Write::write_all(&mut io::stderr(), format!("not run: {error}\n").as_bytes());
    Some(ExitCode::from(NOT_RUN))
}

fn enter(mut args: impl Iterator<Item = OsString>) -> io::Error {
    let mut binds = Binds::default();
    let command = loop {
        let Some(word) = args.next() else { return io::Error::other("there is no command") };
        if word == "--" {
            break args.collect::<Vec<OsString>>();
        }
        let kind = BindKind::ALL.iter().find(|(_, letter)| word == *letter);
        let (Some((kind, _)), Some(path)) = (kind, args.next()) else {
            return io::Error::other("its mounts cannot be read");
        };
        binds.0.push(Bind { path: PathBuf::from(path), kind: *kind });
    };
    let Some((program, args)) = command.split_first() else {
        return io::Error::other("there is no command");
    };
    match confine(&binds) {
        Ok(()) => Command::new(program).args(args).exec(),
        Err(error) => error,
    }
}

fn confine(binds: &Binds) -> io::Result<()> {
    let cwd = std::env::current_dir()?;
    let (user, group) = (rustix::process::getuid(), rustix::process::getgid());
    #[expect(deprecated, reason = "no file descriptors are shared: this process has one thread")]
    rustix::thread::unshare(UnshareFlags::NEWUSER | UnshareFlags::NEWNS)?;
    std::fs::write("/proc/self/setgroups", "deny")?;
    let (user, group) = (user.as_raw(), group.as_raw());
    std::fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
    std::fs::write("/proc/self/gid_map", format!("{group} {group} 1"))?;
    mount_change("/", MountPropagationFlags::REC | MountPropagationFlags::PRIVATE)?;
    // A mount that is made read-only keeps those in it as they were, so what
    // may be written comes first.
    for (kind, _) in BindKind::ALL {
        for bind in binds.0.iter().filter(|bind| bind.kind == kind) {
            apply(bind)?;
        }
    }
    // The old one is a way around what was mounted over it.
    std::env::set_current_dir(&cwd)?;
    let writable: Vec<PathBuf> = binds
        .0
        .iter()
        .filter(|bind| bind.kind == BindKind::Writable)
        .map(|bind| bind.path.clone())
        .collect();
    rustix::thread::set_no_new_privs(true)?;
    restriction::hold(&writable).map_err(io::Error::other)
}

fn apply(bind: &Bind) -> io::Result<()> {
    let path = bind.path.as_path();
    match bind.kind {
        // Landlock says what may be written; a mount of its own keeps what is
        // mounted around it from reaching in.
        BindKind::Writable => Ok(mount_bind_recursive(path, path)?),
        BindKind::ReadOnly => {
            mount_bind_recursive(path, path)?;
            read_only(path)
        }
        BindKind::Masked if path.is_dir() => {
            let flags = MountFlags::RDONLY | MountFlags::NOSUID | MountFlags::NODEV;
            Ok(mount("tmpfs", path, "tmpfs", flags, Some(c"size=0,mode=555"))?)
        }
        BindKind::Masked => {
            mount_bind_recursive("/dev/null", path)?;
            read_only(path)
        }
    }
}

/// Flags of the mount that a path is on have to stay: they are locked in a
/// namespace of a user.
fn read_only(path: &Path) -> io::Result<()> {
    use rustix::fs::{StatVfsMountFlags, statvfs};
    let now = statvfs(path)?.f_flag;
    let kept = [
        (StatVfsMountFlags::NOSUID, MountFlags::NOSUID),
        (StatVfsMountFlags::NODEV, MountFlags::NODEV),
        (StatVfsMountFlags::NOEXEC, MountFlags::NOEXEC),
        (StatVfsMountFlags::NOATIME, MountFlags::NOATIME),
        (StatVfsMountFlags::NODIRATIME, MountFlags::NODIRATIME),
        (StatVfsMountFlags::RELATIME, MountFlags::RELATIME),
    ];
    let kept = kept.iter().filter(|(has, _)| now.contains(*has));
    let flags = kept.fold(MountFlags::BIND | MountFlags::RDONLY, |all, (_, flag)| all | *flag);
    Ok(mount_remount(path, flags, "")?)
}
