//! Texts that are injected, and whose words are in view.

use crate::session::effects::RESULTS_DIR;
use crate::session::prompt::Prompt;
use crate::session::{Error, Session};
use everfold_kernel::provenance::Provenance;
use everfold_kernel::record::reminder;
use everfold_kernel::{Attachment, BlockView, Entry, ToolUseId, UserEntry, UserOrigin};
use serde_json::Value;

impl Session {
    /// Injects a reminder in words of the program itself.
    ///
    /// # Errors
    /// If the log cannot be written.
    pub async fn attach(&mut self, kind: &str, text: &str, data: Value) -> Result<(), Error> {
        let attachment =
            Attachment { kind: kind.into(), rendered: reminder(text), data, provenance: None };
        self.append(Entry::Attachment(attachment)).await?;
        Ok(())
    }

    /// Injects a reminder with words of somebody else (L5.33).
    ///
    /// # Errors
    /// If the log cannot be written.
    pub async fn attach_from(
        &mut self,
        whose: impl Into<Provenance>,
        kind: &str,
        text: &str,
        data: Value,
    ) -> Result<(), Error> {
        let (rendered, provenance) = (reminder(text), Some(whose.into()));
        let attachment = Attachment { kind: kind.into(), rendered, data, provenance };
        self.append(Entry::Attachment(attachment)).await?;
        Ok(())
    }
}

pub(crate) async fn append_user(
    session: &mut Session,
    prompt: Prompt,
    origin: UserOrigin,
) -> Result<(), Error> {
    let (content, provenance) = prompt.into_parts();
    let entry = UserEntry { content, origin, tool_use_result: None, provenance };
    let record = session.append(Entry::User(entry)).await?;
    if origin == UserOrigin::Human {
        if session.is_main() {
            session.crew.agents.seat().history.message(record.clone());
        }
        session.memory.main.at_work.on(record);
    }
    Ok(())
}

/// Writes the result of a call. One that is over its cap will go to disk: its
/// line says what the model sees, and has the rest compressed (L1, E11).
pub(crate) async fn append_result(
    session: &mut Session,
    tool: &str,
    entry: UserEntry,
) -> Result<(), Error> {
    let directory = session.world.transcripts.session_dir(&session.log.id).join(RESULTS_DIR);
    let limits = &session.config.limits.offload;
    let previews = entry.content.iter().filter_map(|block| match block.view() {
        BlockView::ToolResult { id, content, .. } => {
            let id = ToolUseId::new(id);
            let preview = everfold_offload::preview(tool, &id, content, &directory, limits)?;
            Some((id, preview))
        }
        _ => None,
    });
    session.log.envelope.previews = previews.collect();
    session.append(Entry::User(entry)).await?;
    Ok(())
}
