//! What the figures were taken on.

use std::fs::read_to_string;
use std::process::Command;

/// The machine and the versions, one fact a line.
pub(crate) fn describe() -> String {
    let cores = std::thread::available_parallelism().map_or(0, std::num::NonZero::get);
    let cpu = field("/proc/cpuinfo", "model name");
    let memory: u64 = field("/proc/meminfo", "MemTotal")
        .split_whitespace()
        .next()
        .and_then(|kib| kib.parse().ok())
        .unwrap_or(0);
    let system = read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let load = read_to_string("/proc/loadavg").unwrap_or_default();
    let load: Vec<&str> = load.split_whitespace().take(3).collect();
    let rustc = Command::new("rustc").arg("--version").output();
    let rustc = rustc.map(|out| String::from_utf8_lossy(&out.stdout).trim().to_owned());
    let build = if cfg!(debug_assertions) { "debug (figures mean nothing)" } else { "release" };
    [
        format!("- date: {}", everfold_kernel::Timestamp::now().strftime("%Y-%m-%d")),
        format!("- machine: {cores} cores, {cpu}, {} GB of memory", memory / 1_000_000),
        format!("- system: {} {}", std::env::consts::OS, system.trim()),
        format!("- load when it began (1, 5, 15 minutes): {}", load.join(", ")),
        format!(
            "- everfold {}, {build} build, {}",
            env!("CARGO_PKG_VERSION"),
            rustc.unwrap_or_default()
        ),
    ]
    .join("\n")
}

fn field(path: &str, name: &str) -> String {
    let text = read_to_string(path).unwrap_or_default();
    let line = text.lines().find(|line| line.starts_with(name));
    let value = line.and_then(|line| line.split_once(':')).map(|(_, value)| value.trim());
    value.unwrap_or("unknown").to_owned()
}
