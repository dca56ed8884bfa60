//! Layer 3 at work: keeps the notes on the session up to date (L3).
//!
//! A fork edits the notes on a page in memory, which is all of the files that
//! it can see or change (S1). What it made of them is judged, and only what is
//! accepted is written, if the file is still what the fork was shown: an edit
//! of a person in between is never lost. So there is nothing to restore when
//! an update fails. Updates run in the background, one at a time.

use crate::background::scheduler::PrefixUse;
use crate::permit::{Footprint, Permit, Remit, Verdict};
use crate::session::fork::{self, Errand, Fork, Until};
use crate::session::{Error, Session, effects, quiet_lines, secrets, status, weighed};
use everfold_kernel::ports::{Expect, FileError, Files, ModelKind};
use everfold_kernel::record::SumVerdict;
use everfold_kernel::settings::NotesUse;
use everfold_kernel::{Decision, Entry, Flag, QuerySource, RecordId, SessionId, Usd};
use everfold_notes::{Due, Hints, Notes, Template, due, fill, policy};
use everfold_prefix::system::Profile;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::sync::oneshot;

mod form;
pub(crate) mod page;
pub(crate) mod summary;
pub(crate) mod update;

use form::NotesForm;
use page::Page;
use update::Update;

/// Where the notes are, in the session's directory.
pub const PLACE: &str = "session-memory/summary.md";

