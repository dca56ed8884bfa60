//! Questions of tools and servers on their way to the person, and answers on
//! their way back.

use everfold_kernel::ports::{
    Approver, BoxFuture, PermissionAnswer, PermissionAsk, Respondent, ServerAnswer, ServerQuestion,
};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;

/// Hands questions to the loop that talks with the person.
#[derive(Clone)]
pub struct QuestionSender {
    sender: UnboundedSender<Question>,
}

/// A question that came.
#[derive(Debug)]
pub enum Question {
    /// Whether a tool may run.
    Call(OpenQuestion<PermissionAsk, PermissionAnswer>),
    /// What a server wants to know.
    Server(OpenQuestion<ServerQuestion, ServerAnswer>),
}

/// A question that waits for its answer.
#[derive(Debug)]
pub struct OpenQuestion<Q, A> {
    pub ask: Q,
    reply: oneshot::Sender<A>,
}

impl QuestionSender {
    /// An asker, and where its questions arrive.
    #[must_use]
    pub fn new() -> (Self, UnboundedReceiver<Question>) {
        let (sender, receiver) = unbounded_channel();
        (Self { sender }, receiver)
    }

    /// Asks, and waits; none where nobody is there.
    async fn put<Q, A>(
        &self,
        ask: Q,
        as_question: fn(OpenQuestion<Q, A>) -> Question,
    ) -> Option<A> {
        let (open, answer) = OpenQuestion::new(ask);
        self.sender.send(as_question(open)).ok()?;
        answer.await.ok()
    }
}

impl<Q, A> OpenQuestion<Q, A> {
    /// A question, and where its answer arrives.
    #[must_use]
    pub fn new(ask: Q) -> (Self, oneshot::Receiver<A>) {
        let (reply, answer) = oneshot::channel();
        (Self { ask, reply }, answer)
    }

    /// Answers it. A turn that was stopped does not wait any more.
    pub fn answer(self, answer: A) {
        let _ = self.reply.send(answer);
    }

    /// Whether nobody waits for the answer any more.
    #[must_use]
    pub fn is_void(&self) -> bool {
        self.reply.is_closed()
    }

    /// Waits until nobody waits for the answer any more.
    pub async fn voided(&mut self) {
        self.reply.closed().await;
    }
}

impl Question {
    /// Says no, or nothing where a server asked.
    pub fn refuse(self, reason: &str) {
        match self {
            Self::Call(open) => open.answer(PermissionAnswer::Deny { reason: reason.to_owned() }),
            Self::Server(open) => open.answer(ServerAnswer::Cancel),
        }
    }
}

impl Approver for QuestionSender {
    fn ask(&self, ask: PermissionAsk) -> BoxFuture<'_, PermissionAnswer> {
        Box::pin(async move {
            let answer = self.put(ask, Question::Call).await;
            answer.unwrap_or_else(|| PermissionAnswer::Deny { reason: "no one to ask".into() })
        })
    }
}

impl Respondent for QuestionSender {
    fn respond(&self, question: ServerQuestion) -> BoxFuture<'_, ServerAnswer> {
        Box::pin(async move {
            self.put(question, Question::Server).await.unwrap_or(ServerAnswer::Cancel)
        })
    }
}
