//! What happens around requests besides the conversation (Q1): after every
//! response, after the final message, and when a session ends.
//!
//! Nothing here may end a turn (Q2), and none of it happens in a background
//! agent (L4.9).

use crate::event::TurnEnd;
use crate::session::{Error, Session};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

impl Session {
    /// After a response, once its calls have their results (L3.8).
    pub(crate) async fn after_response(&mut self) -> Result<(), Error> {
        self.look_at_notes().await
    }

    /// After the final message, or whatever ended the turn instead.
    pub(crate) async fn after_turn(
        &mut self,
        end: &TurnEnd,
        cancel: &CancellationToken,
    ) -> Result<(), Error> {
        if self.is_main() && end.reason.is_success() {
            self.stage_spans(cancel).await?;
            self.after_response().await?;
            self.count_uses().await;
            self.extract().await?;
            self.consider_dream().await;
        }
        self.note_reviews().await?;
        self.book_side_queries().await
    }

    /// Ends the conversation for now: what runs in the background comes to its
    /// end or is stopped, and what it cost is booked. To be called before the
    /// process ends; a turn may follow all the same.
    ///
    /// # Errors
    /// If the log cannot be written.
    pub async fn finish(&mut self) -> Result<(), Error> {
        self.prefetch = None;
        self.background.drain(Duration::from_secs(self.config.limits.drain_s)).await;
        self.join_ended().await?;
        self.note_reviews().await?;
        self.take_notes().await?;
        self.book_side_queries().await
    }
}
