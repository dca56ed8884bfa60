//! The shell that commands run in.

use mnemon_kernel::env;
use mnemon_kernel::ports::Shell;
use mnemon_process::{BashShell, ShellConfig};
use mnemon_settings::Resolved;
use std::sync::Arc;

/// A shell whose commands do not see the provider's keys (S5).
pub(crate) fn make(resolved: &Resolved) -> Arc<dyn Shell> {
    Arc::new(BashShell::new(config(resolved)))
}

/// What programs see of our environment.
pub(crate) fn config(resolved: &Resolved) -> ShellConfig {
    let keys = [env::ANTHROPIC_API_KEY, env::ANTHROPIC_AUTH_TOKEN, env::OPENAI_API_KEY];
    ShellConfig { scrub: keys.map(str::to_owned).to_vec(), env: resolved.settings.env.clone() }
}
