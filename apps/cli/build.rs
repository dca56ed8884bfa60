//! Links what runs at every start side by side (E11).
//!
//! A start runs some two megabytes of code out of nearly forty. The system maps
//! what lies around each page, so spread over the whole program it kept twenty
//! megabytes more in memory. `startup.order` names what a start runs, and
//! `bench/start/order.py` writes it. Names that are not there any more (another
//! compiler, other versions of crates) are passed over: the order is of no
//! effect on what the program does.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

const ORDER: &str = "startup.order";
/// For `bench/start/order.py`: where the linker says what stands where.
const MAP: &str = "EVERFOLD_LINK_MAP";

fn main() {
    tell("rerun-if-changed", ORDER);
    tell("rerun-if-env-changed", MAP);
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|found| found == value);
    if !is("PROFILE", "release") || !is("TARGET", "x86_64-unknown-linux-gnu") {
        return;
    }
    let Some(order) = env::var_os("CARGO_MANIFEST_DIR").map(|dir| Path::new(&dir).join(ORDER))
    else {
        return;
    };
    let order = format!("-Wl,--symbol-ordering-file={}", order.display());
    let order = [order.as_str(), "-Wl,--no-warn-symbol-ordering"];
    // Four megabytes of addresses to correct at each start become forty kilobytes.
    // Loaders before glibc 2.36 cannot, so a program for other machines goes without.
    let packed = ["-Wl,-z,pack-relative-relocs"];
    let corrections = if is_for_here() { &packed[..] } else { &[] };
    for arguments in [&order[..], corrections].into_iter().filter(|own| !own.is_empty()) {
        if is_taken(arguments).is_some() {
            for argument in arguments {
                tell("rustc-link-arg-bins", argument);
            }
        }
    }
    if let Ok(map) = env::var(MAP) {
        tell("rustc-link-arg-bins", &format!("-Wl,-Map={map},--no-demangle"));
    }
}

/// Whether the profile is that of people who build for themselves.
fn is_for_here() -> bool {
    let out = env::var_os("OUT_DIR").map(PathBuf::from);
    let profile = out.as_deref().and_then(|out| out.ancestors().nth(3)?.file_name());
    profile.is_some_and(|name| name == "release")
}

/// Whether the linker here knows the arguments, and what it makes of them runs:
/// not every system's loader does.
fn is_taken(arguments: &[&str]) -> Option<()> {
    let dir = PathBuf::from(env::var_os("OUT_DIR")?);
    let (source, program) = (dir.join("probe.rs"), dir.join("probe"));
    std::fs::write(&source, "fn main() {}").ok()?;
    let mut rustc = Command::new(env::var_os("RUSTC")?);
    rustc.arg(&source).arg("-o").arg(&program);
    if let Ok(flags) = env::var("CARGO_ENCODED_RUSTFLAGS") {
        rustc.args(flags.split('\x1f').filter(|flag| !flag.is_empty()));
    }
    if let Some(linker) = env::var_os("RUSTC_LINKER") {
        rustc.arg("-C").arg(format!("linker={}", Path::new(&linker).display()));
    }
    rustc.args(arguments.iter().map(|argument| format!("-Clink-arg={argument}")));
    let links = rustc.output().ok()?.status.success();
    let runs = links && Command::new(&program).status().ok()?.success();
    runs.then_some(())
}

/// A word to cargo.
fn tell(key: &str, value: &str) {
    println!("cargo::{key}={value}");
}
