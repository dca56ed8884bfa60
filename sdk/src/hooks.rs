//! What is run at events: the registry from settings, and who runs it.

use mnemon_hooks::Registry;
use mnemon_kernel::ports::{BoxFuture, HookAction, HookCall, HookRun, Hooks};
use mnemon_process::{ShellConfig, run_hook};
use mnemon_settings::Resolved;
use mnemon_web::HookPoster;
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// The handlers that settings name, each with its origin.
pub(crate) fn registry(resolved: &Resolved) -> Registry {
    let origin = |pointer: &str| resolved.origin(pointer).to_string();
    Registry::read(&resolved.settings.hooks, &origin)
}

/// Runs handlers: programs and requests. What nobody waits for has its owner here.
pub(crate) struct Runner {
    inner: Arc<Inner>,
    tasks: TaskTracker,
    closing: CancellationToken,
}

struct Inner {
    programs: ShellConfig,
    poster: HookPoster,
}

impl Runner {
    /// A runner with the environment of the shell.
    pub(crate) fn new(programs: ShellConfig, variables: BTreeMap<String, String>) -> Self {
        let inner = Arc::new(Inner { programs, poster: HookPoster::new(variables) });
        Self { inner, tasks: TaskTracker::new(), closing: CancellationToken::new() }
    }
}

impl Inner {
    async fn run(&self, call: HookCall) -> HookRun {
        match call.action {
            HookAction::Shell(_) | HookAction::Program { .. } => {
                run_hook(&self.programs, call).await
            }
            HookAction::Http { .. } => self.poster.post(call).await,
        }
    }
}

impl Hooks for Runner {
    fn run(&self, call: HookCall) -> BoxFuture<'_, HookRun> {
        Box::pin(self.inner.run(call))
    }

    fn start(&self, call: HookCall) {
        let (inner, closing) = (Arc::clone(&self.inner), self.closing.clone());
        self.tasks.spawn(async move {
            tokio::select! {
                run = inner.run(call) => tracing::debug!(exit = ?run.exit, "an unheard hook ended"),
                () = closing.cancelled() => {}
            }
        });
    }

    fn shutdown(&self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            self.closing.cancel();
            self.tasks.close();
            self.tasks.wait().await;
        })
    }
}

impl Drop for Runner {
    fn drop(&mut self) {
        self.closing.cancel();
    }
}
