//! Hooks around a change of the model.

use crate::agents::model_of;
use crate::event::Event;
use crate::session::{Error, Session, prelude};
use crate::setups::hooks::{self, model_switch};
use everfold_hooks::{Occasion, Switch};
use everfold_kernel::record::CacheTtl;
use everfold_kernel::{Class, Classify, ModelId};
use everfold_skills::Skill;
use tokio_util::sync::CancellationToken;

/// Tokens that prices are for.
const PRICED_TOKENS: f64 = 1_000_000.0;

/// Why the model was not changed.
#[derive(Debug, thiserror::Error)]
pub enum SwitchError {
    /// A hook said no.
    #[error("a PreModelSwitch hook refused {model}: {why}")]
    Hook { model: ModelId, why: String },
    #[error(transparent)]
    Session(#[from] Error),
}

impl Classify for SwitchError {
    fn class(&self) -> Class {
        match self {
            Self::Hook { .. } => Class::Refuse,
            Self::Session(error) => error.class(),
        }
    }
}

/// Changes the model as [`prelude::switch_model`] does, if hooks agree.
/// `source` is who wants it: `command`, `skill` or `fallback`.
///
/// # Errors
/// If a hook refuses it, or the log cannot be written.
pub async fn change_model(
    session: &mut Session,
    model: &ModelId,
    source: &str,
    cancel: &CancellationToken,
) -> Result<(), SwitchError> {
    let from = session.model().to_string();
    if from == model.as_str() {
        return Ok(prelude::switch_model(session, model).await?);
    }
    let switch = switch_to(session, &from, model, source);
    let verdict = hooks::fire(session, &Occasion::PreModelSwitch(switch), cancel).await?;
    if let Some(why) = verdict.blocked.or(verdict.stop) {
        session.runtime.hooks.stop = None;
        return Err(SwitchError::Hook { model: model.clone(), why });
    }
    prelude::switch_model(session, model).await?;
    hooks::fire(session, &Occasion::PostModelSwitch(switch), cancel).await?;
    Ok(())
}

/// Lets a skill's own model go on with the turn, a declared break of the
/// cache. Gives the model to go back to; none where nothing changes.
pub(crate) async fn lend_model(
    session: &mut Session,
    skill: &Skill,
    cancel: &CancellationToken,
) -> Result<Option<ModelId>, Error> {
    // What a repository brings spends nothing before it is trusted (S7).
    let Some(named) = skill.model.as_deref().filter(|_| skill.may_act()) else {
        return Ok(None);
    };
    let to = model_of(&session.config, session.model(), Some(named));
    if to == *session.model() {
        return Ok(None);
    }
    let own = session.state.lent.clone().unwrap_or_else(|| session.model().clone());
    let reason = format!("the skill {} works with it", skill.name);
    match model_switch::go_over(session, to, "skill", &reason, cancel).await {
        Ok(()) => Ok(Some(own)),
        Err(SwitchError::Session(error)) => Err(error),
        Err(why) => {
            session.emit(|| Event::Notice(why.to_string()));
            Ok(None)
        }
    }
}

/// Goes back to the model from before a skill, with the person's next words.
pub(crate) async fn return_model(
    session: &mut Session,
    cancel: &CancellationToken,
) -> Result<(), Error> {
    let Some(own) = session.state.lent.clone() else { return Ok(()) };
    let reason = "what the skill was for is done";
    match model_switch::go_over(session, own, "skill", reason, cancel).await {
        Err(SwitchError::Session(error)) => Err(error),
        Err(why) => {
            session.emit(|| Event::Notice(why.to_string()));
            Ok(())
        }
        Ok(()) => Ok(()),
    }
}

fn switch_to<'a>(session: &Session, from: &'a str, to: &'a ModelId, source: &'a str) -> Switch<'a> {
    let tokens = session.state.fold.count().0;
    let cache = session.config.models.cache;
    let price = session.config.models.table.spec(to).prices.map(|prices| match cache {
        Some(CacheTtl::FiveMinutes) => prices.cache_write_5m,
        Some(CacheTtl::OneHour) => prices.cache_write_1h,
        None => prices.input,
    });
    #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^52 tokens")]
    let millions = tokens as f64 / PRICED_TOKENS;
    Switch {
        from,
        to: to.as_str(),
        source,
        context_tokens: tokens,
        cache_ttl: cache.map(CacheTtl::as_str),
        write_usd: price.map(|price| price * millions),
    }
}

/// Changes the model in the middle of a turn, and tells the person. Why
/// not, where a hook refused it.
pub(crate) async fn go_over(
    session: &mut Session,
    to: everfold_kernel::ModelId,
    source: &str,
    reason: &str,
    cancel: &CancellationToken,
) -> Result<(), SwitchError> {
    let from = session.model().clone();
    Box::pin(model_switch::change_model(session, &to, source, cancel)).await?;
    let reason = reason.to_owned();
    session.emit(|| Event::ModelSwitched { from, to, reason });
    Ok(())
}
