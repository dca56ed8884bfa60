//! How long the server keeps the conversation's prefix: by the pace of the
//! person (E5).
//!
//! Which markers a request has is no part of what the cache knows a prefix by,
//! so a shorter time to live can be asked for at any turn. A longer one serves
//! only what is written with it: it is chosen when everything is written anew.

use crate::session::{Error, Session, weighed};
use everfold_economy::pace::time_to_live;
use everfold_kernel::record::{CacheState, CacheTtl};
use everfold_kernel::settings::TtlSetting;
use everfold_kernel::{Decision, Entry, Role, Tokens, UserOrigin};
use everfold_prefix::message::PieceOrigin;
use everfold_prefix::{Fold, Message};

/// Chooses the time to live for the turn that begins, where the setting leaves
/// that to the pace.
pub(crate) async fn follow_pace(session: &mut Session) -> Result<(), Error> {
    let Some(ttl) = chosen(session) else { return Ok(()) };
    let Some(prelude) = session.state.fold.prelude() else { return Ok(()) };
    let mut prelude = prelude.clone();
    prelude.params.cache = Some(ttl);
    tracing::info!(ttl = ttl.as_str(), "the prefix is cached by the pace of the person");
    session.append(Entry::Decision(Decision::Prelude(Box::new(prelude)))).await?;
    Ok(())
}

/// Another time to live than the one in use, where it is cheaper.
fn chosen(session: &Session) -> Option<CacheTtl> {
    if session.config.models.ttl != TtlSetting::Auto || !session.is_main() {
        return None;
    }
    let fold = &session.state.fold;
    let current = fold.prelude()?.params.cache?;
    let spec = session.config.models.table.spec(session.model());
    let prices = spec.prices_for(fold.count().0)?;
    let mut pace = session.state.carried.pace;
    let now = session.world.clock.now();
    pace.add(now.as_second().saturating_sub(session.state.carried.answered_s?));
    let prior = session.config.limits.economy.pace_pauses;
    let best = time_to_live(pace, fold.count(), growth(fold), prices, (current, prior));
    let is_cold = weighed::prefix_cache(session).state == CacheState::Cold;
    (best != current && (is_cold || best < current)).then_some(best)
}

/// Tokens that a turn in view adds.
fn growth(fold: &Fold) -> Tokens {
    let human = PieceOrigin::User(UserOrigin::Human);
    let is_prompt = |message: &&Message| {
        message.role() == Role::User && message.pieces().iter().any(|piece| piece.origin == human)
    };
    let turns = fold.messages().iter().filter(is_prompt).count().max(1) as u64;
    let said: Tokens = fold.messages().iter().map(Message::tokens).sum();
    Tokens(fold.calibration().apply(said).0 / turns)
}
