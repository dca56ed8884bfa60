//! Summing up between two turns, although the window is not full (E4).
//!
//! Whether it pays is decided in [`everfold_economy::point`]; here are the
//! moments. When a turn has ended, a summary is asked for at once, or shortly
//! before the cache expires if the person is not back by then: beside the
//! conversation, from the prefix that is still cached. It takes the place of the
//! past when the person speaks next, so that nobody waits for it and no task is
//! interrupted. Where there is none, and the sum says so, one is made then.

use crate::background::TaskHandle;
use crate::background::scheduler::PrefixUse;
use crate::event::Event;
use crate::memory::extraction;
use crate::session::economy_state::{PendingSummary, SummaryAnswer};
use crate::session::{Error, Session, effects, lifetime, quiet_lines, weighed};
use crate::setups::instructions;
use crate::window::compaction::{CompactionScope, Trigger, ready_summary};
use everfold_compact::parse::{Attempt, ParsedSummary, read};
use everfold_compact::plan::between_turns;
use everfold_compact::{Guidance, Plan, Sending, policy};
use everfold_economy::point::{CarriedView, CompactionPoint};
use everfold_kernel::ports::{ModelError, ModelKind};
use everfold_kernel::record::{ActSum, CacheState, FailedSummary, SumVerdict};
use everfold_kernel::usage::Booking;
use everfold_kernel::{Decision, Entry, Flag, QuerySource, RecordId, Timestamp, Usd};
use everfold_prefix::{Directive, Message};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

/// A turn has ended: asks for a summary now, or has one asked for before the
/// cache expires, where that pays.
pub(crate) async fn after_turn(session: &mut Session) -> Result<(), Error> {
    if session.runtime.branch.economy.summary.is_some() {
        return Ok(());
    }
    let now = weigh(session, CompactionPoint::TurnEnd).await?;
    if let Some(done) = now {
        begin(session, done, Duration::ZERO);
        return Ok(());
    }
    let left = weighed::prefix_cache(session).seconds_left(session.world.clock.now());
    let Some(left) = left.and_then(|left| u64::try_from(left).ok()) else { return Ok(()) };
    let margin = session.config.limits.economy.pause_margin_s;
    if let Some(done) = weigh(session, CompactionPoint::Expiry).await? {
        begin(session, done, Duration::from_secs(left.saturating_sub(margin)));
    }
    Ok(())
}

/// The person is about to speak: a summary that is ready takes the place of the
/// past, and where none was made one may be made now.
pub(crate) async fn before_prompt(
    session: &mut Session,
    cancel: &CancellationToken,
) -> Result<(), Error> {
    if !session.is_main() {
        return Ok(());
    }
    lifetime::follow_pace(session).await?;
    let is_new = session.state.fold.last_response().is_none();
    if take_ready(session, cancel).await? == Taken::Some || is_new {
        return Ok(());
    }
    let moment = match weighed::prefix_cache(session).state {
        CacheState::Warm => CompactionPoint::BackInTime,
        CacheState::Cold => CompactionPoint::BackLate,
    };
    let Some((sum, loss)) = weigh(session, moment).await? else { return Ok(()) };
    extraction::catch_up(session).await?;
    let (scope, _) = between_turns(&session.state.fold, &session.config.limits);
    match ready_summary::sum_up(session, scope, loss, cancel).await {
        Ok(Some(report)) => quiet_lines::summed_up(session, &sum, &report),
        Ok(None) => {}
        Err(error) => not_made(session, &error.unless_broken()?.to_string()),
    }
    Ok(())
}

/// The session ends for now: what waits for a pause is given up, and what is
/// ready takes its place.
pub(crate) async fn close(session: &mut Session) -> Result<(), Error> {
    take_ready(session, &CancellationToken::new()).await.map(|_| ())
}

/// Gives up a summary that nobody has asked for yet.
pub(crate) fn stop_waiting(session: &mut Session) {
    let summary = &mut session.runtime.branch.economy.summary;
    summary.take_if(|summary| !summary.asked.load(Ordering::Acquire));
}

/// Whether there was a summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Taken {
    Some,
    None,
}

