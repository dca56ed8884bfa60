//! The loop, as those see it who start conversations: forks and agents. It lies
//! above them, and takes part here by name only.

use crate::event::TurnEnd;
use crate::session::Error;
use crate::session::prompt::Prompt;
use everfold_kernel::ports::BoxFuture;
use tokio_util::sync::CancellationToken;

/// A conversation that takes turns.
pub(crate) trait Converse {
    /// Runs a turn with a message.
    fn converse<'a>(
        &'a mut self,
        prompt: Prompt,
        cancel: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<TurnEnd, Error>>;

    /// Runs a turn with what waits; none where nothing does.
    fn go_on<'a>(
        &'a mut self,
        cancel: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<Option<TurnEnd>, Error>>;
}