/// Why notes cannot be read, kept or changed, in words for a person.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotesError {
    #[error("the notes cannot be used: {0}")]
    File(#[from] FileError),
    /// The file is not text.
    #[error("the notes in {0} are not UTF-8; move the file away to get new ones")]
    NotText(PathBuf),
    /// There is nothing to take notes of, or nobody to take them.
    #[error("{0}")]
    NotNow(&'static str),
    /// The update came to nothing.
    #[error("the notes were not updated: {0}")]
    NotUpdated(&'static str),
    #[error("the model failed: {0}")]
    Model(String),
    /// What the model made of them is not taken.
    #[error("the update was discarded: {0}")]
    Rejected(#[from] everfold_notes::Rejected),
}

/// What became of an update that was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotesUpdate {
    /// There are newer notes.
    Changed,
    Unchanged,
    /// None was made.
    Refused(NotesError),
}

/// The notes as they are on disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotesFile {
    pub text: String,
    /// What has to be there for a change of them to go through.
    pub expect: Expect,
}

#[must_use]
pub fn notes_path(session: &Session) -> PathBuf {
    session.world.transcripts.session_dir(&session.log.id).join(PLACE)
}

/// The notes as they are; none where there are none yet.
///
/// # Errors
/// If what is there is not text file of a size that can be read, or a link
/// that leads elsewhere.
pub async fn notes(session: &Session) -> Result<Option<NotesFile>, NotesError> {
    let most = session.config.limits.notes.file_bytes;
    let read = session.world.transcripts.beside(&session.log.id, Path::new(PLACE), most).await?;
    let Some(read) = read else { return Ok(None) };
    let text = String::from_utf8(read.bytes.to_vec())
        .map_err(|_| NotesError::NotText(notes_path(session)))?;
    Ok(Some(NotesFile { text, expect: Expect::Version(read.version) }))
}

/// Puts a person's text in the place of the notes.
///
/// # Errors
/// If the file changed meanwhile, or cannot be written.
pub async fn write_notes(session: &Session, text: &str, expect: Expect) -> Result<(), NotesError> {
    let text = secrets::masked(session, text);
    let transcripts = &session.world.transcripts;
    Ok(transcripts.replace(&session.log.id, Path::new(PLACE), text.as_bytes(), expect).await?)
}

/// Brings the notes up to date now, and waits for it.
///
/// # Errors
/// If the log cannot be written.
pub async fn update_notes(session: &mut Session) -> Result<NotesUpdate, Error> {
    let refused = |why| Ok(NotesUpdate::Refused(NotesError::NotNow(why)));
    if !session.config.flags.is_on(Flag::SessionMemory) {
        return refused("notes are off (flag session_memory)");
    }
    if session.world.model.kind() != ModelKind::Language {
        return refused("no model to take notes");
    }
    wait_for_notes(session, Duration::MAX).await?;
    let before = session.state.fold.noted().cloned();
    if let Err(error) = start_update(session).await {
        return Ok(NotesUpdate::Refused(error));
    }
    wait_for_notes(session, Duration::MAX).await?;
    effects::book_side_queries(session).await?;
    let changed = session.state.fold.noted().cloned() != before;
    Ok(if changed { NotesUpdate::Changed } else { NotesUpdate::Unchanged })
}

/// Takes along the notes of the session that this one continues. Without
/// them, new ones are made in time.
pub(crate) async fn copy_notes(session: &Session, from: &SessionId) {
    let (place, most) = (Path::new(PLACE), session.config.limits.notes.file_bytes);
    let transcripts = &session.world.transcripts;
    let copied = match transcripts.beside(from, place, most).await {
        Ok(Some(read)) => {
            transcripts.replace(&session.log.id, place, &read.bytes, Expect::Absent).await
        }
        Ok(None) => Ok(()),
        Err(error) => Err(error),
    };
    if let Err(error) = copied {
        tracing::warn!(%error, "the notes were not taken along");
    }
}

/// Puts the notes aside where they tell of a branch that was left (Q12).
/// New ones are made in time; the old ones lie beside them.
pub(crate) async fn set_notes_aside(
    session: &Session,
    branch: &RecordId,
) -> Result<(), NotesError> {
    let Some(file) = notes(session).await? else { return Ok(()) };
    let place = format!("session-memory/summary-before-{branch}.md");
    let transcripts = &session.world.transcripts;
    transcripts.keep(&session.log.id, Path::new(&place), file.text.as_bytes()).await?;
    let blank = Notes::blank(&notes_template(session).await).render();
    write_notes(session, &blank, file.expect).await
}

/// Looks whether the notes are due, and brings them up to date in the
/// background. Whatever goes wrong is said, and the turn goes on (Q2).
pub(crate) async fn look_at_notes(session: &mut Session) -> Result<(), Error> {
    take_notes(session).await?;
    let (flags, limits) = (&session.config.flags, &session.config.limits);
    let wanted = session.is_main()
        && session.runtime.branch.notes.running.is_none()
        && session.world.model.kind() == ModelKind::Language
        && policy::is_kept(flags)
        && due(&session.state.fold, noted_or_tried(session), limits) == Due::Yes;
    if !wanted {
        return Ok(());
    }
    let (fold, window) = (&session.state.fold, session.window());
    let terms = weighed::cost_terms(session);
    let sum = policy::weigh(fold, &window, &terms, &session.config.limits);
    let always = session.config.background.compact.notes == NotesUse::Always;
    let Some(sum) = sum.filter(|_| !always) else {
        return if always { try_update(session, Usd(0.0)).await } else { Ok(()) };
    };
    let (cost, verdict) = (sum.cost(), sum.verdict);
    weighed::note_sum(session, sum).await?;
    if verdict == SumVerdict::Left { Ok(()) } else { try_update(session, cost).await }
}

/// Starts an update if the budget allows it.
async fn try_update(session: &mut Session, cost: Usd) -> Result<(), Error> {
    if let Err(denied) = session.budget.allows_act(&QuerySource::SessionMemory, cost).await {
        quiet_lines::denied(session, "notes are not brought up to date", cost, &denied);
        return Ok(());
    }
    if let Err(error) = start_update(session).await {
        status::say_once(session, "notes", || format!("{error}; continuing without notes"));
    }
    Ok(())
}

/// The later of what the notes cover and what was tried last.
fn noted_or_tried(session: &Session) -> Option<&RecordId> {
    session.runtime.branch.notes.tried.as_ref().or_else(|| session.state.fold.notes_tried())
}

/// Takes over what an update came to, if it has ended.
pub(crate) async fn take_notes(session: &mut Session) -> Result<(), Error> {
    wait_for_notes(session, Duration::ZERO).await
}

/// Waits for an update that runs, and takes over what it came to.
async fn wait_for_notes(session: &mut Session, at_most: Duration) -> Result<(), Error> {
    let Some(running) = &mut session.runtime.branch.notes.running else { return Ok(()) };
    let ended = match at_most {
        Duration::ZERO => match running.try_recv() {
            Err(oneshot::error::TryRecvError::Empty) => None,
            ended => Some(ended.ok()),
        },
        Duration::MAX => Some(running.await.ok()),
        at_most => tokio::time::timeout(at_most, running).await.ok().map(Result::ok),
    };
    let Some(ended) = ended else { return Ok(()) };
    session.runtime.branch.notes.running = None;
    if let Some(decision) = ended {
        session.append(Entry::Decision(decision)).await?;
    }
    Ok(())
}

/// Starts an update. The file is made first: where nothing can be written,
/// no model is asked.
async fn start_update(session: &mut Session) -> Result<(), NotesError> {
    let last = session.state.fold.messages().last().and_then(|message| message.pieces().last());
    let through = last.map(|piece| piece.record.clone());
    let through = through.ok_or(NotesError::NotNow("nothing to take notes of yet"))?;
    session.runtime.branch.notes.tried = Some(through.clone());
    may_take_notes(session)?;
    let template = notes_template(session).await;
    let file = notes_or_blank(session, &template).await?;
    let notes = Notes::adopt(&file.text, &template);
    let before = notes.render();
    let page = Arc::new(Page::new(notes_path(session), &before));
    let taker = note_taker(session, &notes, &page).await?;
    let (sender, running) = oneshot::channel();
    session.runtime.branch.notes.running = Some(running);
    let update = Update {
        template,
        before,
        page,
        through,
        expect: file.expect,
        session: session.log.id.clone(),
        transcripts: Arc::clone(&session.world.transcripts),
        config: Arc::clone(&session.config),
        secrets: secrets::said(session),
    };
    let deadline = Duration::from_secs(session.config.limits.notes.update_s);
    let (scheduler, asked) = (session.runtime.cache.scheduler.clone(), Arc::default());
    session.runtime.branch.notes.asked = Arc::clone(&asked);
    session.runtime.background.start(
        "notes",
        QuerySource::SessionMemory,
        deadline,
        |task| async move {
            tokio::select! {
                () = scheduler.clear(PrefixUse::Cached) => asked.store(true, Ordering::Release),
                () = task.cancel().cancelled() => {}
            }
            let end = match taker {
                NoteTaker::Fork(fork) => fork.run(task.cancel().clone()).await.end.reason,
                NoteTaker::Form(form) => form.fill_in(&update, task.cancel()).await,
            };
            let settled = update.settle(&end).await;
            let decision = match &settled {
                Ok(decision) => decision.clone(),
                // Whoever resumes the session need not try the same again (E3).
                Err(error) => Decision::NotesTried {
                    through: update.through.clone(),
                    reason: error.to_string(),
                },
            };
            // Nobody waits any more where the session is gone; the file is written.
            let _ = sender.send(decision);
            settled?;
            task.say(format!("updated {}", update.path().display()));
            Ok::<(), NotesError>(())
        },
    );
    Ok(())
}

/// Who brings the notes up to date: a weak model fills in a form (Q18).
enum NoteTaker {
    Fork(Box<Fork>),
    Form(Box<NotesForm>),
}

async fn note_taker(
    session: &mut Session,
    notes: &Notes<'_>,
    page: &Arc<Page>,
) -> Result<NoteTaker, NotesError> {
    if session.config.profile(session.model()) == Profile::Lean {
        return Ok(NoteTaker::Form(Box::new(NotesForm::of(session, notes))));
    }
    let errand = notes_errand(session, notes, page).await;
    let fork = fork::fork_off(session, errand);
    let fork = fork.ok_or(NotesError::NotNow("no notes can be taken while tools run"))?;
    fork.saw(page.path().to_owned(), page.version());
    Ok(NoteTaker::Fork(Box::new(fork)))
}

/// Whether the fork will be let: what the person denies is denied to it too.
fn may_take_notes(session: &Session) -> Result<(), NotesError> {
    let path = notes_path(session);
    let permit = Permit::confined(&session.permit, Remit::editing(path.clone()));
    match permit.decide("Edit", &Footprint::Edit(path)) {
        Verdict::Allow => Ok(()),
        _ => Err(NotesError::NotNow("a permission rule denies Edit, by which notes are kept")),
    }
}

async fn notes_errand(session: &Session, notes: &Notes<'_>, page: &Arc<Page>) -> Errand {
    let limits = &session.config.limits;
    let own = notes_config(session, "prompt.md").await;
    let path = page.path().display().to_string();
    let directive =
        everfold_notes::directive(own.as_deref(), notes, notes_hints(session, &path), limits);
    let remit = Remit::editing(page.path().to_owned());
    let (source, most) = (QuerySource::SessionMemory, limits.notes.requests);
    let files = Arc::clone(page) as Arc<dyn Files>;
    let until = Until::CleanRound;
    Errand { until, files: Some(files), ..Errand::new(source, directive, remit, most) }
}

/// The notes; where there are none, a file with nothing but the sections.
async fn notes_or_blank(session: &Session, template: &Template) -> Result<NotesFile, NotesError> {
    if let Some(file) = notes(session).await? {
        return Ok(file);
    }
    write_notes(session, &Notes::blank(template).render(), Expect::Absent).await?;
    notes(session).await?.ok_or(NotesError::NotNow("this session keeps no files"))
}

/// The sections of the notes: a person's own, else ours (L3.5).
async fn notes_template(session: &Session) -> Template {
    let Some(own) = notes_config(session, "template.md").await else { return Template::built_in() };
    let path = notes_path(session).display().to_string();
    Template::parse(&fill(&own, &notes_hints(session, &path).values())).unwrap_or_else(|error| {
        tracing::warn!(%error, "the template for notes cannot be used; using ours");
        Template::built_in()
    })
}

fn notes_hints<'a>(session: &'a Session, path: &'a str) -> Hints<'a> {
    Hints { path, session: session.log.id.as_str(), cwd: &session.config.surroundings.cwd }
}

/// A file by which a person changes how notes are kept.
async fn notes_config(session: &Session, name: &str) -> Option<String> {
    let path = session.config.memory.notes_dir.as_ref()?.join(name);
    match session.world.files.read(&path, session.config.limits.notes.file_bytes).await {
        Ok(read) => Some(String::from_utf8_lossy(&read.bytes).into_owned()),
        Err(FileError::NotFound { .. }) => None,
        Err(error) => {
            tracing::warn!(%error, "it is left out of how notes are kept");
            None
        }
    }
}
