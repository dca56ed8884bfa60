//! `/thinking`, `/effort`, `/output-style`, `/language` (Q14).

use super::messages::tell;
use super::{Desk, Flow};
use anyhow::Result;
use everfold::engine::setups::preferences::{EFFORTS, ThinkingWish};
use everfold::kernel::Params;

pub(super) async fn thinking(desk: &mut Desk, text: &str) -> Result<Flow> {
    let wish = match text {
        "" => return tell(desk, Ok(format!("thinking: {}", thinks(&params(desk))))),
        "default" => ThinkingWish::Usual,
        "off" => ThinkingWish::Off,
        "on" | "adaptive" => ThinkingWish::Adaptive,
        number => {
            let Ok(tokens) = number.replace(['_', ','], "").parse() else {
                let usage = "write /thinking default, off, adaptive or a number of tokens";
                return tell(desk, Err(usage.to_owned()));
            };
            ThinkingWish::Budget(tokens)
        }
    };
    let done = everfold::engine::setups::preferences::set_thinking(&mut desk.session, wish).await?;
    let told = done.map(|()| format!("thinking: {}", thinks(&params(desk))));
    tell(desk, told)
}

fn params(desk: &Desk) -> Params {
    everfold::engine::setups::preferences::params(&desk.session)
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

pub(super) async fn effort(desk: &mut Desk, text: &str) -> Result<Flow> {
    let said = |params: Params| {
        format!("effort: {}", params.effort.unwrap_or_else(|| "the model's own".to_owned()))
    };
    if text.is_empty() {
        let now = said(params(desk));
        return tell(desk, Ok(format!("{now}; there are default, {}", EFFORTS.join(", "))));
    }
    let done = everfold::engine::setups::preferences::set_effort(
        &mut desk.session,
        Some(text).filter(|text| *text != "default"),
    )
    .await?;
    let told = done.map(|()| said(params(desk)));
    tell(desk, told)
}

pub(super) async fn output_style(desk: &mut Desk, text: &str) -> Result<Flow> {
    let styles = desk.agent.output_styles();
    if text.is_empty() {
        let chosen = everfold::engine::setups::preferences::chosen(&desk.session).style;
        let rows: Vec<Vec<String>> = styles
            .iter()
            .map(|style| {
                let mark = if chosen.as_ref() == Some(&style.name) { "*" } else { "" };
                let from = style.path.as_ref().map(|path| path.display().to_string());
                let from = from.unwrap_or_default();
                vec![mark.to_owned(), style.name.clone(), style.description.clone(), from]
            })
            .collect();
        desk.presenter.table(&rows)?;
        return Ok(Flow::GoOn);
    }
    let Some(style) = styles.iter().find(|style| style.name.eq_ignore_ascii_case(text)) else {
        let known: Vec<&str> = styles.iter().map(|style| style.name.as_str()).collect();
        let why = format!("there is no style {text:?}; there are {}", known.join(", "));
        return tell(desk, Err(why));
    };
    everfold::engine::setups::preferences::set_output_style(
        &mut desk.session,
        &style.name,
        style.text.as_deref(),
    )
    .await?;
    tell(desk, Ok(format!("answers are written in the style {}", style.name)))
}

pub(super) async fn language(desk: &mut Desk, text: &str) -> Result<Flow> {
    if text.is_empty() {
        let chosen = everfold::engine::setups::preferences::chosen(&desk.session).language;
        let set = desk.session.config().surroundings.language.clone();
        let now = chosen.or(set).unwrap_or_else(|| "that of the question".to_owned());
        return tell(desk, Ok(format!("language: {now}")));
    }
    let wanted = Some(text).filter(|text| *text != "default");
    everfold::engine::setups::preferences::set_language(&mut desk.session, wanted).await?;
    tell(desk, Ok(format!("language: {}", wanted.unwrap_or("that of the question"))))
}
