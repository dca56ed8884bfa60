//! Programs of others that ours has to get on with: official SDKs and tools,
//! installed once from their registries into `target/interop`.
//!
//! Where that cannot be done (no Python, no npm, no network), a test says so
//! and passes by; what it would have compared is tested by our own words too.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// How long the name of a folder becomes, with many packages.
const NAME_CHARS: usize = 200;

/// A Python with these packages, as `name==version`.
#[must_use]
pub fn python(packages: &[&str]) -> Option<PathBuf> {
    let dir = installed("python", packages, &|dir| {
        let made = ok(Command::new("python3").args(["-m", "venv"]).arg(dir.join("venv")));
        let pip = ["-m", "pip", "install", "--quiet", "--timeout", "15", "--retries", "1"];
        made && ok(Command::new(interpreter(dir)).args(pip).args(packages))
    })?;
    Some(interpreter(&dir))
}

/// A folder whose `node_modules` has these packages, as `name@version`.
#[must_use]
pub fn node(packages: &[&str]) -> Option<PathBuf> {
    installed("node", packages, &|dir| {
        let npm = ["install", "--silent", "--no-audit", "--no-fund", "--fetch-retries", "1"];
        fs::write(dir.join("package.json"), "{}").is_ok()
            && ok(Command::new("npm").args(npm).arg("--prefix").arg(dir).args(packages))
    })
}

fn interpreter(dir: &Path) -> PathBuf {
    dir.join("venv").join("bin").join("python")
}

/// A folder in which something was installed, now or earlier. Tests that run
/// at once wait for each other.
fn installed(kind: &str, packages: &[&str], install: &dyn Fn(&Path) -> bool) -> Option<PathBuf> {
    let plain = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '-' };
    let name: String =
        format!("{kind} {}", packages.join(" ")).chars().map(plain).take(NAME_CHARS).collect();
    let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join("target");
    let dir = target.join("interop").join(name);
    fs::create_dir_all(&dir).ok()?;
    let lock = File::create(dir.join("lock")).ok()?;
    lock.lock().ok()?;
    let ready = dir.join("ready");
    if !ready.exists() {
        if !install(&dir) {
            skip(&format!("{} cannot be installed here", packages.join(", ")));
            return None;
        }
        File::create(ready).ok()?;
    }
    dir.canonicalize().ok()
}

/// Says that a test passes by, where whoever runs it sees that.
pub fn skip(why: &str) {
    let name = std::thread::current().name().unwrap_or("a test").to_owned();
    // Past the test harness, which would keep it to itself.
    let _ = writeln!(std::io::stderr(), "note: {name} was skipped: {why}");
}

fn ok(command: &mut Command) -> bool {
    let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    quiet.status().is_ok_and(|status| status.success())
}
