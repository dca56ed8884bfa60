//! Recall at work: memories that a person's message calls for (R1 to R8).
//!
//! With a language model, a task asks the small one beside the main request and
//! never holds it up; what it picks joins the conversation at a tool boundary,
//! else with the next message. Without one, or when it fails or is late, the
//! local ranker picks. What was surfaced, and how much of it, is read from the
//! messages that are still shown, so a compaction resets both (R7).

mod worth;

use crate::background::budget::{Budget, Denied};
use crate::config::Config;
use crate::event::Event;
use crate::session::effects::{self, SideBookings, collect, side_request};
use crate::session::memory_state::{Found, MemorySwitch, Prefetch, Surfaced};
use crate::session::{Error, Session};
use everfold_kernel::limits::RecallLimits;
use everfold_kernel::ports::{
    Bodies, Memories, MemoryError, MemoryHead, MemoryScope, ModelKind, RankCertainty, RecallQuery,
    Recalled, World,
};
use everfold_kernel::record::SumVerdict;
use everfold_kernel::settings::Picker;
use everfold_kernel::tokens::estimate_text;
use everfold_kernel::usage::Booking;
use everfold_kernel::{
    BlockView, Class, Classify, Decision, Entry, Flag, QuerySource, Role, Tokens,
};
use everfold_memory_recall::{Manifest, Topic, inject, side_query};
use everfold_prefix::Message;
use everfold_window::RecallView;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;
use worth::Stakes;

/// How much of a memory that was brought in is read to count its use.
const SURFACED_BYTES: u64 = 64 * 1024;
/// Tools by which a model reads or writes a whole file.
const FILE_TOOLS: &[&str] = &["Read", "Write", "Edit"];

/// Looks for memories for a message that the person is about to send, and
/// brings in what was found for the one before.
pub(crate) async fn recall_for(
    session: &mut Session,
    message: &str,
    cancel: &CancellationToken,
) -> Result<(), Error> {
    join_recalled(session).await?;
    let Some(mut errand) = errand(session, message) else { return Ok(()) };
    cancel.run_until_cancelled(offer_waiting(session, &errand)).await;
    let picker = match session.world.model.kind() {
        ModelKind::Rules => Picker::Local,
        // One slot is the person's (Q17).
        ModelKind::Language if session.config.background.slots == Some(1) => Picker::Local,
        ModelKind::Language => session.config.memory.recall.by,
    };
    if picker != Picker::Model {
        // A person who leaves does not wait for a search.
        let Some(found) = cancel.run_until_cancelled(errand.rank()).await else { return Ok(()) };
        if picker == Picker::Local || found.certainty != RankCertainty::Unsure {
            return bring_in(session, found.shown).await;
        }
        let sum = worth::weigh(&errand.stakes(session, &found));
        let verdict = sum.verdict;
        session.append(Entry::Decision(Decision::Weighed(sum))).await?;
        if verdict != SumVerdict::Done {
            return bring_in(session, found.shown).await;
        }
        errand.local = Some(found.shown);
    }
    let cancel = cancel.clone();
    let task = async move { cancel.run_until_cancelled(errand.pick()).await.unwrap_or_default() };
    session.runtime.branch.prefetch = Some(Prefetch(AbortOnDropHandle::new(tokio::spawn(task))));
    Ok(())
}

/// Tells the person of a memory that waits for their word and would have
/// helped here (L5.46).
async fn offer_waiting(session: &Session, errand: &Errand) {
    match errand.memories.waiting_for(errand.query.clone()).await {
        Ok(Some(waiting)) => session.emit(|| Event::Offered(waiting)),
        Ok(None) => {}
        Err(error) => tracing::info!(%error, "the inbox was not looked at"),
    }
}

/// Brings in what was found, if the search is over.
pub(crate) async fn join_recalled(session: &mut Session) -> Result<(), Error> {
    effects::book_side_queries(session).await?;
    match session.runtime.branch.prefetch.take() {
        Some(Prefetch(task)) if task.is_finished() => {
            let picks = task.await.unwrap_or_default();
            bring_in(session, picks).await
        }
        running => {
            session.runtime.branch.prefetch = running;
            Ok(())
        }
    }
}

/// Whether a search is still running.
pub(crate) fn is_recalling(session: &Session) -> bool {
    session.runtime.branch.prefetch.is_some()
}

