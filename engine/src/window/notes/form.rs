//! An update by a weak model: one question with a form (Q18).

use super::update::Update;
use crate::background::scheduler::PrefixUse;
use crate::event::EndReason;
use crate::session::Session;
use crate::session::small_model::SmallModel;
use everfold_kernel::ports::ModelError;
use everfold_kernel::{Block, Class, Classify, QuerySource, Role};
use everfold_notes::{Notes, lean};
use everfold_prefix::plain::plain_text;
use everfold_prefix::{AnswerForm, Directive, Request};
use tokio_util::sync::CancellationToken;

/// What is asked.
pub(super) struct NotesForm {
    model: SmallModel,
    /// Behind the conversation, of which the server has read all.
    behind: Option<Request>,
    /// In a request of its own, which shows the conversation as text.
    apart: String,
}

impl NotesForm {
    pub(super) fn of(session: &mut Session, notes: &Notes<'_>) -> Self {
        let messages = session.state.fold.messages();
        let bytes_per_token = session.config.limits.bytes_per_token_text;
        let conversation = plain_text(messages, &session.window(), bytes_per_token);
        let apart = lean::question(notes, &conversation);
        Self { model: SmallModel::of(session), behind: behind(session, notes), apart }
    }

    /// Asks, and writes what comes of it on the page.
    pub(super) async fn fill_in(self, update: &Update, cancel: &CancellationToken) -> EndReason {
        let notes = Notes::adopt(&update.before, &update.template);
        let scheduler = self.model.scheduler.clone();
        let reads = if self.behind.is_some() { PrefixUse::Cached } else { PrefixUse::None };
        let asked = self.answer(&notes);
        let answer = tokio::select! {
            answer = scheduler.run(reads, cancel, asked) => answer,
            () = cancel.cancelled() => return EndReason::Cancelled,
        };
        match answer {
            Err(error) => EndReason::Failed(error.to_string()),
            Ok(filled) => {
                if let Some(filled) = filled {
                    update.page.put(&filled.render());
                }
                EndReason::Completed
            }
        }
    }

    /// The notes as the answer has them; none where it is no form.
    async fn answer<'t>(self, notes: &Notes<'t>) -> Result<Option<Notes<'t>>, ModelError> {
        let source = QuerySource::SessionMemory;
        if let Some(request) = self.behind {
            match self.model.ask_request(source.clone(), request).await {
                Ok((text, _)) => {
                    if let Some(filled) = lean::read(&text, notes) {
                        return Ok(Some(filled));
                    }
                }
                // A server may refuse a form beside tools.
                Err(error) if error.class() == Class::Stop => {}
                Err(error) => return Err(error),
            }
        }
        let said = [(Role::User, vec![Block::text(&self.apart)])];
        let form =
            (lean::answer_schema(notes), self.model.config.limits.compact.lean_summary_tokens);
        let asked = self.model.ask(source, lean::system_prompt(), &said, form).await;
        asked.map(|(text, _)| lean::read(&text, notes))
    }
}

/// None where another model is asked than the one that has read the conversation,
/// or the window has no room behind it.
fn behind(session: &mut Session, notes: &Notes<'_>) -> Option<Request> {
    let limits = &session.config.limits;
    let max_tokens = limits.compact.lean_summary_tokens;
    let directive = lean::directive(notes);
    let (directive, window) = (Directive(&directive), session.window());
    let messages = session.state.fold.messages().len();
    let is_read = session.config.models.small == *session.model();
    if !is_read || !session.state.fold.fits_form(messages, directive, max_tokens, &window) {
        return None;
    }
    let form = AnswerForm { schema: lean::answer_schema(notes), max_tokens };
    session.state.fold.form_request(messages, directive, form)
}
