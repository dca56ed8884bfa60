use everfold_disk::{EntryKind, Error, Root};
use proptest::prelude::*;
use std::fs;
use std::path::{Path, PathBuf};

fn p(path: &str) -> &Path {
    Path::new(path)
}

#[test]
fn s1_what_is_written_is_read_back() {
    let dir = tempfile::tempdir().unwrap();
    let root = Root::create(&dir.path().join("r")).unwrap();
    root.write(p("a/b/c.md"), b"one").unwrap();
    root.write(p("./a/b/c.md"), b"two").unwrap();
    assert_eq!(root.read(p("a/b/c.md"), 10).unwrap(), b"two");
    assert_eq!(super::names(&dir.path().join("r/a/b")), ["c.md"]);
    let sub = root.sub(p("a/b")).unwrap();
    assert_eq!(sub.read(p("c.md"), 3).unwrap(), b"two");
    let error = sub.read(p("c.md"), 2).unwrap_err();
    assert!(matches!(error, Error::TooLarge { bytes: 3, max: 2, .. }));
}

#[test]
fn s1_words_that_lead_out_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let root = Root::create(&dir.path().join("r")).unwrap();
    fs::write(dir.path().join("secret"), "s").unwrap();
    for path in ["../secret", "a/../../secret", "/etc/passwd", "a/.."] {
        let error = root.read(p(path), 10).unwrap_err();
        assert!(matches!(error, Error::Escapes { .. }), "{path}: {error}");
        assert!(matches!(root.write(p(path), b"x"), Err(Error::Escapes { .. })));
        assert!(matches!(root.create_new(p(path), b"x"), Err(Error::Escapes { .. })));
        assert!(matches!(root.remove(p(path)), Err(Error::Escapes { .. })));
        assert!(matches!(root.rename(p("x"), p(path)), Err(Error::Escapes { .. })));
        assert!(matches!(root.list(p(path)), Err(Error::Escapes { .. })));
        assert!(matches!(root.stat(p(path)), Err(Error::Escapes { .. })));
    }
}

#[cfg(unix)]
#[test]
fn s1_links_that_lead_out_are_refused() {
    use std::os::unix::fs::symlink;
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    fs::create_dir(&out).unwrap();
    fs::write(out.join("f"), "old").unwrap();
    let root = Root::create(&dir.path().join("r")).unwrap();
    symlink("../out", root.path().join("dir")).unwrap();
    symlink(&out, root.path().join("absolute")).unwrap();
    symlink("../out/f", root.path().join("file")).unwrap();
    symlink("../out/new", root.path().join("dangling")).unwrap();
    for path in ["dir/f", "absolute/f", "file"] {
        let error = root.read(p(path), 10).unwrap_err();
        assert!(matches!(error, Error::Escapes { .. }), "{path}: {error}");
    }
    for path in ["dir/f", "dir/g", "absolute/f", "file", "dangling"] {
        let error = root.write(p(path), b"x").unwrap_err();
        assert!(matches!(error, Error::Escapes { .. }), "{path}: {error}");
    }
    assert!(root.create_new(p("dir/g"), b"x").is_err());
    assert!(root.create_new(p("dangling"), b"x").is_err());
    assert!(root.remove(p("dir/f")).is_err());
    assert!(root.rename(p("file"), p("dir/h")).is_err());
    assert!(root.list(p("dir")).is_err());
    assert!(root.sub(p("dir")).is_err());
    assert_eq!(super::names(&out), ["f"]);
    assert_eq!(fs::read(out.join("f")).unwrap(), b"old");
    let leftovers = super::names(root.path());
    assert_eq!(leftovers, ["absolute", "dangling", "dir", "file"]);
}

#[cfg(unix)]
#[test]
fn s1_a_link_inside_is_followed_and_kept() {
    let dir = tempfile::tempdir().unwrap();
    let root = Root::create(dir.path()).unwrap();
    root.write(p("real/f"), b"old").unwrap();
    std::os::unix::fs::symlink("real/f", dir.path().join("link")).unwrap();
    root.write(p("link"), b"new").unwrap();
    assert_eq!(root.read(p("real/f"), 10).unwrap(), b"new");
    let link = root.stat(p("link")).unwrap().unwrap();
    assert_eq!(link.kind, EntryKind::Link);
    root.remove(p("link")).unwrap();
    assert!(root.stat(p("link")).unwrap().is_none());
    assert!(root.stat(p("real/f")).unwrap().is_some());
}

