//! A summary by a weak model (Q18): one question with a form, in which no tool can
//! be called, and no draft. What the person said is not left to it: that is carried over by rule.

use crate::plan::{Guidance, Plan};
use everfold_kernel::effect::{Ask, AskShape};
use everfold_kernel::record::Keeps;
use everfold_kernel::{Effect, Limits, ModelId, QuerySource, Window};
use everfold_prefix::plain::plain_text;
use everfold_prefix::{Directive, Fold, Piece};
use serde::Deserialize;
use serde_json::{Value, json};

/// Most points of a list, and most characters of one: left without bounds, a
/// weak model fills its lists until all its tokens are used up (Q18).
const LIST_POINTS: usize = 4;
const POINT_CHARS: usize = 120;
/// How many ends of points are tried in an answer that was cut off.
const SPARE_ENDS: usize = 8;
/// Sections by the field of the form that fills them.
const SECTIONS: [(&str, &str); 5] = [
    ("goal", "What the person wants"),
    ("facts", "What has to be known"),
    ("done", "What was done"),
    ("problems", "Errors and what solved them"),
    ("open", "What is still to be done"),
];

/// Asks for the summary of what goes, behind the conversation as the server has
/// read it. None where that is more than the window holds, or where not its
/// beginning goes.
#[must_use]
pub fn ask_behind(
    fold: &Fold,
    plan: &Plan,
    guidance: Guidance<'_>,
    window: &Window,
    limits: &Limits,
) -> Option<Effect> {
    let goes = |piece: &Piece| plan.dropped.contains(&piece.record);
    let last = fold.messages().iter().rposition(|message| message.pieces().iter().any(goes))?;
    let (messages, directive) = (last + 1, told(guidance));
    let most = limits.compact.lean_summary_tokens;
    let fits = plan.keeps == Keeps::Suffix
        && fold.fits_form(messages, Directive(&directive), most, window);
    fits.then(|| ask(AskShape::Form { messages, directive, schema: schema() }, limits))
}

/// The same in a request of its own, which shows what goes as text.
#[must_use]
pub fn ask_apart(
    fold: &Fold,
    plan: &Plan,
    guidance: Guidance<'_>,
    (model, window): (&ModelId, &Window),
    limits: &Limits,
) -> Effect {
    let dropped = plan.dropped_part(fold);
    let shape = AskShape::Side {
        model: Some(model.clone()),
        system: told(guidance),
        prompt: plain_text(dropped.messages(), window, limits.bytes_per_token_text),
        schema: Some(schema()),
    };
    ask(shape, limits)
}

fn ask(shape: AskShape, limits: &Limits) -> Effect {
    let max_tokens = limits.compact.lean_summary_tokens;
    Effect::Ask(Ask { source: QuerySource::Compact, shape, max_tokens })
}

/// What the model is told to do, and what is to be kept in mind.
fn told(guidance: Guidance<'_>) -> String {
    let Guidance { standing, person } = guidance;
    let mut told = include_str!("lean.md").trim().to_owned();
    let wishes = [standing, person].into_iter().flatten().map(str::trim);
    for wish in wishes.filter(|wish| !wish.is_empty()) {
        told = format!("{told}\nKeep in mind: {wish}");
    }
    told
}

fn schema() -> Value {
    let point = json!({"type": "string", "maxLength": POINT_CHARS});
    let list = json!({"type": "array", "maxItems": LIST_POINTS, "items": point});
    json!({
        "type": "object",
        "properties": {"goal": point, "facts": list, "done": list,
            "problems": list, "open": list},
        "required": ["goal", "facts", "done", "problems", "open"],
        "additionalProperties": false,
    })
}

#[derive(Deserialize)]
struct Form {
    #[serde(default)]
    goal: String,
    #[serde(flatten)]
    lists: std::collections::BTreeMap<String, Value>,
}

/// The summary that an answer fills in; none where it is no form or empty.
#[must_use]
pub fn read(answer: &str) -> Option<String> {
    let form = form(answer.get(answer.find('{')?..)?)?;
    let section = |(field, title): &(&str, &str)| {
        let lines: Vec<String> = match form.lists.get(*field) {
            Some(Value::Array(items)) => {
                items.iter().filter_map(Value::as_str).map(|item| format!("- {item}")).collect()
            }
            _ if *field == "goal" && !form.goal.trim().is_empty() => vec![form.goal.clone()],
            _ => Vec::new(),
        };
        (!lines.is_empty()).then(|| format!("## {title}\n{}", lines.join("\n")))
    };
    let sections: Vec<String> = SECTIONS.iter().filter_map(section).collect();
    (!sections.is_empty()).then(|| sections.join("\n\n"))
}

/// The form, up to its last whole point where the answer was cut off.
fn form(text: &str) -> Option<Form> {
    let first = |text: &str| -> Option<Form> {
        serde_json::Deserializer::from_str(text).into_iter().next()?.ok()
    };
    let ends = text.rmatch_indices('"').take(SPARE_ENDS).filter_map(|(at, _)| text.get(..=at));
    first(text).or_else(|| {
        ends.flat_map(|whole| [format!("{whole}]}}"), format!("{whole}}}")])
            .find_map(|closed| first(&closed))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn q18_a_form_becomes_a_summary_and_nothing_else_does() {
        let text = read(
            r#"{"goal":"port the parser","facts":["edition 2024"],"done":[],"problems":["E0502 in src/a.rs"],"open":["tests"]}"#,
        );
        let text = text.unwrap();
        assert!(text.starts_with("## What the person wants\nport the parser"), "{text}");
        assert!(text.contains("- edition 2024") && text.contains("- E0502 in src/a.rs"));
        assert!(!text.contains("What was done"));
        let cut = read(r#"{"goal":"port it","facts":["edition 2024","tests in "a"#).unwrap();
        assert!(cut.contains("- edition 2024"), "{cut}");
        let cut =
            read(r#"{"goal":"port it","facts":["edition 2024"],"done":["the lexer","the par"#);
        assert!(cut.unwrap().ends_with("## What was done\n- the lexer"));
        for nothing in ["", "I will do that.", "{}", r#"{"goal":" ","facts":[]}"#] {
            assert_eq!(read(nothing), None, "{nothing}");
        }
    }
}
