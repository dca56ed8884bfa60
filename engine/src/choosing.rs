//! What a person chooses for the rest of a conversation (Q14): how much the
//! model thinks, the effort, the style and the language of its answers.
//!
//! Thinking and effort are parameters of requests: changing them is a declared
//! break of the messages' cache. Style and language are told by a reminder, so
//! that nothing breaks; after a compaction they are told again. All of it is in
//! the log, and so outlasts a resume.

use crate::config::Config;
use crate::session::{Error, Session};
use everfold_kernel::models::Thinking;
use everfold_kernel::record::{Dialect, reminder};
use everfold_kernel::{Attachment, Decision, Entry, ModelId, Params, Prelude};
use serde_json::{Value, json};
use std::sync::Arc;

/// The kind of the reminder that tells of a style.
pub const OUTPUT_STYLE: &str = "output_style";
/// The kind of the reminder that tells of a language.
pub const LANGUAGE: &str = "language";
/// What effort can be asked for.
pub const EFFORTS: &[&str] = &["low", "medium", "high", "xhigh", "max"];

/// How much a model is to think.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThinkingWish {
    /// As is usual for the model.
    Usual,
    /// Not at all.
    Off,
    /// As it decides.
    Adaptive,
    /// At most so many tokens.
    Budget(u64),
}

/// The least budget that the API takes.
const LEAST_BUDGET: u64 = 1_024;

impl Session {
    /// Changes how much the model thinks. The inner result says why it cannot
    /// be, in words for a person.
    ///
    /// # Errors
    /// If the log cannot be written.
    pub async fn set_thinking(&mut self, wish: ThinkingWish) -> Result<Result<(), String>, Error> {
        let params = self.params_now();
        let thinking = match thinking(&self.config, &params, wish) {
            Ok(thinking) => thinking,
            Err(why) => return Ok(Err(why)),
        };
        self.change_params(Params { thinking, ..params }).await?;
        Ok(Ok(()))
    }

    /// Changes the effort; none is the model's own.
    ///
    /// # Errors
    /// If the log cannot be written.
    pub async fn set_effort(&mut self, effort: Option<&str>) -> Result<Result<(), String>, Error> {
        if let Some(name) = effort.filter(|name| !EFFORTS.contains(name)) {
            return Ok(Err(format!(
                "there is no effort {name:?}; there are {}",
                EFFORTS.join(", ")
            )));
        }
        if self.params_now().model.as_str() == OFFLINE {
            return Ok(Err("without a model there is no effort to ask for".to_owned()));
        }
        let mut config = Config::clone(&self.config);
        config.effort = effort.map(str::to_owned);
        self.config = Arc::new(config);
        let params = Params { effort: effort.map(str::to_owned), ..self.params_now() };
        self.change_params(params).await?;
        Ok(Ok(()))
    }

    /// Changes how answers are written; none is as they are by themselves.
    ///
    /// # Errors
    /// If the log cannot be written.
    pub async fn set_output_style(&mut self, name: &str, text: Option<&str>) -> Result<(), Error> {
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
        self.choose(OUTPUT_STYLE, &told, data).await
    }

    /// Changes the language of answers; none is that of the question.
    ///
    /// # Errors
    /// If the log cannot be written.
    pub async fn set_language(&mut self, language: Option<&str>) -> Result<(), Error> {
        let told = match language {
            Some(name) => {
                format!("From here on, answer in {name}, whatever language you are asked in.")
            }
            None => "From here on, answer in the language that you are asked in.".to_owned(),
        };
        self.choose(LANGUAGE, &told, json!({"language": language})).await
    }

    /// The style and the language that were chosen in this conversation.
    #[must_use]
    pub fn chosen(&self) -> Chosen {
        let field = |kind: &str, key: &str| {
            let data = self.choices.iter().find(|choice| choice.kind == kind)?.data.get(key)?;
            data.as_str().map(str::to_owned)
        };
        Chosen { style: field(OUTPUT_STYLE, "style"), language: field(LANGUAGE, "language") }
    }

