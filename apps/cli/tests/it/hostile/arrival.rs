//! How a repository gets to a person: by real programs, `git` above all.

use super::{Attack, copy, put};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

/// How the repository got here.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Arrival {
    Clone,
    /// Only its newest commit.
    Shallow,
    /// A clone that takes its objects from somewhere else.
    Alternates,
    /// A tarball: no `.git` at all.
    Unpacked,
    /// The same as a zip, which knows no links.
    Zip,
    /// A tarball with `.git`, in which nothing is tracked.
    Untracked,
    /// One whose index is gone.
    NoIndex,
    /// One whose index is damaged.
    Damaged,
    /// One whose index is split in two.
    SplitIndex,
    Worktree,
    Submodule,
    /// A clone within a repository that is trusted.
    Nested,
    /// The files lie in a bare repository.
    Bare,
    /// `.git` is a file that leads elsewhere.
    GitFile,
    /// `.git` is a link.
    GitLink,
    /// A tarball whose `.git/config` and hooks run whatever git runs.
    HostileConfig,
    /// One whose `.git/config` says that the files are those at home.
    ForeignWorktree,
}

pub(super) const ARRIVALS: [Arrival; 17] = [
    Arrival::Clone,
    Arrival::Shallow,
    Arrival::Alternates,
    Arrival::Unpacked,
    Arrival::Zip,
    Arrival::Untracked,
    Arrival::NoIndex,
    Arrival::Damaged,
    Arrival::SplitIndex,
    Arrival::Worktree,
    Arrival::Submodule,
    Arrival::Nested,
    Arrival::Bare,
    Arrival::GitFile,
    Arrival::GitLink,
    Arrival::HostileConfig,
    Arrival::ForeignWorktree,
];

/// Hooks that git runs by itself.
const HOOKS: &[&str] = &[
    "post-checkout",
    "post-index-change",
    "reference-transaction",
    "pre-commit",
    "post-commit",
    "post-merge",
    "pre-auto-gc",
    "fsmonitor-watchman",
];

pub(super) fn git(dir: &Path, args: &[&str]) {
    let output = Command::new("git")
        .args(["-c", "user.name=m", "-c", "user.email=m@example.org"])
        .args(["-c", "protocol.file.allow=always", "-c", "init.defaultBranch=trunk", "-C"])
        .arg(dir)
        .args(args)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
}

fn commit(dir: &Path) {
    git(dir, &["init", "-q"]);
    git(dir, &["add", "-A", "-f"]);
    git(dir, &["commit", "-q", "--allow-empty", "-m", "x"]);
}

impl Attack {
    /// Brings the repository to the person.
    pub(super) fn arrive(&self, arrival: Arrival) {
        let (source, here) = (self.source(), self.here());
        let (from, to) = (source.to_str().unwrap(), here.to_str().unwrap());
        let (root, by_name) = (self.desk.files.root(), format!("file://{from}"));
        if !matches!(arrival, Arrival::Unpacked | Arrival::Untracked) {
            commit(&source);
        }
        match arrival {
            Arrival::Unpacked => copy(&source, &here),
            Arrival::Zip => {
                let zip = root.join("x.zip");
                git(&source, &["archive", "-o", zip.to_str().unwrap(), "HEAD"]);
                let unzip = ["-m", "zipfile", "-e", zip.to_str().unwrap(), to];
                assert!(Command::new("python3").args(unzip).status().unwrap().success());
            }
            Arrival::Bare => {
                git(root, &["clone", "-q", "--bare", from, to]);
                std::fs::remove_dir_all(source.join(".git")).unwrap();
                copy(&source, &here);
            }
            Arrival::Untracked => {
                copy(&source, &here);
                git(&here, &["init", "-q"]);
            }
            Arrival::Worktree => git(&source, &["worktree", "add", "-q", "-b", "other", to]),
            Arrival::Submodule => {
                git(&self.outer(), &["submodule", "add", "-q", from, "sub"]);
                symlink(root.join("outer/sub"), &here).unwrap();
            }
            Arrival::Nested => {
                let outer = self.outer();
                let mut trust = self.desk.command(&["trust"]);
                assert!(trust.current_dir(&outer).output().unwrap().status.success());
                git(&outer, &["clone", "-q", from, "sub"]);
                symlink(outer.join("sub"), &here).unwrap();
            }
            Arrival::Shallow => git(root, &["clone", "-q", "--depth", "1", &by_name, to]),
            Arrival::Alternates => git(root, &["clone", "-q", "--shared", from, to]),
            _ => git(root, &["clone", "-q", from, to]),
        }
        self.bend(arrival);
    }

