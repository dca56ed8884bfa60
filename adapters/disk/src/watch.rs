//! Whether anything changed below some directories, as the kernel tells it: to
//! look at 10,000 files takes longer than to answer a question about them.
//!
//! Where it cannot be told (another system, a disk of another machine, too many
//! directories) a watch is never quiet, and its owner looks for itself. It is not
//! told of a file that is written through a second name or as memory; so a watch
//! grows old, and is then no longer quiet either.

use std::path::Path;
use std::time::{Duration, Instant};

/// How long a watch is believed.
const BELIEVED: Duration = Duration::from_mins(10);

/// Directories that are watched. Each is to be added before it is looked at, so
/// that nothing happens between the look and the watch.
pub struct DirectoryWatch {
    since: Instant,
    #[cfg(target_os = "linux")]
    queue: Option<linux::Queue>,
}

impl Default for DirectoryWatch {
    fn default() -> Self {
        Self {
            since: Instant::now(),
            #[cfg(target_os = "linux")]
            queue: linux::Queue::new(),
        }
    }
}

impl DirectoryWatch {
    /// Watches a directory; those in it have to be added too.
    pub fn add(&mut self, dir: &Path) {
        #[cfg(target_os = "linux")]
        if self.queue.as_ref().is_some_and(|queue| !queue.add(dir)) {
            self.queue = None;
        }
        #[cfg(not(target_os = "linux"))]
        let _ = dir;
    }

    /// Whether nothing has happened since. Once it was not quiet, a watch is of no
    /// more use.
    #[must_use]
    pub fn is_quiet(&self) -> bool {
        #[cfg(target_os = "linux")]
        let is_silent = self.queue.as_ref().is_some_and(linux::Queue::is_empty);
        #[cfg(not(target_os = "linux"))]
        let is_silent = false;
        is_silent && self.since.elapsed() < BELIEVED
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use rustix::fs::inotify::{CreateFlags, Reader, WatchFlags, add_watch, init};
    use rustix::io::Errno;
    use std::mem::MaybeUninit;
    use std::os::fd::OwnedFd;
    use std::path::Path;

    /// Bytes of the longest event: its head and a file's name.
    const EVENT_BYTES: usize = 512;
    /// Disks of this machine, by the numbers that their systems go by: ext, XFS,
    /// Btrfs, tmpfs, overlay, F2FS, ZFS, bcachefs. On others, somebody else may
    /// write what this kernel does not see.
    const OWN_DISKS: [u64; 8] = [
        0xef53,
        0x5846_5342,
        0x9123_683e,
        0x0102_1994,
        0x794c_7630,
        0xf2f5_2010,
        0x2fc1_2fc1,
        0xca45_1a4e,
    ];

    pub(super) struct Queue(OwnedFd);

    impl Queue {
        pub(super) fn new() -> Option<Self> {
            init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).ok().map(Self)
        }

        pub(super) fn add(&self, dir: &Path) -> bool {
            let of_disk = rustix::fs::statfs(dir).ok().and_then(|disk| disk.f_type.try_into().ok());
            let is_own = of_disk.is_some_and(|disk: u64| OWN_DISKS.contains(&disk));
            let wanted = WatchFlags::MODIFY
                | WatchFlags::ATTRIB
                | WatchFlags::CREATE
                | WatchFlags::DELETE
                | WatchFlags::MOVE
                | WatchFlags::DELETE_SELF
                | WatchFlags::MOVE_SELF
                | WatchFlags::ONLYDIR;
            is_own && add_watch(&self.0, dir, wanted).is_ok()
        }

        pub(super) fn is_empty(&self) -> bool {
            let mut buffer = [MaybeUninit::uninit(); EVENT_BYTES];
            matches!(Reader::new(&self.0, &mut buffer).next(), Err(Errno::WOULDBLOCK))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// What a watch over a folder with a file says after something was done.
    fn is_quiet_after(act: impl Fn(&Path)) -> bool {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("a.md"), "one").unwrap();
        fs::create_dir(dir.path().join("sub")).unwrap();
        let mut watch = DirectoryWatch::default();
        watch.add(dir.path());
        act(dir.path());
        watch.is_quiet()
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn r16_a_watch_is_quiet_until_something_changes() {
        assert!(is_quiet_after(|_| ()));
        assert!(is_quiet_after(|dir| drop(fs::read(dir.join("a.md")).unwrap())));
        assert!(!is_quiet_after(|dir| fs::write(dir.join("a.md"), "two").unwrap()));
        assert!(!is_quiet_after(|dir| fs::write(dir.join("b.md"), "").unwrap()));
        assert!(!is_quiet_after(|dir| fs::remove_file(dir.join("a.md")).unwrap()));
        assert!(!is_quiet_after(|dir| fs::rename(dir.join("a.md"), dir.join("c.md")).unwrap()));
        assert!(!is_quiet_after(|dir| fs::create_dir(dir.join("new")).unwrap()));
        assert!(!is_quiet_after(|dir| fs::rename(dir, dir.with_extension("old")).unwrap()));
    }

    #[test]
    fn r16_a_watch_that_cannot_be_had_is_never_quiet() {
        let mut watch = DirectoryWatch::default();
        watch.add(Path::new("/nowhere/at/all"));
        assert!(!watch.is_quiet());
        let old = DirectoryWatch {
            since: Instant::now().checked_sub(BELIEVED).unwrap(),
            ..DirectoryWatch::default()
        };
        assert!(!old.is_quiet());
    }
}