async fn take_ready(session: &mut Session, cancel: &CancellationToken) -> Result<Taken, Error> {
    stop_waiting(session);
    let Some(mut summary) = session.runtime.branch.economy.summary.take() else {
        return Ok(Taken::None);
    };
    let answer = match summary.answer.try_recv() {
        Err(oneshot::error::TryRecvError::Empty) => {
            // It is on its way, and is for the turn after.
            session.runtime.branch.economy.summary = Some(summary);
            return Ok(Taken::Some);
        }
        Err(oneshot::error::TryRecvError::Closed) => return Ok(Taken::None),
        Ok(answer) => answer,
    };
    effects::book_side_queries(session).await?;
    weighed::note_sum(session, summary.sum.clone()).await?;
    let Some(scope) = still_there(session, &summary) else { return Ok(Taken::None) };
    let text = match answer {
        SummaryAnswer::Text { text, asked } => {
            session.runtime.cache.last_fork = Some(asked);
            match read(&text, Attempt::Again, &session.config.limits) {
                ParsedSummary::Summary(text) => Ok(text),
                _ => Err("the model wrote no summary".to_owned()),
            }
        }
        SummaryAnswer::Failed(reason) => Err(reason),
    };
    match text {
        Ok(text) => {
            extraction::catch_up(session).await?;
            let placed = ready_summary::place(session, (scope, &text), summary.loss, cancel).await;
            match placed {
                Ok(report) => quiet_lines::summed_up(session, &summary.sum, &report),
                Err(error) => not_made(session, &error.unless_broken()?.to_string()),
            }
        }
        Err(reason) => {
            let failed = Decision::CompactionFailed { reason, by: FailedSummary::Model };
            session.append(Entry::Decision(failed)).await?;
        }
    }
    Ok(Taken::Some)
}

/// What the summary stands for, as far as it is in view as it was; what came
/// since stays.
fn still_there(session: &Session, summary: &PendingSummary) -> Option<CompactionScope> {
    let pieces = || session.state.fold.messages().iter().flat_map(Message::pieces);
    if !pieces().any(|piece| piece.record == summary.through) {
        return None;
    }
    let mut later = pieces().skip_while(|piece| piece.record != summary.through);
    let next = later.find(|piece| piece.record != summary.through);
    Some(match (&summary.scope, next) {
        (CompactionScope::All, Some(piece)) => CompactionScope::UpTo(piece.record.clone()),
        (scope, _) => scope.clone(),
    })
}

/// What a sum says about a moment, where it says that the past is summed up.
async fn weigh(
    session: &mut Session,
    moment: CompactionPoint,
) -> Result<Option<(ActSum, Usd)>, Error> {
    let config = Arc::clone(&session.config);
    let (fold, limits) = (&session.state.fold, &config.limits);
    let is_on = config.flags.is_on(Flag::AutoCompact)
        && !config.flags.is_on(Flag::Collapse)
        && session.world.model.kind() == ModelKind::Language
        && !policy::is_breaker_open(fold, limits)
        && fold.open_calls().is_empty();
    let economy = config.background.compact.economy;
    if !is_on || !moment.is_allowed(economy, session.window().size, &limits.economy) {
        return Ok(None);
    }
    let said = fold.messages().iter().map(Message::tokens).sum();
    let frame = fold.count() - fold.calibration().apply(said);
    let (_, turn) = between_turns(fold, limits);
    let rounds = everfold_economy::expected_rounds(fold, limits.prune.expected_rounds);
    let ledger = &session.state.ledger;
    let view = CarriedView {
        view: fold.count(),
        kept: frame + turn,
        rounds,
        spent: ledger.total().cost,
        beside: ledger.metered().cost,
    };
    let terms = weighed::cost_terms(session);
    let sum = session.state.carried.weigh(moment, &view, &terms, &limits.economy);
    let Some((sum, loss)) = sum else { return Ok(None) };
    if sum.verdict == SumVerdict::Left {
        weighed::note_sum(session, sum).await?;
        return Ok(None);
    }
    // One that is to be made later is noted when it is.
    if matches!(moment, CompactionPoint::BackInTime | CompactionPoint::BackLate) {
        weighed::note_sum(session, sum.clone()).await?;
    }
    Ok(Some((sum, loss)))
}

