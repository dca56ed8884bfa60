//! Reading a log: from its newest resume point where that is good, else whole
//! (E11).

use crate::session::log::Log;
use crate::session::projections::Projections;
use crate::session::{Error, Session};
use crate::tools::{BackgroundWork, SEEN_FIELD};
use everfold_kernel::SessionId;
use everfold_kernel::ports::{TranscriptPart, World};
use everfold_transcript::{Conversation, RESUME_POINT, Rebuild, ResumePoint};

/// Projects the log anew, where a decision holds no more that was carried out.
pub(crate) async fn refold(session: &mut Session) -> Result<(), Error> {
    let (conversation, _) = load(&session.world, &session.log.id, slim).await?;
    let books = session.state.ledger.clone();
    session.state = Projections::of(conversation.records, books, &session.config.limits);
    Ok(())
}

/// For reading a conversation that is not copied: of results' structured
/// forms only what the session remembers, so that no file is held twice.
pub(crate) fn slim(rebuild: Rebuild) -> Rebuild {
    let fields = BackgroundWork::FIELDS.into_iter().chain([SEEN_FIELD]);
    fields.fold(rebuild, Rebuild::with_only_result_field)
}

/// How a rebuild holds what it is given.
pub(crate) type Form = fn(Rebuild) -> Rebuild;

/// The conversation of a log, and the bytes of a line that was torn.
pub(crate) async fn load(
    world: &World,
    id: &SessionId,
    form: Form,
) -> Result<(Conversation, u64), Error> {
    if let Some(found) = Box::pin(load_from_point(world, id, form)).await? {
        return Ok(found);
    }
    let (conversation, torn_bytes) = Box::pin(load_whole(world, id, form(Rebuild::new()))).await?;
    if !conversation.went_back {
        return Ok((conversation, torn_bytes));
    }
    // What was let go at a boundary may be what the person went back to.
    Box::pin(load_whole(world, id, form(Rebuild::keeping_all()))).await
}

/// The same from the newest point; none where there is none that is good.
async fn load_from_point(
    world: &World,
    id: &SessionId,
    form: Form,
) -> Result<Option<(Conversation, u64)>, Error> {
    let line = world.transcripts.newest(id, RESUME_POINT.as_bytes()).await?;
    let Some(point) = line.and_then(|line| ResumePoint::decode(&line)) else { return Ok(None) };
    let part = point.part();
    let mut rebuild = form(Rebuild::from_point(point));
    let mut sink = |start: u64, line: &[u8]| rebuild.push_at(start, line);
    let loaded = world.transcripts.load_part(id, &part, &mut sink).await?;
    let is_enough = rebuild.is_enough();
    Ok(loaded.filter(|_| is_enough).map(|loaded| (rebuild.finish(), loaded.torn_bytes)))
}

async fn load_whole(
    world: &World,
    id: &SessionId,
    mut rebuild: Rebuild,
) -> Result<(Conversation, u64), Error> {
    let all = TranscriptPart::default();
    let mut sink = |start: u64, line: &[u8]| rebuild.push_at(start, line);
    if let Some(loaded) = world.transcripts.load_part(id, &all, &mut sink).await? {
        return Ok((rebuild.finish(), loaded.torn_bytes));
    }
    let mut sink = |line: &[u8]| rebuild.push(line);
    let loaded = world.transcripts.load(id, &mut sink).await?;
    Ok((rebuild.finish(), loaded.torn_bytes))
}

/// Says in the log, behind a boundary, how the session is called (L4.5), and
/// where it can be read from the next time. Without that it is read whole, so a log that cannot be read now
/// costs time later and nothing else.
pub(crate) async fn mark_resume_point(world: &World, log: &Log) -> Result<(), Error> {
    let Ok((conversation, _)) = load(world, &log.id, slim).await else { return Ok(()) };
    for line in conversation.names.lines(&log.id) {
        log.note(&line).await?;
    }
    if let Some(point) = conversation.resume_point {
        log.note(&point.encode(&log.id)).await?;
    }
    Ok(())
}
