//! Going on with a conversation that was left.

use super::{Error, Session};
use crate::config::{Config, ModelChoice};
use crate::memory_switch::MemorySwitch;
use crate::noting::Noting;
use crate::rewinding::Changes;
use crate::toolbox::Toolbox;
use crate::tools::{SEEN_FIELD, started_in_background};
use crate::world::World;
use everfold_kernel::ports::JobState;
use everfold_kernel::provenance::Source;
use everfold_kernel::{
    Block, BlockProvenance, BlockView, Decision, Entry, Ledger, Limits, Prelude, Record, Role,
    SessionId, ToolUseId, UserEntry, UserOrigin,
};
use everfold_mail::apply::ENDED;
use everfold_prefix::Fold;
use everfold_prefix::message::{INTERRUPTED, Message, Origin};
use everfold_transcript::{Conversation, Rebuild};
use serde_json::json;
use std::collections::BTreeSet;
use std::sync::Arc;

/// What was found when a session was opened again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Resumed {
    /// Lines that could not be used, with the reason.
    pub skipped: Vec<String>,
    /// Bytes of a line that was being written when the process ended.
    pub torn_bytes: u64,
}

impl Session {
    /// Opens a conversation as it was left. Its first request has the bytes of
    /// the last one before, and what came after.
    ///
    /// # Errors
    /// If there is no such session or its log cannot be read or written.
    pub async fn resume(
        id: SessionId,
        world: World,
        config: Config,
        toolbox: Toolbox,
    ) -> Result<(Self, Resumed), Error> {
        let (conversation, torn_bytes) = load(&world, &id, slim).await?;
        let mut session = Self::new(id, world, config, toolbox);
        session.began_by("resume");
        let resumed = session.restore(conversation, torn_bytes);
        session.mend().await?;
        session.adopt_choices().await?;
        session.resume_plan_mode().await;
        session.tell_gone().await?;
        Ok((session, resumed))
    }

    /// Starts a new conversation with all that another one holds.
    ///
    /// # Errors
    /// If there is no such session or a log cannot be read or written.
    pub async fn fork(
        from: &SessionId,
        id: SessionId,
        world: World,
        config: Config,
        toolbox: Toolbox,
    ) -> Result<(Self, Resumed), Error> {
        let (mut conversation, torn_bytes) = load(&world, from, |rebuild| rebuild).await?;
        let mut session = Self::new(id, world.clone(), config, toolbox);
        let mut fresh = || world.clock.fresh_uuid();
        let forked =
            everfold_transcript::fork(&conversation.records, from, &session.envelope, &mut fresh);
        let mut changes = Changes::of(&world, from, &conversation.records, &forked.records).await?;
        for (line, original) in forked.lines.iter().zip(&conversation.records) {
            world.transcripts.append(&session.id, line.as_bytes()).await?;
            changes.copy(&session, &original.id).await?;
        }
        conversation.records = forked.records;
        conversation.ledger = Ledger::default();
        session.began_by("fork");
        let resumed = session.restore(conversation, torn_bytes);
        session.copy_notes(from).await;
        session.mend().await?;
        session.adopt_choices().await?;
        session.resume_plan_mode().await;
        session.tell_gone().await?;
        Ok((session, resumed))
    }

    /// Folds the log anew, where a decision holds no more that this fold had
    /// carried out.
    pub(crate) async fn refold(&mut self) -> Result<(), Error> {
        let (conversation, _) = load(&self.world, &self.id, slim).await?;
        self.fold = fold_of(conversation.records, &self.config.limits);
        Ok(())
    }

    fn restore(&mut self, conversation: Conversation, torn_bytes: u64) -> Resumed {
        self.ledger.merge(&conversation.ledger);
        self.budget.restore(&conversation.ledger);
        self.take_over_log(conversation, torn_bytes)
    }

    /// Takes up the branch that the log now ends with, and forgets what was
    /// only on the one that was left (Q12).
    pub(crate) async fn change_branch(&mut self) -> Result<(), Error> {
        let (conversation, torn_bytes) = load(&self.world, &self.id, slim).await?;
        self.attached.clear();
        self.choices.clear();
        self.lent = None;
        self.memory_switch = MemorySwitch::On;
        self.prefetch = None;
        self.lazy = None;
        self.touched.clear();
        self.staged.clear();
        self.noting = Noting::default();
        self.remembering.forget_branch();
        self.context.forget_branch();
        self.take_over_log(conversation, torn_bytes);
        self.mend().await
    }

    fn take_over_log(&mut self, conversation: Conversation, torn_bytes: u64) -> Resumed {
        for record in &conversation.records {
            self.remember_reads(record);
            self.keep_data(record);
            if let Entry::Decision(Decision::Extracted(extracted)) = &record.entry
                && extracted.put_off.is_none()
            {
                self.remembering.extraction.restore(extracted.through.clone());
            }
        }
        self.last = conversation.records.last().map(|record| record.id.clone());
        self.fold = fold_of(conversation.records, &self.config.limits);
        let skipped = conversation
            .skipped
            .iter()
            .map(|skipped| format!("line {}: {:?}", skipped.line, skipped.reason))
            .collect();
        Resumed { skipped, torn_bytes }
    }

