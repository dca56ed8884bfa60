//! An update by a weak model: one question with a form (Q18).

use super::update::Update;
use crate::background::scheduler::PrefixUse;
use crate::event::EndReason;
use crate::session::Session;
use crate::session::small_model::SmallModel;
use everfold_kernel::{Block, QuerySource, Role};
use everfold_notes::{Notes, lean};
use everfold_prefix::plain::plain_text;
use tokio_util::sync::CancellationToken;

/// What is asked.
pub(super) struct NotesForm {
    model: SmallModel,
    question: String,
}

impl NotesForm {
    pub(super) fn of(session: &Session, notes: &Notes<'_>) -> Self {
        let messages = session.state.fold.messages();
        let bytes_per_token = session.config.limits.bytes_per_token_text;
        let conversation = plain_text(messages, &session.window(), bytes_per_token);
        let question = lean::question(notes, &conversation);
        Self { model: SmallModel::of(session), question }
    }

    /// Asks, and writes what comes of it on the page.
    pub(super) async fn fill_in(self, update: &Update, cancel: &CancellationToken) -> EndReason {
        let notes = Notes::adopt(&update.before, &update.template);
        let said = [(Role::User, vec![Block::text(&self.question)])];
        let most = self.model.config.limits.compact.lean_summary_tokens;
        let form = (lean::answer_schema(&notes), most);
        let source = QuerySource::SessionMemory;
        let asked = self.model.ask(source, lean::system_prompt(), &said, form);
        let scheduler = self.model.scheduler.clone();
        let answer = tokio::select! {
            answer = scheduler.run(PrefixUse::None, cancel, asked) => answer,
            () = cancel.cancelled() => return EndReason::Cancelled,
        };
        match answer {
            Err(error) => EndReason::Failed(error.to_string()),
            Ok((text, _)) => {
                if let Some(filled) = lean::read(&text, &notes) {
                    update.page.put(&filled.render());
                }
                EndReason::Completed
            }
        }
    }
}