pub(super) async fn bring_in(session: &mut Session, found: Found) -> Result<(), Error> {
    let Some(attachment) = found else { return Ok(()) };
    let known = known_memories(session);
    let paths: Vec<PathBuf> = inject::surfaced(&attachment.data).map(PathBuf::from).collect();
    // Somebody read it meanwhile, or it no longer fits.
    if !recall_view(session).takes(&attachment, &known) {
        return Ok(());
    }
    session.append(Entry::Attachment(attachment)).await?;
    for path in &paths {
        // What it says is read for the count of uses only.
        if let Ok(read) = session.world.files.read(path, SURFACED_BYTES).await {
            let text = String::from_utf8_lossy(&read.bytes);
            session.runtime.branch.surfaced.push(Surfaced::new(path.clone(), &text));
        }
    }
    session.emit(|| Event::Recalled { paths });
    Ok(())
}

/// What a search for memories needs to know; none where there is no use in one.
fn errand(session: &Session, message: &str) -> Option<Errand> {
    let memories = source(session)?;
    recall_view(session).is_wanted(message).then(|| Errand {
        memories,
        world: session.world.clone(),
        config: Arc::clone(&session.config),
        bookings: session.runtime.books.clone(),
        budget: session.budget.clone(),
        query: recall_view(session).query(message, known_memories(session)),
        tools: tools_in_use(session),
        local: None,
    })
}

/// Where memories come from; none where they are switched off.
pub(super) fn source(session: &Session) -> Option<Arc<dyn Memories>> {
    let wanted =
        session.config.flags.is_on(Flag::Recall) && session.state.memory_switch == MemorySwitch::On;
    session.world.memories.clone().filter(|_| wanted)
}

/// The memories that the conversation shows.
pub(crate) fn recall_view(session: &Session) -> RecallView<'_> {
    session.state.recall_view(&session.config.limits.recall)
}

/// The memories that the model knows: surfaced before, or touched by tools.
pub(super) fn known_memories(session: &Session) -> BTreeSet<PathBuf> {
    let surfaced = recall_view(session).surfaced();
    let pieces = session.state.fold.messages().iter().flat_map(Message::pieces);
    let touched = pieces.filter_map(|piece| match piece.block.view() {
        BlockView::ToolUse { name, input, .. } if FILE_TOOLS.contains(&name) => {
            everfold_kernel::call::file_of(input)
        }
        _ => None,
    });
    surfaced.into_iter().chain(touched.map(|path| session.context.absolute(path))).collect()
}

/// Names of the tools that the model used lately, each once.
fn tools_in_use(session: &Session) -> Vec<String> {
    let messages = session.state.fold.messages().iter().rev();
    let recent = messages.take(session.config.limits.recall.tool_messages);
    let mut names = BTreeSet::new();
    for message in recent.filter(|message| message.role() == Role::Assistant) {
        names.extend(message.pieces().iter().filter_map(|piece| match piece.block.view() {
            BlockView::ToolUse { name, .. } => Some(name.to_owned()),
            _ => None,
        }));
    }
    names.into_iter().collect()
}

/// One search for memories.
struct Errand {
    memories: Arc<dyn Memories>,
    world: World,
    config: Arc<Config>,
    bookings: SideBookings,
    budget: Budget,
    /// The message, and what the conversation shows already.
    query: RecallQuery,
    tools: Vec<String>,
    /// What the local ranker picked, where it was asked first.
    local: Option<Found>,
}

