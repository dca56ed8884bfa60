use super::*;
use std::fs;

fn inputs<'a>() -> LocationInputs<'a> {
    LocationInputs {
        override_path: None,
        setting: None,
        home: Path::new("/h/.everfold"),
        os_home: Some(Path::new("/h/ann")),
        git_root: None,
        cwd: Path::new("/src/app"),
    }
}

#[test]
fn l5_1_the_first_who_may_say_so_decides() {
    let at = |inputs: &LocationInputs<'_>| {
        resolve(inputs).map(|l| (l.dir.display().to_string(), l.source)).unwrap()
    };
    let default = "/h/.everfold/projects/-src-app/memory".to_owned();
    assert_eq!(at(&inputs()), (default.clone(), LocationSource::Default));
    let git = LocationInputs { git_root: Some(Path::new("/src")), ..inputs() };
    assert_eq!(at(&git).0, "/h/.everfold/projects/-src/memory");
    let user = LocationInputs { setting: Some(("~/mem", SetBy::User)), ..inputs() };
    assert_eq!(at(&user), ("/h/ann/mem".into(), LocationSource::Setting(SetBy::User)));
    let both = LocationInputs { override_path: Some(" /data/./x/../mem "), ..user };
    assert_eq!(at(&both), ("/data/mem".into(), LocationSource::Override));
    let repository = LocationInputs { setting: Some(("~/.ssh", SetBy::Repository)), ..inputs() };
    assert_eq!(at(&repository), (default, LocationSource::Default));
    assert_eq!(resolve(&repository).unwrap().ignored.as_deref(), Some("~/.ssh"));
}

#[test]
fn l5_2_places_that_are_refused() {
    let bad = [
        "mem",
        "./mem",
        "../mem",
        "/",
        "/mem",
        "//",
        "/a/..",
        "/a/../b",
        "/a/b/../../..",
        "C:\\",
        "C:",
        "c:/",
        "C:/.",
        "\\\\server\\share\\x",
        "//server/share/x",
        "/a/b\0c",
        "   ",
        "~",
        "~/",
        "~/.",
        "~/x/..",
        "~ann/mem",
        "/h/ann",
        "/h/./ann/",
    ];
    for path in bad {
        let inputs = LocationInputs { setting: Some((path, SetBy::Managed)), ..inputs() };
        let error = resolve(&inputs).unwrap_err();
        assert!(matches!(error, Error::BadLocation { .. }), "{path:?}");
    }
}

#[test]
fn l5_1_the_folder_of_a_project_is_named_as_claude_code_names_it() {
    let slug = |path: &str| project_slug(Path::new(path));
    assert_eq!(slug("/home/u/my.proj_x"), "-home-u-my-proj-x");
    assert_eq!(slug("/"), "-");
    assert_eq!(slug("/tmp/été"), "-tmp--t-");
    assert_eq!(slug("/tmp/e\u{301}te\u{301}"), "-tmp--t-");
    assert_eq!(slug("/tmp/😀"), "-tmp---");
    let long = slug(&format!("/a/{}", "b".repeat(250)));
    assert_eq!((long.len(), long.ends_with("b-hvza71")), (207, true), "{long}");
    assert_eq!(short_hash("/home/u/my.proj_x"), "z78519");
    assert_eq!(short_hash("/"), "1b");
    assert_eq!(short_hash("C:\\Users\\me\\proj"), "7g9guw");
}

fn repository(dir: &Path) {
    fs::create_dir_all(dir.join(".git")).unwrap();
    fs::write(dir.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
}

fn worktree(repository: &Path, tree: &Path, name: &str) {
    let own = repository.join("worktrees").join(name);
    fs::create_dir_all(&own).unwrap();
    fs::create_dir_all(tree).unwrap();
    fs::write(own.join("gitdir"), format!("{}\n", tree.join(".git").display())).unwrap();
    fs::write(own.join("commondir"), "../..\n").unwrap();
    fs::write(tree.join(".git"), format!("gitdir: {}\n", own.display())).unwrap();
}

#[test]
fn l5_1_all_worktrees_share_one_root() {
    let temp = tempfile::tempdir().unwrap();
    let base = temp.path().canonicalize().unwrap();
    let main = base.join("main");
    repository(&main);
    worktree(&main.join(".git"), &base.join("tree"), "t");
    fs::create_dir_all(base.join("tree/src")).unwrap();
    assert_eq!(git_root(&main), Some(main.clone()));
    assert_eq!(git_root(&base.join("tree/src")), Some(main));
    let store = base.join("bare.git");
    worktree(&store, &base.join("other"), "o");
    assert_eq!(git_root(&base.join("other")), Some(store));
    fs::create_dir_all(base.join("plain/.git")).unwrap();
    assert_eq!(git_root(&base.join("plain")), None);
}

#[test]
fn l5_1_a_git_file_cannot_claim_another_repository() {
    let temp = tempfile::tempdir().unwrap();
    let base = temp.path().canonicalize().unwrap();
    let victim = base.join("victim");
    repository(&victim);
    worktree(&victim.join(".git"), &base.join("tree"), "t");
    let evil = base.join("evil");
    fs::create_dir_all(&evil).unwrap();
    fs::copy(base.join("tree/.git"), evil.join(".git")).unwrap();
    assert_eq!(git_root(&evil), Some(evil));
}