/// Has a summary asked for after a while, beside the conversation.
fn begin(session: &mut Session, (sum, loss): (ActSum, Usd), after: Duration) {
    let limits = Arc::clone(&session.config.limits);
    let (scope, _) = between_turns(&session.state.fold, &limits);
    let Ok(plan) = Plan::new(&session.state.fold, scope.clone(), Trigger::Auto) else {
        return;
    };
    let wishes = instructions::compact_wishes(session);
    let guidance = Guidance { person: None, standing: wishes.as_deref() };
    let directive = plan.directive(&session.state.fold, Sending::Fork, guidance, &limits);
    let Ok(directive) = directive else { return };
    let expires = expiry(session);
    let through = last_record(session);
    let request = session.state.fold.request(Some(Directive(&directive)));
    let (Some(request), Some(through)) = (request, through) else { return };
    let (sender, answer) = oneshot::channel();
    let asked = Arc::new(AtomicBool::new(false));
    let asking = Asking {
        request,
        sender,
        asked: Arc::clone(&asked),
        expires,
        books: session.runtime.books.clone(),
        world: session.world.clone(),
        config: Arc::clone(&session.config),
    };
    let (background, scheduler) =
        (session.runtime.background.clone(), session.runtime.cache.scheduler.clone());
    let deadline = Duration::from_secs(limits.economy.summary_s);
    let timer = async move {
        tokio::time::sleep(after).await;
        if asking.is_late() {
            return;
        }
        asking.asked.store(true, Ordering::Release);
        background.start("summary", QuerySource::Compact, deadline, |task| async move {
            scheduler.run(PrefixUse::Cached, &task.cancel().clone(), asking.run(task)).await
        });
    };
    let timer = AbortOnDropHandle::new(tokio::spawn(timer));
    let summary = PendingSummary { scope, through, sum, loss, asked, answer, timer };
    session.runtime.branch.economy.summary = Some(summary);
}

fn last_record(session: &Session) -> Option<RecordId> {
    let last = session.state.fold.messages().last()?.pieces().last()?;
    Some(last.record.clone())
}

/// When the cache expires, where that is known.
fn expiry(session: &Session) -> Option<Timestamp> {
    let now = session.world.clock.now();
    let left = weighed::prefix_cache(session).seconds_left(now)?;
    now.checked_add(jiff::SignedDuration::from_secs(left)).ok()
}

/// A request for a summary, and who waits for its answer.
struct Asking {
    request: everfold_prefix::Request,
    sender: oneshot::Sender<SummaryAnswer>,
    asked: Arc<AtomicBool>,
    expires: Option<Timestamp>,
    books: effects::SideBookings,
    world: everfold_kernel::ports::World,
    config: Arc<crate::config::Config>,
}

impl Asking {
    /// Whether the cache has expired meanwhile: the machine slept.
    fn is_late(&self) -> bool {
        self.expires.is_some_and(|expires| self.world.clock.now() >= expires)
    }

    async fn run(self, task: TaskHandle) -> Result<(), ModelError> {
        let Self { request, sender, books, world, config, .. } = self;
        let asked = world.clock.now();
        let reply = tokio::select! {
            reply = effects::collect(&*world.model, request, QuerySource::Compact) => reply,
            () = task.cancel().cancelled() => return Ok(()),
        };
        let (answer, ended) = match reply {
            Ok(reply) => {
                let text = crate::session::prompt::text_of(&reply.blocks);
                let table = &config.models.table;
                books.add(Booking::new(QuerySource::Compact, reply.model, reply.usage, table));
                (SummaryAnswer::Text { text, asked }, Ok(()))
            }
            Err(error) => (SummaryAnswer::Failed(error.to_string()), Err(error)),
        };
        // Nobody waits any more where the session is gone.
        let _ = sender.send(answer);
        ended
    }
}

fn not_made(session: &Session, reason: &str) {
    session.emit(|| Event::Notice(format!("the conversation was not summarised: {reason}")));
}
