//! What a person chooses for the rest of a conversation (Q14): how much the
//! model thinks, the effort, the style and the language of its answers.
//!
//! Thinking and effort are parameters of requests: changing them is a declared
//! break of the messages' cache. Style and language are told by a reminder, so
//! that nothing breaks; after a compaction they are told again. All of it is in
//! the log, and so outlasts a resume.

use crate::config::Config;
use crate::session::prelude::params_now;
use crate::session::{Error, Session};
use everfold_kernel::models::Thinking;
use everfold_kernel::record::{Dialect, reminder};
use everfold_kernel::{Attachment, Class, Classify, Decision, Entry, ModelId, Params, Prelude};
use serde_json::{Value, json};
use std::sync::Arc;

pub use crate::session::projections::{LANGUAGE, OUTPUT_STYLE};
/// What effort can be asked for.
pub const EFFORTS: &[&str] = &["low", "medium", "high", "xhigh", "max"];

/// How much a model is to think.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThinkingWish {
    /// As is usual for the model.
    Usual,
    /// Not at all.
    Off,
    Adaptive,
    /// At most so many tokens.
    Budget(u64),
}

/// The least budget that the API takes.
const LEAST_BUDGET: u64 = 1_024;

/// Why a choice cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum PreferenceError {
    #[error("unknown effort {0:?}; choices: {list}", list = EFFORTS.join(", "))]
    UnknownEffort(String),
    #[error("effort needs a model")]
    NoModel,
    /// The dialect has no word for it.
    #[error("{0} has no thinking setting; try /effort")]
    NoThinkingParameter(ModelId),
    /// It cannot be switched off.
    #[error("{0} always thinks")]
    AlwaysThinks(ModelId),
    /// It cannot be switched on.
    #[error("{0} does not think")]
    NeverThinks(ModelId),
    /// It wants a number.
    #[error("{0} thinks on a budget; give a number of tokens")]
    NeedsBudget(ModelId),
    /// It takes no number.
    #[error("{0} decides on its own how much it thinks")]
    TakesNoBudget(ModelId),
    /// Too little or too much.
    #[error("a budget must be between {LEAST_BUDGET} and {most} tokens")]
    Budget {
        /// The most.
        most: u64,
    },
    #[error(transparent)]
    Session(#[from] Error),
}

impl Classify for PreferenceError {
    fn class(&self) -> Class {
        match self {
            Self::Session(error) => error.class(),
            _ => Class::Refuse,
        }
    }
}

/// Changes how much the model thinks.
///
/// # Errors
/// If the model does not take it, or the log cannot be written.
pub async fn set_thinking(
    session: &mut Session,
    wish: ThinkingWish,
) -> Result<(), PreferenceError> {
    let params = params_now(session);
    let thinking = thinking(&session.config, &params, wish)?;
    Ok(change_params(session, Params { thinking, ..params }).await?)
}

/// Changes the effort; none is the model's own.
///
/// # Errors
/// If there is no such effort, or the log cannot be written.
pub async fn set_effort(
    session: &mut Session,
    effort: Option<&str>,
) -> Result<(), PreferenceError> {
    if let Some(name) = effort.filter(|name| !EFFORTS.contains(name)) {
        return Err(PreferenceError::UnknownEffort(name.to_owned()));
    }
    if params_now(session).model.as_str() == OFFLINE {
        return Err(PreferenceError::NoModel);
    }
    let mut config = Config::clone(&session.config);
    config.models.effort = effort.map(str::to_owned);
    session.config = Arc::new(config);
    let params = Params { effort: effort.map(str::to_owned), ..params_now(session) };
    Ok(change_params(session, params).await?)
}

/// Changes how answers are written; none is as they are by themselves.
///
/// # Errors
/// If the log cannot be written.
pub async fn set_output_style(
    session: &mut Session,
    name: &str,
    text: Option<&str>,
) -> Result<(), Error> {
    let told = match text {
        Some(text) => format!(
            "From here on, write in the style {name:?}; it takes the place of any other style \
             that you were given.\n\n{}",
            text.trim()
        ),
        None => "From here on, write as you do by yourself; styles that you were given before \
            hold no more."
            .to_owned(),
    };
    let data = json!({"style": name, "text": text});
    choose(session, OUTPUT_STYLE, &told, data).await
}

