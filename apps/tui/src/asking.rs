//! Questions of tools on their way to the person, and answers on their way back.

use mnemon::kernel::ports::{Answer, Approver, BoxFuture, PermissionAsk};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;

/// Hands questions to the loop that talks with the person.
pub struct Asker {
    sender: UnboundedSender<Question>,
}

/// A question that waits for its answer.
#[derive(Debug)]
pub struct Question {
    /// What is asked.
    pub ask: PermissionAsk,
    reply: oneshot::Sender<Answer>,
}

impl Asker {
    /// An asker, and where its questions arrive.
    #[must_use]
    pub fn new() -> (Self, UnboundedReceiver<Question>) {
        let (sender, receiver) = unbounded_channel();
        (Self { sender }, receiver)
    }
}

impl Question {
    /// A question, and where its answer arrives.
    #[must_use]
    pub fn new(ask: PermissionAsk) -> (Self, oneshot::Receiver<Answer>) {
        let (reply, answer) = oneshot::channel();
        (Self { ask, reply }, answer)
    }

    /// Answers it. A turn that was stopped does not wait any more.
    pub fn answer(self, answer: Answer) {
        let _ = self.reply.send(answer);
    }

    /// Whether nobody waits for the answer any more.
    #[must_use]
    pub fn is_void(&self) -> bool {
        self.reply.is_closed()
    }
}

impl Approver for Asker {
    fn ask(&self, ask: PermissionAsk) -> BoxFuture<'_, Answer> {
        let (question, answer) = Question::new(ask);
        let sent = self.sender.send(question);
        Box::pin(async move {
            let nobody = || Answer::Deny { reason: "nobody is there to be asked".into() };
            match sent {
                Ok(()) => answer.await.unwrap_or_else(|_| nobody()),
                Err(_) => nobody(),
            }
        })
    }
}
