//! A mount namespace for a command: what is read-only in it, and what is
//! hidden.

use everfold_kernel::ports::SandboxProfile;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// The word by which this program is told to enter a sandbox.
pub(crate) const ENTER: &str = "__enter-sandbox";

/// Why there is none.
pub(super) const NONE: &str = "a mount namespace of its own is not available (user namespaces are off, and \
    bubblewrap is not installed or may not be used)";

/// How a namespace is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Namespace {
    /// By this program, which is started once more for it.
    Own(PathBuf),
    Bubblewrap(PathBuf),
}

/// What is mounted where. The deepest path decides.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Binds(pub(crate) Vec<Bind>);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Bind {
    pub(crate) path: PathBuf,
    pub(crate) kind: BindKind,
}

/// What a path becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum BindKind {
    /// It may be written.
    Writable,
    /// It stays as it is.
    ReadOnly,
    /// It is empty.
    Masked,
}

impl BindKind {
    pub(crate) const ALL: [(Self, &'static str); 3] =
        [(Self::Writable, "w"), (Self::ReadOnly, "r"), (Self::Masked, "m")];

    fn letter(self) -> &'static str {
        Self::ALL.iter().find(|(kind, _)| *kind == self).map_or("", |(_, letter)| letter)
    }
}

impl Binds {
    /// Whether nothing is hidden, and nothing stays as it is in what may be
    /// written: then no namespace is needed.
    pub(super) fn is_plain(&self) -> bool {
        self.0.iter().all(|bind| bind.kind == BindKind::Writable)
    }
}

/// The mounts of a profile, of what is there: shallow ones first.
pub(super) fn binds(profile: &SandboxProfile) -> Binds {
    let kinds = [
        (&profile.writable, BindKind::Writable),
        (&profile.read_only, BindKind::ReadOnly),
        (&profile.masked, BindKind::Masked),
    ];
    let mut all: Vec<Bind> = Vec::new();
    for (paths, kind) in kinds {
        for path in paths.iter().filter_map(|path| path.canonicalize().ok()) {
            all.retain(|bind| bind.path != path);
            all.push(Bind { path, kind });
        }
    }
    all.sort_by_key(|bind| (bind.path.components().count(), bind.path.clone()));
    // What is below something hidden is hidden with it, and what is not
    // writable needs nothing to stay as it is.
    let masked: Vec<PathBuf> = all
        .iter()
        .filter(|bind| bind.kind == BindKind::Masked)
        .map(|bind| bind.path.clone())
        .collect();
    let hidden = |path: &Path| masked.iter().any(|dir| path != dir && path.starts_with(dir));
    let writable: Vec<PathBuf> = all
        .iter()
        .filter(|bind| bind.kind == BindKind::Writable)
        .map(|bind| bind.path.clone())
        .collect();
    let matters = |bind: &Bind| {
        bind.kind != BindKind::ReadOnly || writable.iter().any(|dir| bind.path.starts_with(dir))
    };
    all.retain(|bind| !hidden(&bind.path) && matters(bind));
    Binds(all)
}

/// This program, where it enters sandboxes when it is started for that.
static ENTRANCE: OnceLock<PathBuf> = OnceLock::new();

/// Says that this program enters sandboxes.
pub(super) fn open_entrance() {
    if let Ok(program) = std::env::current_exe() {
        let _ = ENTRANCE.set(program);
    }
}

/// The first way to make a namespace that works here. It is tried once.
pub(super) fn find() -> Option<Namespace> {
    static FOUND: OnceLock<Option<Namespace>> = OnceLock::new();
    let look = || {
        let own = ENTRANCE.get().cloned().map(Namespace::Own);
        let wrap = on_path("bwrap").map(Namespace::Bubblewrap);
        own.into_iter().chain(wrap).find(works)
    };
    FOUND.get_or_init(look).clone()
}

/// Whether something can be hidden so.
fn works(space: &Namespace) -> bool {
    let Ok(dir) = tempfile::tempdir() else { return false };
    let Ok(path) = dir.path().canonicalize() else { return false };
    if std::fs::write(path.join("seen"), "x").is_err() {
        return false;
    }
    let binds = Binds(vec![Bind { path: path.clone(), kind: BindKind::Masked }]);
    let words = space.words(&binds, Path::new("/"));
    let Some((program, args)) = words.split_first() else { return false };
    let seen = path.join("seen");
    let status = Command::new(program)
        .args(args)
        .args(["sh".as_ref(), "-c".as_ref(), "test ! -e \"$0\"".as_ref(), seen.as_os_str()])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    status.is_ok_and(|status| status.success())
}

fn on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut found = std::env::split_paths(&path).map(|dir| dir.join(name));
    // What a repository puts there is not ours to run.
    found.find(|file| file.is_absolute() && file.is_file())
}

impl Namespace {
    /// The words that come before a command in such a namespace.
    pub(super) fn words(&self, binds: &Binds, cwd: &Path) -> Vec<OsString> {
        match self {
            Self::Own(program) => own_words(program, binds),
            Self::Bubblewrap(program) => wrap_words(program, binds, cwd),
        }
    }
}

fn own_words(program: &Path, binds: &Binds) -> Vec<OsString> {
    let mut words = vec![program.into(), ENTER.into()];
    for bind in &binds.0 {
        words.push(bind.kind.letter().into());
        words.push(bind.path.clone().into());
    }
    words.push("--".into());
    words
}

/// Not `--die-with-parent`: the parent is a thread, and it ends at once.
fn wrap_words(program: &Path, binds: &Binds, cwd: &Path) -> Vec<OsString> {
    let mut words: Vec<OsString> = vec![program.into()];
    words.extend(["--unshare-user", "--unshare-pid", "--cap-drop", "ALL"].map(OsString::from));
    words.extend(
        ["--ro-bind", "/", "/", "--dev-bind", "/dev", "/dev", "--proc", "/proc"]
            .map(OsString::from),
    );
    for Bind { path, kind } in &binds.0 {
        let path = || OsString::from(path.clone());
        let more: Vec<OsString> = match kind {
            BindKind::Writable => vec!["--bind".into(), path(), path()],
            BindKind::ReadOnly => vec!["--ro-bind".into(), path(), path()],
            BindKind::Masked if Path::new(&path()).is_dir() => {
                vec!["--tmpfs".into(), path(), "--remount-ro".into(), path()]
            }
            BindKind::Masked => vec!["--ro-bind".into(), "/dev/null".into(), path()],
        };
        words.extend(more);
    }
    words.extend(["--chdir".into(), cwd.into(), "--".into()]);
    words
}
