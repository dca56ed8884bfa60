//! `/thinking`, `/effort`, `/output-style`, `/language` (Q14).

use super::messages::tell;
use super::{CommandContext, Flow};
use anyhow::{Result, anyhow};
use everfold_agent::engine::setups::preferences;
use everfold_agent::engine::setups::preferences::{EFFORTS, ThinkingWish};
use everfold_kernel::Params;

pub(super) async fn thinking(cx: &mut CommandContext, text: &str) -> Result<Flow> {
    let wish = match text {
        "" => return tell(cx, Ok(format!("thinking: {}", thinks(&params(cx))))),
        "default" => ThinkingWish::Usual,
        "off" => ThinkingWish::Off,
        "on" | "adaptive" => ThinkingWish::Adaptive,
        number => {
            let Ok(tokens) = number.replace(['_', ','], "").parse() else {
                let usage = "usage: /thinking default | off | adaptive | TOKENS";
                return tell(cx, Err(anyhow!(usage.to_owned())));
            };
            ThinkingWish::Budget(tokens)
        }
    };
    let done = preferences::set_thinking(&mut cx.session, wish).await;
    let told = done.map(|()| format!("thinking: {}", thinks(&params(cx))));
    tell(cx, told.map_err(anyhow::Error::from))
}

fn params(cx: &CommandContext) -> Params {
    preferences::params(&cx.session)
}

fn thinks(params: &Params) -> String {
    let Some(thinking) = &params.thinking else { return "off".to_owned() };
    match thinking["budget_tokens"].as_u64() {
        Some(tokens) => format!("up to {tokens} tokens"),
        None => match thinking["type"].as_str() {
            Some("disabled") => "off".to_owned(),
            Some("between_tools") => "only between tool calls".to_owned(),
            kind => kind.unwrap_or("on").to_owned(),
        },
    }
}

pub(super) async fn effort(cx: &mut CommandContext, text: &str) -> Result<Flow> {
    let said = |params: Params| {
        format!("effort: {}", params.effort.unwrap_or_else(|| "the model's own".to_owned()))
    };
    if text.is_empty() {
        let now = said(params(cx));
        return tell(cx, Ok(format!("{now}; choices: default, {}", EFFORTS.join(", "))));
    }
    let done =
        preferences::set_effort(&mut cx.session, Some(text).filter(|text| *text != "default"))
            .await;
    let told = done.map(|()| said(params(cx)));
    tell(cx, told.map_err(anyhow::Error::from))
}

pub(super) async fn output_style(cx: &mut CommandContext, text: &str) -> Result<Flow> {
    let styles = cx.agent.output_styles();
    if text.is_empty() {
        let chosen = preferences::chosen(&cx.session).style;
        let rows: Vec<Vec<String>> = styles
            .iter()
            .map(|style| {
                let mark = if chosen.as_ref() == Some(&style.name) { "*" } else { "" };
                let from = style.path.as_ref().map(|path| path.display().to_string());
                let from = from.unwrap_or_default();
                vec![mark.to_owned(), style.name.clone(), style.description.clone(), from]
            })
            .collect();
        cx.presenter.table(&rows)?;
        return Ok(Flow::GoOn);
    }
    let Some(style) = styles.iter().find(|style| style.name.eq_ignore_ascii_case(text)) else {
        let known: Vec<&str> = styles.iter().map(|style| style.name.as_str()).collect();
        let why = format!("unknown style {text:?}; choices: {}", known.join(", "));
        return tell(cx, Err(anyhow!(why)));
    };
    preferences::set_output_style(&mut cx.session, &style.name, style.text.as_deref()).await?;
    tell(cx, Ok(format!("answers now use the style {}", style.name)))
}

pub(super) async fn language(cx: &mut CommandContext, text: &str) -> Result<Flow> {
    if text.is_empty() {
        let chosen = preferences::chosen(&cx.session).language;
        let set = cx.session.config().surroundings.language.clone();
        let now = chosen.or(set).unwrap_or_else(|| "same as the question".to_owned());
        return tell(cx, Ok(format!("language: {now}")));
    }
    let wanted = Some(text).filter(|text| *text != "default");
    preferences::set_language(&mut cx.session, wanted).await?;
    tell(cx, Ok(format!("language: {}", wanted.unwrap_or("same as the question"))))
}