#[test]
fn create_new_never_replaces() {
    let dir = tempfile::tempdir().unwrap();
    let root = Root::create(dir.path()).unwrap();
    root.create_new(p("d/f"), b"one").unwrap();
    let error = root.create_new(p("d/f"), b"two").unwrap_err();
    assert!(matches!(error, Error::Exists { .. }), "{error}");
    assert_eq!(root.read(p("d/f"), 10).unwrap(), b"one");
    assert_eq!(super::names(&dir.path().join("d")), ["f"]);
}

#[test]
fn s6_create_new_has_one_winner() {
    let dir = tempfile::tempdir().unwrap();
    let root = Root::create(dir.path()).unwrap();
    let wins = std::thread::scope(|scope| {
        let tries: Vec<_> = (0..8_u8)
            .map(|n| {
                scope.spawn({
                    let root = &root;
                    move || root.create_new(p("f"), &[n]).is_ok()
                })
            })
            .collect();
        tries.into_iter().filter_map(|t| t.join().ok()).filter(|won| *won).count()
    });
    assert_eq!(wins, 1);
    assert_eq!(super::names(dir.path()), ["f"]);
}

#[cfg(unix)]
#[test]
fn s5_modes_are_private() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let root = Root::create(&dir.path().join("r")).unwrap();
    root.write(p("a/b/f"), b"x").unwrap();
    root.create_new(p("a/g"), b"x").unwrap();
    let mode = |path: &str| {
        let path = root.path().join(path);
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    };
    assert_eq!((mode(""), mode("a"), mode("a/b")), (0o700, 0o700, 0o700));
    assert_eq!((mode("a/b/f"), mode("a/g")), (0o600, 0o600));
}

#[test]
fn lists_and_walks_are_sorted_and_bounded() {
    let dir = tempfile::tempdir().unwrap();
    let root = Root::create(dir.path()).unwrap();
    for path in ["b", "a/x", "a/c/y", "z"] {
        root.write(p(path), b"12").unwrap();
    }
    fs::write(dir.path().join(".everfold-tmp-1-1"), "left by a crash").unwrap();
    let paths = |entries: Vec<everfold_disk::RootEntry>| -> Vec<PathBuf> {
        entries.into_iter().map(|entry| entry.path).collect()
    };
    assert_eq!(paths(root.list(p("")).unwrap()), [p("a"), p("b"), p("z")]);
    assert_eq!(paths(root.list(p("a")).unwrap()), [p("a/c"), p("a/x")]);
    let all = root.walk(p("."), 100).unwrap();
    assert!(all.iter().all(|entry| entry.bytes == 2 && entry.kind == EntryKind::File));
    assert_eq!(paths(all), [p("a/c/y"), p("a/x"), p("b"), p("z")]);
    assert_eq!(root.walk(p("."), 2).unwrap().len(), 2);
    assert!(matches!(root.list(p("none")), Err(Error::NotFound { .. })));
}

#[cfg(unix)]
#[test]
fn s6_a_loop_of_links_does_not_hold_a_walk() {
    let dir = tempfile::tempdir().unwrap();
    let root = Root::create(dir.path()).unwrap();
    root.write(p("a/f"), b"x").unwrap();
    std::os::unix::fs::symlink("..", dir.path().join("a/up")).unwrap();
    let kinds: Vec<_> = root.walk(p(""), 100).unwrap();
    assert_eq!(kinds.len(), 2);
    assert_eq!(kinds[1].kind, EntryKind::Link);
}

#[test]
fn renames_stay_inside() {
    let dir = tempfile::tempdir().unwrap();
    let root = Root::create(dir.path()).unwrap();
    root.write(p("a"), b"x").unwrap();
    root.rename(p("a"), p("new/b")).unwrap();
    assert!(root.stat(p("a")).unwrap().is_none());
    assert_eq!(root.read(p("new/b"), 1).unwrap(), b"x");
    let error = root.rename(p("a"), p("c")).unwrap_err();
    assert!(matches!(error, Error::NotFound { .. }), "{error}");
}

