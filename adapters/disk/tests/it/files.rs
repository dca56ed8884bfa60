use super::run;
use everfold_disk::DiskFiles;
use everfold_kernel::ports::{Expect, FileError, FileKind, Files};
use std::fs;
use std::path::Path;

#[test]
fn q5_a_write_gives_the_version_that_a_read_gives() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("new/dir/f.txt");
    run(async {
        let version = DiskFiles.write(&path, b"a\nb\n", Expect::Absent).await.unwrap();
        let read = DiskFiles.read(&path, 100).await.unwrap();
        assert_eq!(read.version, version);
        assert_eq!(&read.bytes[..], b"a\nb\n");
        let lines = DiskFiles.read_lines(&path, 2, 1, 100).await.unwrap();
        assert_eq!(lines.version, version);
        assert_eq!(&lines.bytes[..], b"b\n");
        let stat = DiskFiles.stat(&path).await.unwrap();
        assert_eq!((stat.kind, stat.bytes), (FileKind::File, 4));
    });
}

#[test]
fn q5_a_write_goes_through_only_on_what_was_read() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("f");
    run(async {
        let one = DiskFiles.write(&path, b"one", Expect::Anything).await.unwrap();
        let error = DiskFiles.write(&path, b"x", Expect::Absent).await.unwrap_err();
        assert!(matches!(error, FileError::Changed { .. }), "{error}");
        let two = Expect::Version(one.clone());
        DiskFiles.write(&path, b"two", two).await.unwrap();
        let stale = Expect::Version(one.clone());
        let error = DiskFiles.write(&path, b"x", stale).await.unwrap_err();
        assert!(matches!(error, FileError::Changed { .. }), "{error}");
        assert_eq!(fs::read(&path).unwrap(), b"two");
        fs::remove_file(&path).unwrap();
        let gone = DiskFiles.write(&path, b"x", Expect::Version(one)).await;
        assert!(matches!(gone, Err(FileError::Changed { .. })));
        assert!(super::names(dir.path()).is_empty(), "nothing half-written");
    });
}

#[cfg(unix)]
#[test]
fn q5_a_persons_new_file_follows_the_umask() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let (path, plain) = (dir.path().join("f"), dir.path().join("plain"));
    fs::write(&plain, "").unwrap();
    run(DiskFiles.write(&path, b"x", Expect::Anything)).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode();
    assert_eq!(mode(&path), mode(&plain));
}

#[test]
fn s6_what_is_not_a_file_is_named() {
    let dir = tempfile::tempdir().unwrap();
    run(async {
        let none = dir.path().join("none");
        let error = DiskFiles.read(&none, 1).await.unwrap_err();
        assert_eq!(error, FileError::NotFound { path: none.clone() });
        assert!(matches!(DiskFiles.stat(&none).await, Err(FileError::NotFound { .. })));
        let at = dir.path();
        assert!(matches!(DiskFiles.read(at, 1).await, Err(FileError::IsDirectory { .. })));
        for expect in [Expect::Anything, Expect::Absent] {
            let error = DiskFiles.write(at, b"x", expect).await.unwrap_err();
            assert!(matches!(error, FileError::IsDirectory { .. }), "{error}");
        }
        assert_eq!(DiskFiles.stat(at).await.unwrap().kind, FileKind::Directory);
        let big = dir.path().join("big");
        fs::write(&big, "12345").unwrap();
        let error = DiskFiles.read(&big, 4).await.unwrap_err();
        assert!(matches!(error, FileError::TooLarge { bytes: 5, max: 4, .. }));
    });
}

#[cfg(target_os = "linux")]
#[test]
fn s6_devices_and_files_of_the_kernel() {
    run(async {
        for device in ["/dev/zero", "/dev/full", "/dev/null"] {
            let device = Path::new(device);
            assert_eq!(DiskFiles.stat(device).await.unwrap().kind, FileKind::Special);
            assert!(matches!(DiskFiles.read(device, 1).await, Err(FileError::Special { .. })));
            let lines = DiskFiles.read_lines(device, 1, 1, 1).await;
            assert!(matches!(lines, Err(FileError::Special { .. })));
            let error = DiskFiles.write(device, b"x", Expect::Anything).await.unwrap_err();
            assert!(matches!(error, FileError::Special { .. }), "{error}");
        }
        // It says it has no bytes, and has some.
        let stat = DiskFiles.read(Path::new("/proc/self/stat"), 1 << 20).await.unwrap();
        assert!(!stat.bytes.is_empty());
        let error = DiskFiles.read(Path::new("/proc/self/stat"), 3).await.unwrap_err();
        assert!(matches!(error, FileError::TooLarge { .. }), "{error}");
    });
}

#[cfg(unix)]
#[test]
fn s6_permissions_are_minded() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    if !super::permissions_bind(dir.path()) {
        return;
    }
    let path = dir.path().join("f");
    fs::write(&path, "x").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o400)).unwrap();
    let error = run(DiskFiles.write(&path, b"y", Expect::Anything)).unwrap_err();
    assert!(matches!(error, FileError::Denied { .. }), "a read-only file: {error}");
    let locked = dir.path().join("locked");
    fs::create_dir(&locked).unwrap();
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o500)).unwrap();
    let error = run(DiskFiles.write(&locked.join("f"), b"y", Expect::Anything)).unwrap_err();
    assert!(matches!(error, FileError::Denied { .. }), "a read-only directory: {error}");
    assert!(super::names(&locked).is_empty());
}

#[cfg(unix)]
#[test]
fn s1_resolve_shows_where_a_link_leads() {
    let dir = tempfile::tempdir().unwrap();
    let base = fs::canonicalize(dir.path()).unwrap();
    std::os::unix::fs::symlink("/etc", base.join("innocent")).unwrap();
    let resolved = run(DiskFiles.resolve(&base.join("innocent/new/../x")));
    assert_eq!(resolved, fs::canonicalize("/etc").unwrap().join("x"));
}