    /// Files that the model has seen are known by the results of its tools.
    fn remember_reads(&self, record: &Record) {
        let Entry::User(user) = &record.entry else { return };
        if let Some(value) = &user.tool_use_result {
            self.context.restore_reads(value);
        }
        for (at, block) in user.content.iter().enumerate() {
            if let BlockView::ToolResult { id, .. } = block.view()
                && let Some(whose) = user.provenance_of(at).lowest()
            {
                self.context.brought(&ToolUseId::new(id), whose);
            }
        }
    }

    /// Answers calls whose results were lost with the process, and takes back
    /// a response of which only thinking had come.
    async fn mend(&mut self) -> Result<(), Error> {
        for id in self.fold.open_calls() {
            let block = Block::tool_error(&ToolUseId::new(id), INTERRUPTED);
            let content = vec![block];
            let entry = UserEntry {
                content,
                origin: UserOrigin::ToolResult,
                tool_use_result: None,
                provenance: vec![BlockProvenance::whole(Source::Command)],
            };
            self.append(Entry::User(entry)).await?;
        }
        let Some(last) = self.fold.messages().last() else { return Ok(()) };
        if last.role() == Role::Assistant && last.blocks(None).is_empty() {
            let id = last.pieces().iter().find_map(|piece| match &piece.origin {
                Origin::Assistant(id) => Some(id.clone()),
                _ => None,
            });
            if let Some(message_id) = id {
                let reason = "the process ended before the answer did".to_owned();
                self.append(Entry::Decision(Decision::Retracted { message_id, reason })).await?;
            }
        }
        Ok(())
    }

    /// Tells the model what ran in the background when the program ended, and
    /// runs no more.
    async fn tell_gone(&mut self) -> Result<(), Error> {
        let told: BTreeSet<&str> =
            self.shown_data(ENDED).filter_map(|data| data.get("taskId")?.as_str()).collect();
        let jobs = self.world.shell.jobs().into_iter();
        let running: BTreeSet<String> =
            jobs.filter(|job| job.state == JobState::Running).map(|job| job.id).collect();
        let pieces = self.fold.messages().iter().flat_map(Message::pieces);
        let results = pieces.filter(|piece| piece.block.kind() == "tool_result");
        let gone: BTreeSet<String> = results
            .filter_map(|piece| started_in_background(&piece.block.plain_text()))
            .filter(|id| !told.contains(id.as_str()) && !running.contains(id))
            .collect();
        for id in gone {
            let text = format!(
                "{id}, which ran in the background, is gone: the program ended meanwhile. Start \
                 it again if it is still needed."
            );
            self.attach(ENDED, &text, json!({ "taskId": id })).await?;
        }
        Ok(())
    }

    /// What a person asked for this time is honoured, at the price of a
    /// declared break; everything else stays as the log has it.
    async fn adopt_choices(&mut self) -> Result<(), Error> {
        let Some(old) = self.fold.prelude() else { return Ok(()) };
        let named = self.config.model_choice == ModelChoice::Named;
        let model = if named { self.config.model.clone() } else { old.params.model.clone() };
        let dialect = self.world.model.dialect();
        let appended = self.config.surroundings.appended.as_deref().unwrap_or_default();
        let same_text = old.system.iter().any(|block| block.text.contains(appended));
        let searchless = self.without_search(old);
        let old = searchless.as_ref().unwrap_or(old);
        let same_params = model == old.params.model && dialect == old.params.dialect;
        if same_params && same_text && searchless.is_none() {
            return Ok(());
        }
        let params = self.config.params(&model, dialect);
        let prelude = if same_text {
            Prelude { params, ..old.clone() }
        } else {
            Prelude { params, ..self.compose_prelude()? }
        };
        let prelude = self.config.managed(prelude);
        self.append(Entry::Decision(Decision::Prelude(Box::new(prelude)))).await?;
        Ok(())
    }
}

/// The fold of a log. What was voided later does not count from the start.
fn fold_of(records: Vec<Record>, limits: &Arc<Limits>) -> Fold {
    let voided = records.iter().filter_map(|record| match &record.entry {
        Entry::Decision(Decision::Voided { decision }) => Some(decision.clone()),
        _ => None,
    });
    let mut fold = Fold::new(Arc::clone(limits)).without(voided.collect());
    for record in records {
        fold.push(record);
    }
    fold
}

/// For reading a conversation that is not copied: of results' structured
/// forms only what the session remembers, so that no file is held twice.
fn slim(rebuild: Rebuild) -> Rebuild {
    rebuild.with_only_result_field(SEEN_FIELD)
}

async fn load(
    world: &World,
    id: &SessionId,
    form: fn(Rebuild) -> Rebuild,
) -> Result<(Conversation, u64), Error> {
    let (conversation, torn_bytes) = Box::pin(load_with(world, id, form(Rebuild::new()))).await?;
    if !conversation.went_back {
        return Ok((conversation, torn_bytes));
    }
    // What was let go at a boundary may be what the person went back to.
    Box::pin(load_with(world, id, form(Rebuild::keeping_all()))).await
}

async fn load_with(
    world: &World,
    id: &SessionId,
    mut rebuild: Rebuild,
) -> Result<(Conversation, u64), Error> {
    let mut sink = |line: &[u8]| rebuild.push(line);
    let loaded = world.transcripts.load(id, &mut sink).await?;
    Ok((rebuild.finish(), loaded.torn_bytes))
}