    /// A repository of the person's own, around the other.
    fn outer(&self) -> PathBuf {
        let outer = self.desk.files.root().join("outer");
        put(&outer.join(".claude/settings.json"), r#"{"env": {"OURS": "1"}}"#);
        commit(&outer);
        outer
    }

    /// What a tarball brings that no clone has.
    fn bend(&self, arrival: Arrival) {
        let (here, elsewhere) = (self.here(), self.desk.files.root().join("elsewhere"));
        let dot = here.join(".git");
        match arrival {
            Arrival::NoIndex => std::fs::remove_file(dot.join("index")).unwrap(),
            Arrival::Damaged => std::fs::write(dot.join("index"), b"DIRC garbage").unwrap(),
            Arrival::SplitIndex => git(&here, &["update-index", "--split-index"]),
            Arrival::GitFile | Arrival::GitLink => {
                std::fs::rename(&dot, &elsewhere).unwrap();
                self.arm(&elsewhere);
                if arrival == Arrival::GitFile {
                    std::fs::write(&dot, format!("gitdir: {}\n", elsewhere.display())).unwrap();
                } else {
                    symlink(&elsewhere, &dot).unwrap();
                }
            }
            Arrival::HostileConfig => self.arm(&dot),
            Arrival::ForeignWorktree => {
                let home = self.desk.files.home();
                git(&here, &["config", "core.worktree", home.to_str().unwrap()]);
            }
            _ => {}
        }
    }

    /// Everything in a folder of git by which git runs something.
    fn arm(&self, dot: &Path) {
        let touch = self.touch();
        let filter = |kind: &str| format!("[{kind} \"x\"]\n");
        let config = [
            format!("[core]\n\tfsmonitor = {touch}\n\tsshCommand = {touch}\n"),
            format!("\tpager = {touch}\n\teditor = {touch}\n\tattributesFile = evil\n"),
            format!("{}\tclean = {touch}\n\tsmudge = {touch}\n", filter("filter")),
            format!("\tprocess = {touch}\n"),
            format!("{}\ttextconv = {touch}\n\tcommand = {touch}\n", filter("diff")),
            format!("{}\tdriver = {touch}\n", filter("merge")),
            format!("[diff]\n\texternal = {touch}\n[credential]\n\thelper = !{touch}\n"),
            format!("[alias]\n\tworktree = !{touch}\n\tstatus = !{touch}\n"),
            format!("[remote \"origin\"]\n\turl = ext::{touch}\n\tuploadpack = {touch}\n"),
            format!("[gpg]\n\tprogram = {touch}\n[commit]\n\tgpgSign = true\n"),
            "[include]\n\tpath = evil\n".to_owned(),
        ];
        let mut own = std::fs::read_to_string(dot.join("config")).unwrap();
        own.push_str(&config.concat());
        put(&dot.join("config"), &own);
        put(&dot.join("evil"), &format!("[core]\n\tfsmonitor = {touch}\n"));
        put(&dot.join("info/attributes"), "* filter=x diff=x merge=x\n");
        for hook in HOOKS {
            put(&dot.join("hooks").join(hook), &format!("#!/bin/sh\n{touch}\n"));
        }
    }
}