/// Changes the language of answers; none is that of the question.
///
/// # Errors
/// If the log cannot be written.
pub async fn set_language(session: &mut Session, language: Option<&str>) -> Result<(), Error> {
    let told = match language {
        Some(name) => {
            format!("From here on, answer in {name}, whatever language you are asked in.")
        }
        None => "From here on, answer in the language that you are asked in.".to_owned(),
    };
    choose(session, LANGUAGE, &told, json!({"language": language})).await
}

/// The style and the language that were chosen in this conversation.
#[must_use]
pub fn chosen(session: &Session) -> Chosen {
    let field = |kind: &str, key: &str| {
        let choices = session.runtime.branch.first_choices.iter().chain(&session.state.choices);
        let data = choices.rev().find(|choice| choice.kind == kind)?.data.get(key)?;
        data.as_str().map(str::to_owned)
    };
    Chosen { style: field(OUTPUT_STYLE, "style"), language: field(LANGUAGE, "language") }
}

async fn choose(session: &mut Session, kind: &str, text: &str, data: Value) -> Result<(), Error> {
    let attachment =
        Attachment { kind: kind.to_owned(), rendered: reminder(text), data, provenance: None };
    if session.state.fold.prelude().is_none() {
        // The log begins with the first turn.
        let choices = &mut session.runtime.branch.first_choices;
        choices.retain(|choice| choice.kind != kind);
        choices.push(attachment);
        return Ok(());
    }
    session.append(Entry::Attachment(attachment)).await?;
    Ok(())
}

/// Tells what was chosen, at the start and after a compaction.
pub(crate) async fn attach_choices(session: &mut Session) -> Result<(), Error> {
    let mut choices = session.state.choices.clone();
    choices.append(&mut session.runtime.branch.first_choices);
    for choice in choices {
        session.append(Entry::Attachment(choice)).await?;
    }
    Ok(())
}

/// The parameters of the next request.
#[must_use]
pub fn params(session: &Session) -> Params {
    params_now(session)
}

async fn change_params(session: &mut Session, params: Params) -> Result<(), Error> {
    let Some(prelude) = session.state.fold.prelude().cloned() else {
        session.runtime.branch.first_params = Some(Box::new(params));
        return Ok(());
    };
    if prelude.params != params {
        let prelude = session.config.managed(Prelude { params, ..prelude });
        session.append(Entry::Decision(Decision::Prelude(Box::new(prelude)))).await?;
    }
    Ok(())
}

/// What was chosen in a conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chosen {
    /// The style of answers.
    pub style: Option<String>,
    pub language: Option<String>,
}

/// The name of the model that is none.
const OFFLINE: &str = "offline";

/// The `thinking` parameter for a wish, if the model takes it.
fn thinking(
    config: &Config,
    params: &Params,
    wish: ThinkingWish,
) -> Result<Option<Value>, PreferenceError> {
    let model = &params.model;
    let usual = config.models.table.spec(model).thinking;
    let always = config.models.table.always_thinks(model);
    if params.dialect != Dialect::Anthropic && wish != ThinkingWish::Usual {
        return Err(PreferenceError::NoThinkingParameter(model.clone()));
    }
    match wish {
        ThinkingWish::Usual => Ok(config.params(model, params.dialect).thinking),
        ThinkingWish::Off if always => Err(PreferenceError::AlwaysThinks(model.clone())),
        ThinkingWish::Off if usual == Thinking::Adaptive => {
            Ok(Some(json!({"type": config.models.table.thinking_off(model)})))
        }
        ThinkingWish::Off => Ok(None),
        _ if usual == Thinking::Off => Err(PreferenceError::NeverThinks(model.clone())),
        ThinkingWish::Adaptive if usual == Thinking::Adaptive => {
            Ok(Some(json!({"type": "adaptive"})))
        }
        ThinkingWish::Adaptive => Err(PreferenceError::NeedsBudget(model.clone())),
        ThinkingWish::Budget(_) if always => Err(PreferenceError::TakesNoBudget(model.clone())),
        ThinkingWish::Budget(tokens) if tokens < LEAST_BUDGET || tokens >= params.max_tokens => {
            Err(PreferenceError::Budget { most: params.max_tokens.saturating_sub(1) })
        }
        ThinkingWish::Budget(tokens) => {
            Ok(Some(json!({"type": "enabled", "budget_tokens": tokens})))
        }
    }
}
