//! The shell that commands run in.

use everfold_kernel::env;
use everfold_kernel::ports::Shell;
use everfold_process::{BashShell, ShellConfig};
use everfold_settings::Resolved;
use std::path::PathBuf;
use std::sync::Arc;

/// Where programs are looked for.
pub(crate) const PATH: &str = "PATH";

/// A shell whose commands do not see the provider's keys (S5).
pub(crate) fn make(resolved: &Resolved) -> Arc<dyn Shell> {
    Arc::new(BashShell::new(config(resolved)))
}

/// The same with folders of programs at the end of its PATH.
pub(crate) fn with_path(
    resolved: &Resolved,
    path: Option<&str>,
    folders: &[PathBuf],
) -> Arc<dyn Shell> {
    let mut config = config(resolved);
    let known = config.env.get(PATH).map_or(path.unwrap_or_default(), String::as_str);
    let all = std::env::split_paths(known).chain(folders.iter().cloned());
    if let Ok(all) = std::env::join_paths(all) {
        config.env.insert(PATH.to_owned(), all.to_string_lossy().into_owned());
    }
    Arc::new(BashShell::new(config))
}

/// What programs see of our environment.
pub(crate) fn config(resolved: &Resolved) -> ShellConfig {
    let keys = [env::ANTHROPIC_API_KEY, env::ANTHROPIC_AUTH_TOKEN, env::OPENAI_API_KEY];
    ShellConfig { scrub: keys.map(str::to_owned).to_vec(), env: resolved.settings.env.clone() }
}