    async fn choose(&mut self, kind: &str, text: &str, data: Value) -> Result<(), Error> {
        let attachment =
            Attachment { kind: kind.to_owned(), rendered: reminder(text), data, provenance: None };
        if self.fold.prelude().is_none() {
            // The log begins with the first turn.
            self.keep_choice(&attachment);
            return Ok(());
        }
        self.append(Entry::Attachment(attachment)).await?;
        Ok(())
    }

    /// Remembers a choice that is in the log.
    pub(crate) fn keep_choice(&mut self, attachment: &Attachment) {
        if [OUTPUT_STYLE, LANGUAGE].contains(&attachment.kind.as_str()) {
            self.choices.retain(|choice| choice.kind != attachment.kind);
            self.choices.push(attachment.clone());
        }
    }

    /// Tells what was chosen, at the start and after a compaction.
    pub(crate) async fn attach_choices(&mut self) -> Result<(), Error> {
        for choice in self.choices.clone() {
            self.append(Entry::Attachment(choice)).await?;
        }
        Ok(())
    }

    /// The parameters of the next request.
    #[must_use]
    pub fn params(&self) -> Params {
        self.params_now()
    }

    fn params_now(&self) -> Params {
        match self.fold.prelude() {
            Some(prelude) => prelude.params.clone(),
            None => self.params_for(&self.config.model),
        }
    }

    /// The parameters for a model. What a person chose for the one that
    /// answers now stays chosen.
    pub(crate) fn params_for(&self, model: &ModelId) -> Params {
        let params = self.config.params(model, self.world.model.dialect());
        let now =
            self.fold.prelude().map(|prelude| &prelude.params).or(self.first_params.as_deref());
        match now {
            Some(now) if now.model == *model && now.dialect == params.dialect => {
                Params { thinking: now.thinking.clone(), effort: now.effort.clone(), ..params }
            }
            Some(now) => Params { effort: now.effort.clone(), ..params },
            None => params,
        }
    }

    async fn change_params(&mut self, params: Params) -> Result<(), Error> {
        let Some(prelude) = self.fold.prelude().cloned() else {
            self.first_params = Some(Box::new(params));
            return Ok(());
        };
        if prelude.params != params {
            let prelude = self.config.managed(Prelude { params, ..prelude });
            self.append(Entry::Decision(Decision::Prelude(Box::new(prelude)))).await?;
        }
        Ok(())
    }
}

/// What was chosen in a conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chosen {
    /// The style of answers.
    pub style: Option<String>,
    /// Their language.
    pub language: Option<String>,
}

/// The name of the model that is none.
const OFFLINE: &str = "offline";

/// The `thinking` parameter for a wish, if the model takes it.
fn thinking(config: &Config, params: &Params, wish: ThinkingWish) -> Result<Option<Value>, String> {
    let model = &params.model;
    let usual = config.table.spec(model).thinking;
    let always = config.table.always_thinks(model);
    if params.dialect != Dialect::Anthropic && wish != ThinkingWish::Usual {
        return Err(format!(
            "{model} is asked in a form that says nothing of thinking; try /effort"
        ));
    }
    match wish {
        ThinkingWish::Usual => Ok(config.params(model, params.dialect).thinking),
        ThinkingWish::Off if always => Err(format!("{model} always thinks")),
        ThinkingWish::Off if usual == Thinking::Adaptive => {
            Ok(Some(json!({"type": config.table.thinking_off(model)})))
        }
        ThinkingWish::Off => Ok(None),
        _ if usual == Thinking::Off => Err(format!("{model} does not think")),
        ThinkingWish::Adaptive if usual == Thinking::Adaptive => {
            Ok(Some(json!({"type": "adaptive"})))
        }
        ThinkingWish::Adaptive => {
            Err(format!("{model} thinks on a budget; give a number of tokens"))
        }
        ThinkingWish::Budget(_) if always => {
            Err(format!("{model} decides by itself how much it thinks"))
        }
        ThinkingWish::Budget(tokens) if tokens < LEAST_BUDGET || tokens >= params.max_tokens => {
            let most = params.max_tokens.saturating_sub(1);
            Err(format!("a budget is between {LEAST_BUDGET} and {most} tokens"))
        }
        ThinkingWish::Budget(tokens) => {
            Ok(Some(json!({"type": "enabled", "budget_tokens": tokens})))
        }
    }
}
