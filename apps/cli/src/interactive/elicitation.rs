//! Asking the person what a server wants to know, field by field.

use super::lines::Lines;
use crate::presenter::{Presenter, TextStyle};
use everfold_kernel::ports::question::{Field, FieldNeed, Wants};
use everfold_kernel::ports::{ServerAnswer, ServerQuestion};
use serde_json::{Map, Value};
use std::io;

/// A line that leaves the question.
const LEAVE: &str = "/cancel";

/// Asks until there is an answer. The end of the input leaves the question.
pub(super) async fn fill(
    presenter: &Presenter,
    lines: &mut Lines,
    question: &ServerQuestion,
) -> io::Result<ServerAnswer> {
    let title = format!("The server {} asks, in its own words:\n", question.server);
    presenter.styled(TextStyle::Bold, &title)?;
    for line in question.message.lines() {
        presenter.line(&format!("  {line}"))?;
    }
    lines.settle(presenter).await?;
    let mut content = Map::new();
    match &question.wants {
        Wants::Visit(address) => {
            presenter.line(&format!("  {address}"))?;
            let hint = "Open it only if you trust it; what you do there is not seen here.\n";
            presenter.styled(TextStyle::Dim, hint)?;
        }
        Wants::Form { fields, .. } => {
            for field in fields {
                let Some(value) = one(presenter, lines, field).await? else {
                    return Ok(ServerAnswer::Cancel);
                };
                content.extend(value.map(|value| (field.name.clone(), value)));
            }
        }
    }
    lines.settle(presenter).await?;
    loop {
        match typed(presenter, lines, "send this? yes / no [y/n] ").await?.as_deref() {
            None | Some(LEAVE) => return Ok(ServerAnswer::Cancel),
            Some("y" | "yes") => return Ok(ServerAnswer::Accept(content)),
            Some("n" | "no") => return Ok(ServerAnswer::Decline),
            Some(_) => {}
        }
    }
}

/// Asks for one field until it fits; none where the question is left.
async fn one(
    presenter: &Presenter,
    lines: &mut Lines,
    field: &Field,
) -> io::Result<Option<Option<Value>>> {
    let mut about = field.kind.wanted();
    if !field.description.is_empty() {
        about = format!("{} ({about})", field.description);
    }
    let empty = match (&field.default, field.need) {
        (Some(usual), _) => format!("; if empty, {usual}"),
        (None, FieldNeed::Optional) => "; may be empty".to_owned(),
        (None, FieldNeed::Required) => String::new(),
    };
    presenter
        .styled(TextStyle::Dim, &format!("  {about}{empty}; {LEAVE} leaves the question\n"))?;
    loop {
        let Some(line) = typed(presenter, lines, &format!("{}: ", field.title)).await? else {
            return Ok(None);
        };
        if line == LEAVE {
            return Ok(None);
        }
        match field.read(&line) {
            Ok(value) => return Ok(Some(value)),
            Err(why) => presenter.note(TextStyle::Yellow, &why.to_string()),
        }
    }
}

async fn typed(
    presenter: &Presenter,
    lines: &mut Lines,
    question: &str,
) -> io::Result<Option<String>> {
    presenter.text(question)?;
    let Some(line) = lines.answer().await else {
        presenter.line("")?;
        return Ok(None);
    };
    if !lines.are_typed() {
        presenter.line(&line)?;
    }
    Ok(Some(line.trim().to_owned()))
}
