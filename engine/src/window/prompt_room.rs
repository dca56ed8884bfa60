//! Room for what the person says: a message that no request could hold is
//! shortened, and all of it kept beside the transcript (Q19).

use crate::session::effects::{self, RESULTS_DIR};
use crate::session::prompt::Prompt;
use crate::session::reminder::append_user;
use crate::session::{Error, Session, prelude};
use crate::setups::hooks::session_events::PromptRefusal;
use everfold_kernel::tokens::{estimate_prelude, estimate_text};
use everfold_kernel::{
    Block, BlockProvenance, BlockView, Decision, Effect, EffectOutcome, Entry, RecordId, Role,
    Tokens, UserOrigin, Window,
};
use everfold_prefix::message::PieceOrigin;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// What stands in the place of a message that was said again in short.
const SAID_AGAIN: &str = "[A message of the person stood here that is too long for this model. It \
    follows with what was pasted left out.]";

/// The prompt as it can be sent.
///
/// # Errors
/// If there is no room for it however it is cut, or the log cannot be written.
pub(crate) async fn fit(session: &mut Session, prompt: Prompt) -> Result<Prompt, PromptRefusal> {
    let limits = Arc::clone(&session.config.limits);
    let window = session.window();
    let takes = estimate_text(&prompt.text(), &limits);
    // Most are short, and what they leave need not be known.
    if takes.0.saturating_mul(8) < window.auto_compact.0 {
        return Ok(prompt);
    }
    let room = room(session, &window)?;
    let fitted = shortened(session, prompt, room).await?;
    let takes = session.state.fold.calibration().apply(estimate_text(&fitted.text(), &limits));
    if takes > most(session, &window)? {
        return Err(PromptRefusal::TooLong {
            tokens: takes.0,
            model: session.model().to_string(),
            window: window.size.0,
        });
    }
    Ok(fitted)
}

/// Says the message that waits for its answer again in short, where it would
/// leave no room in this window. False where it is short enough.
pub(crate) async fn shorten_waiting(session: &mut Session, window: &Window) -> Result<bool, Error> {
    let Some((record, prompt)) = waiting(session) else { return Ok(false) };
    let room = room(session, window)?;
    if estimate_text(&prompt.text(), &session.config.limits) <= room {
        return Ok(false);
    }
    let short = shortened(session, prompt.clone(), room).await?;
    if short == prompt {
        return Ok(false);
    }
    let marker = SAID_AGAIN.to_owned();
    let hidden = Decision::Snipped { from: record.clone(), to: record, marker };
    session.append(Entry::Decision(hidden)).await?;
    append_user(session, short, UserOrigin::Human).await?;
    Ok(true)
}

/// What the person said last, where nothing has answered it.
fn waiting(session: &Session) -> Option<(RecordId, Prompt)> {
    let last = session.state.fold.messages().last()?;
    let is_said = |origin: &PieceOrigin| *origin == PieceOrigin::User(UserOrigin::Human);
    let mut said = last.pieces().iter().filter(|piece| is_said(&piece.origin));
    let record = said.next_back().filter(|_| last.role() == Role::User)?.record.clone();
    let own = last.pieces().iter().filter(|piece| piece.record == record);
    let (blocks, provenance): (Vec<Block>, Vec<BlockProvenance>) =
        own.map(|piece| (piece.block.clone(), piece.provenance.clone())).unzip();
    Some((record, Prompt::with_provenance(blocks, provenance)))
}

/// Tokens that one message may take: in a small window half of what the fixed
/// prompt leaves, so that there is an answer and something to look things up.
fn room(session: &Session, window: &Window) -> Result<Tokens, Error> {
    let free = most(session, window)?;
    let is_small = window.size.0 < session.config.limits.small_window_tokens;
    let share = if is_small { free.0 / 2 } else { free.0 / 5 * 4 };
    // The share is of the server's tokens; ours may be larger than those.
    let counted = session.state.fold.calibration().apply(Tokens(share)).0;
    Ok(Tokens(share.saturating_mul(share) / counted.max(share).max(1)))
}

/// Tokens that are left beside the fixed prompt.
fn most(session: &Session, window: &Window) -> Result<Tokens, Error> {
    let fixed = match session.state.fold.prelude() {
        Some(prelude) => estimate_prelude(prelude, &session.config.limits),
        None => estimate_prelude(&prelude::compose_prelude(session)?, &session.config.limits),
    };
    Ok(window.auto_compact - session.state.fold.calibration().apply(fixed))
}

async fn shortened(session: &mut Session, prompt: Prompt, room: Tokens) -> Result<Prompt, Error> {
    let limits = Arc::clone(&session.config.limits);
    let directory = session.world.transcripts.session_dir(&session.log.id).join(RESULTS_DIR);
    let (mut blocks, mut provenance) = prompt.into_parts();
    let longest = (0..blocks.len()).max_by_key(|at| match blocks.get(*at).map(Block::view) {
        Some(BlockView::Text(text)) => text.len(),
        _ => 0,
    });
    if let Some((block, own)) =
        longest.and_then(|at| Some((blocks.get_mut(at)?, provenance.get_mut(at)?)))
        && let BlockView::Text(text) = block.view()
    {
        let name = format!("paste-{}", session.world.clock.fresh_uuid());
        let place = (directory.as_path(), name.as_str());
        let short = everfold_offload::shorten(text, own, room, place, &limits);
        if let Some(short) = short {
            for (file, content) in short.spills {
                let spill = Effect::Spill { file, content };
                let kept = effects::perform(session, spill, &CancellationToken::new()).await?;
                if let EffectOutcome::Failed { reason, .. } = kept {
                    // What cannot be kept is not cut: better too long than lost.
                    tracing::warn!(reason, "a paste could not be written to disk");
                    return Ok(Prompt::with_provenance(blocks, provenance));
                }
            }
            *block = Block::text(short.text);
            *own = short.provenance;
        }
    }
    Ok(Prompt::with_provenance(blocks, provenance))
}
