//! Reading a log from disk: all of it that is still needed.

use crate::session::Error;
use crate::session::Session;
use crate::session::projections::Projections;
use crate::tools::{BackgroundWork, SEEN_FIELD};
use everfold_kernel::SessionId;
use everfold_kernel::ports::World;
use everfold_transcript::Conversation;
use everfold_transcript::Rebuild;

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

pub(crate) async fn load(
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