#[cfg(unix)]
#[test]
fn s6_things_in_the_way_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let root = Root::create(dir.path()).unwrap();
    root.write(p("d/f"), b"x").unwrap();
    assert!(matches!(root.write(p("d"), b"x"), Err(Error::IsDirectory { .. })));
    assert!(matches!(root.read(p("d"), 9), Err(Error::IsDirectory { .. })));
    assert!(root.write(p("d/f/g"), b"x").is_err(), "a file is not a directory");
    let fifo = dir.path().join("pipe");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &fifo,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_bits_truncate(0o600),
        0,
    )
    .unwrap();
    assert!(matches!(root.read(p("pipe"), 9), Err(Error::Special { .. })));
    assert!(matches!(root.write(p("pipe"), b"x"), Err(Error::Special { .. })));
    assert!(matches!(Root::open(&dir.path().join("none")), Err(Error::NotFound { .. })));
}

#[cfg(unix)]
#[test]
fn s6_a_read_only_directory_is_said() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    if !super::permissions_bind(dir.path()) {
        return;
    }
    let root = Root::create(&dir.path().join("r")).unwrap();
    fs::set_permissions(root.path(), fs::Permissions::from_mode(0o500)).unwrap();
    let error = root.write(p("f"), b"x").unwrap_err();
    assert!(matches!(error, Error::Denied { .. }), "{error}");
}

fn part() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("..".to_owned()),
        Just(".".to_owned()),
        Just(String::new()),
        Just("link".to_owned()),
        Just("up".to_owned()),
        Just("d".to_owned()),
        Just("bait".to_owned()),
        "[a-c ~$\\\\]{1,3}",
    ]
}

proptest! {
    #[test]
    fn s1_no_path_leads_out(parts in prop::collection::vec(part(), 1..6), lead in any::<bool>()) {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("out")).unwrap();
        fs::write(dir.path().join("bait"), "bait").unwrap();
        fs::write(dir.path().join("out/bait"), "bait").unwrap();
        let root = Root::create(&dir.path().join("r")).unwrap();
        fs::create_dir(root.path().join("d")).unwrap();
        #[cfg(unix)]
        {
            use std::os::unix::fs::symlink;
            symlink("../out", root.path().join("link")).unwrap();
            symlink("../..", root.path().join("d/up")).unwrap();
            symlink("..", root.path().join("up")).unwrap();
        }
        let mut path = parts.join("/");
        if lead {
            path = dir.path().join(path).to_str().unwrap().to_owned();
        }
        let _ = root.write(p(&path), b"changed");
        let _ = root.create_new(p(&path), b"changed");
        let _ = root.rename(p("d"), p(&path));
        if let Ok(read) = root.read(p(&path), 100) {
            prop_assert_eq!(read, b"changed");
        }
        let _ = root.sub(p(&path));
        let _ = root.remove(p(&path));
        prop_assert_eq!(fs::read(dir.path().join("bait")).unwrap(), b"bait");
        prop_assert_eq!(fs::read(dir.path().join("out/bait")).unwrap(), b"bait");
        prop_assert_eq!(super::names(dir.path()), ["bait", "out", "r"]);
        prop_assert_eq!(super::names(&dir.path().join("out")), ["bait"]);
    }
}

#[test]
fn s6_the_head_of_a_file_is_read_whatever_its_size() {
    let dir = tempfile::tempdir().unwrap();
    let root = Root::create(dir.path()).unwrap();
    let file = fs::File::create(dir.path().join("huge.md")).unwrap();
    file.set_len(1 << 30).unwrap();
    fs::write(dir.path().join("small.md"), "abc").unwrap();
    assert_eq!(root.head(p("huge.md"), 16).unwrap(), [0; 16]);
    assert_eq!(root.head(p("small.md"), 16).unwrap(), b"abc");
    let error = root.head(p("../x"), 16).unwrap_err();
    assert!(matches!(error, Error::Escapes { .. }), "{error}");
}
