//! What is run at events: the registry from settings, and who runs it.

use everfold_hooks::{Registry, let_go};
use everfold_kernel::ports::{BoxFuture, Exit, HookAction, HookCall, HookExit, HookRun, Hooks};
use everfold_process::{FirstLine, ShellConfig, run_hook};
use everfold_settings::Resolved;
use everfold_settings::trust::{Trust, TrustState};
use everfold_web::HookPoster;
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Why a handler of the working tree is not run any more.
const CHANGED: &str =
    "what it runs has changed since you trusted it; `everfold trust` turns it on again";

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
    tree: TreeHooks,
}

/// Handlers that came with the working tree, by its settings, skills or agents.
/// What they run may have changed since the start, so it is looked at before
/// each of them (S9).
struct TreeHooks {
    trust: Trust,
}

impl TreeHooks {
    fn has(&self, action: &HookAction) -> bool {
        let (HookAction::Shell(wording)
        | HookAction::Program { command: wording, .. }
        | HookAction::Http { url: wording, .. }) = action;
        self.trust.calls(wording)
    }

    fn has_changed(&self) -> bool {
        *self.trust.look_again().standing() != TrustState::Trusted
    }
}

impl Runner {
    /// A runner with the environment of the shell.
    pub(crate) fn new(
        programs: ShellConfig,
        variables: BTreeMap<String, String>,
        trust: &Trust,
    ) -> Self {
        let tree = TreeHooks { trust: trust.clone() };
        let inner = Arc::new(Inner { programs, poster: HookPoster::new(variables), tree });
        Self { inner, tasks: TaskTracker::new(), closing: CancellationToken::new() }
    }
}

impl Runner {
    /// Lets a handler go on that nobody waits for.
    fn beside(&self, running: impl Future<Output = HookRun> + Send + 'static) {
        let closing = self.closing.clone();
        self.tasks.spawn(async move {
            tokio::select! {
                run = running => tracing::debug!(exit = ?run.exit, "an unheard hook ended"),
                () = closing.cancelled() => {}
            }
        });
    }
}

impl Inner {
    async fn run(self: Arc<Self>, call: HookCall, first: Option<FirstLine>) -> HookRun {
        if self.tree.has(&call.action) {
            let own = Arc::clone(&self);
            let changed = tokio::task::spawn_blocking(move || own.tree.has_changed()).await;
            if !matches!(changed, Ok(false)) {
                return HookRun::not_run(CHANGED);
            }
        }
        match call.action {
            HookAction::Shell(_) | HookAction::Program { .. } => {
                run_hook(&self.programs, call, first).await
            }
            HookAction::Http { .. } => self.poster.post(call).await,
        }
    }
}

impl Hooks for Runner {
    fn run(&self, call: HookCall) -> BoxFuture<'_, HookRun> {
        let (aside, mut said) = tokio::sync::oneshot::channel();
        let timeout = call.timeout;
        let first = Box::new(move |line: &str| {
            let own = let_go(line)?;
            let _ = aside.send(());
            Some(own.unwrap_or(timeout))
        });
        let mut running = Box::pin(Arc::clone(&self.inner).run(call, Some(first)));
        Box::pin(async move {
            let unheard = HookRun {
                exit: HookExit::Ended(Exit::Code(0)),
                stdout: String::new(),
                stderr: String::new(),
            };
            tokio::select! {
                biased;
                Ok(()) = &mut said => {
                    self.beside(running);
                    unheard
                }
                // It may have said so and ended at once.
                run = &mut running => if said.try_recv().is_ok() { unheard } else { run },
            }
        })
    }

    fn start(&self, call: HookCall) {
        self.beside(Arc::clone(&self.inner).run(call, None));
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
