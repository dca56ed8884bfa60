//! The checks of the house, run as `cargo xtask check`.
//!
//! What a lint cannot see is looked at here: who may depend on whom, how long
//! a file may be, whether the documents still tell the truth. The crate uses
//! none of the workspace's own crates, so that it builds while they do not.

mod check;
mod conformance;
mod exceptions;
mod markdown;
mod nats_server;
mod rust_code;
mod rust_names;
mod soak;
mod spec;
mod tree;

use anyhow::{Context, Result, bail};
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask check
       cargo xtask conformance [--spec FILE] [--all | --seed]
       cargo xtask soak [NAME] [--release]

check         look for what the rules of this repository forbid
conformance   list requirement ids without a test
soak          run the full figures that are too long for every change
NAME          those whose name contains this
--release     built as for people
--spec FILE   the specification, where it is not beside the repository
--all         the others too, each with its tests
--seed        what defines the system, each with the scenarios that drive the
              program; fails where one has none
";

fn main() -> ExitCode {
    match run() {
        Ok(code) => code,
        Err(error) => {
            // Nothing is left to do if standard error is closed.
            let _ = writeln!(std::io::stderr(), "xtask: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<ExitCode> {
    let arguments = Arguments::parse(std::env::args().skip(1))?;
    let root = root()?;
    if let Task::Soak(wanted) = &arguments.task {
        return soak::report(&root, wanted, &mut std::io::stdout().lock());
    }
    let tree = tree::Tree::read(&root)?;
    let mut out = std::io::stdout().lock();
    match arguments.task {
        Task::Check => check::report(&tree, &mut out),
        Task::Conformance { listed } => {
            let spec = spec::Spec::find(&root, arguments.spec)?;
            conformance::report(&tree, spec.as_ref(), listed, &mut out)
        }
        Task::Soak(_) | Task::Help => {
            out.write_all(USAGE.as_bytes())?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

/// The repository: the folder above this package.
fn root() -> Result<PathBuf> {
    let package = std::env::var_os("CARGO_MANIFEST_DIR")
        .context("start it as `cargo xtask`, so that it knows where the repository is")?;
    let package = PathBuf::from(package);
    let root = package.parent().context("xtask has no parent folder")?;
    Ok(root.to_owned())
}

struct Arguments {
    task: Task,
    spec: Option<PathBuf>,
}

enum Task {
    Check,
    Conformance { listed: conformance::Listed },
    Soak(soak::Wanted),
    Help,
}

impl Arguments {
    fn parse(mut words: impl Iterator<Item = String>) -> Result<Self> {
        let mut task = None;
        let mut spec = None;
        let mut listed = conformance::Listed::Open;
        let mut wanted = soak::Wanted { name: None, profile: soak::Profile::Dev };
        while let Some(word) = words.next() {
            match word.as_str() {
                "check" | "conformance" | "soak" | "help" | "--help" | "-h" if task.is_none() => {
                    task = Some(word);
                }
                "--spec" => spec = Some(words.next().context("--spec needs a file")?.into()),
                "--only" => wanted.name = Some(words.next().context("--only needs a name")?),
                "--release" => wanted.profile = soak::Profile::Release,
                "--all" => listed = conformance::Listed::All,
                "--seed" => listed = conformance::Listed::Seeds,
                name if task.as_deref() == Some("soak") && !name.starts_with('-') => {
                    wanted.name = Some(word);
                }
                other => bail!("`{other}` is not understood here\n{USAGE}"),
            }
        }
        let task = match task.as_deref() {
            Some("check") => Task::Check,
            Some("conformance") => Task::Conformance { listed },
            Some("soak") => Task::Soak(wanted),
            _ => Task::Help,
        };
        Ok(Self { task, spec })
    }
}