/// Why the small model did not pick.
#[derive(Debug, thiserror::Error)]
enum PickError {
    #[error(transparent)]
    Memory(#[from] MemoryError),
    #[error(transparent)]
    Budget(#[from] Denied),
    #[error(transparent)]
    Model(#[from] everfold_kernel::ports::ModelError),
    #[error(transparent)]
    Answer(#[from] side_query::Error),
    #[error("the small model did not pick memories in time; recall.wait_ms says how long it may")]
    Late,
}

impl Classify for PickError {
    fn class(&self) -> Class {
        Class::Degrade
    }
}

impl Errand {
    fn limits(&self) -> &RecallLimits {
        &self.config.limits.recall
    }

    /// The small model's picks, or the local ranker's.
    async fn pick(self) -> Found {
        let wait = Duration::from_millis(self.limits().wait_ms);
        let asked = tokio::time::timeout(wait, self.pick_by_model()).await;
        match asked.unwrap_or(Err(PickError::Late)) {
            Ok(picks) => picks,
            Err(error) => {
                tracing::info!(%error, "memories are picked locally");
                self.pick_locally().await
            }
        }
    }

    async fn pick_by_model(&self) -> Result<Found, PickError> {
        let heads = self.scan(Bodies::Left).await?;
        let topics: Vec<Topic> = heads.iter().map(topic).collect();
        let manifest = Manifest::new(topics, &self.query.text, &BTreeSet::new(), self.limits());
        if manifest.topics().is_empty() {
            return Ok(None);
        }
        self.budget.allows(&QuerySource::Recall).await?;
        let answer = self.ask(&manifest).await?;
        let files = side_query::read_answer(&answer, &manifest, self.limits())?;
        let named = |file: &String| heads.iter().find(|head| listed_as(head) == *file);
        Ok(self.read(files.iter().filter_map(named)).await)
    }

    async fn ask(&self, manifest: &Manifest) -> Result<String, PickError> {
        let (config, limits) = (&self.config, self.limits());
        let dialect = self.world.model.dialect();
        let mut params = config.side_params(&config.models.small, dialect, limits.answer_tokens);
        params.schema = Some(side_query::answer_schema());
        let system = side_query::system_prompt(limits);
        let question = side_query::question(&self.query.text, manifest, &self.tools);
        let Some(request) = side_request(config, params, &system, &question) else {
            return Ok(String::new());
        };
        let reply = collect(&*self.world.model, request, QuerySource::Recall).await?;
        let text = crate::session::prompt::text_of(&reply.blocks);
        self.bookings.add(Booking::new(
            QuerySource::Recall,
            reply.model,
            reply.usage,
            &config.models.table,
        ));
        Ok(text)
    }

    /// What the local ranker finds (R8): the same as anybody else (R11).
    async fn rank(&self) -> Recalled {
        self.memories.recall(self.query.clone()).await.unwrap_or_else(|error| {
            tracing::info!(%error, "no memories are brought in");
            Recalled::default()
        })
    }

    async fn pick_locally(&self) -> Found {
        match &self.local {
            Some(found) => found.clone(),
            None => self.rank().await.shown,
        }
    }

    /// What a side query would cost, and what its answer could save.
    fn stakes(&self, session: &Session, found: &Recalled) -> Stakes<'_> {
        let (models, limits) = (&self.config.models, self.limits());
        let lines = found.looked_at.min(limits.manifest_files) as u64;
        let message = estimate_text(&self.query.text, &self.config.limits);
        Stakes {
            asked: Tokens(lines * limits.line_tokens) + message,
            context: session.state.fold.count(),
            small: models.table.spec(&models.small),
            main: models.table.spec(session.model()),
            limits,
        }
    }

    /// The memories that the model does not know yet.
    async fn scan(&self, bodies: Bodies) -> Result<Vec<MemoryHead>, MemoryError> {
        let mut heads = self.memories.scan(self.limits().scan_files, bodies).await?;
        heads.retain(|head| !self.query.in_view.contains(&head.path));
        Ok(heads)
    }

    /// What the small model picked, as it is shown.
    async fn read(&self, heads: impl Iterator<Item = &MemoryHead>) -> Found {
        let mut picks = Vec::new();
        for head in heads {
            match self.memories.read(head).await {
                Ok(read) => picks.push((head, listed_as(head), read)),
                Err(error) => tracing::info!(%error, "a memory is left out"),
            }
        }
        let shown = picks.iter().map(|(head, file, read)| inject::ShownMemory {
            path: &head.path,
            file,
            text: &read.text,
            modified: read.modified,
        });
        let shown: Vec<inject::ShownMemory<'_>> = shown.collect();
        let room = self.limits().session_bytes.saturating_sub(self.query.injected);
        inject::block(&shown, &[], room, self.limits(), self.world.clock.now()).0
    }
}

pub(crate) fn topic(head: &MemoryHead) -> Topic {
    Topic {
        file: listed_as(head),
        name: head.name.clone(),
        kind: head.kind.clone(),
        modified: head.modified,
        description: head.description.clone(),
        body: head.body.clone(),
        used: head.used,
    }
}

/// The name of a memory in the manifest. Two places may have a file of the
/// same name.
pub(crate) fn listed_as(head: &MemoryHead) -> String {
    match head.scope {
        MemoryScope::Project => head.file.clone(),
        scope => format!("{}:{}", scope.as_str(), head.file),
    }
}
