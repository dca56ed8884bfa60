//! Notes by a weak model (Q18): one question with a form that has the sections
//! of the notes, no tools. A section that it leaves empty stays as it is.

use crate::notes::Notes;
use serde_json::{Map, Value, json};

/// Most points of a section, and most characters of one: left without bounds, a
/// weak model fills its lists until all its tokens are used up.
const SECTION_POINTS: usize = 3;
const POINT_CHARS: usize = 120;

/// What the model is told about the task.
#[must_use]
pub fn system_prompt() -> &'static str {
    include_str!("lean.md").trim_end()
}

/// The same behind the conversation, as the server has read it.
#[must_use]
pub fn directive(notes: &Notes<'_>) -> String {
    format!("{}\n\nThe notes so far:\n\n{}", system_prompt(), notes.render())
}

/// The form of its answer.
#[must_use]
pub fn answer_schema(notes: &Notes<'_>) -> Value {
    let point = json!({"type": "string", "maxLength": POINT_CHARS});
    let list = json!({"type": "array", "maxItems": SECTION_POINTS, "items": point});
    let names: Vec<&str> = notes.section_names().collect();
    let lists: Map<String, Value> =
        names.iter().map(|name| ((*name).to_owned(), list.clone())).collect();
    json!({
        "type": "object",
        "properties": lists,
        "required": names,
        "additionalProperties": false,
    })
}

/// What is asked: the notes so far, and the conversation as text.
#[must_use]
pub fn question(notes: &Notes<'_>, conversation: &str) -> String {
    format!("The notes so far:\n\n{}\nThe conversation:\n\n{conversation}", notes.render())
}

/// The notes with what an answer fills in; none where it is no form or empty.
#[must_use]
pub fn read<'t>(answer: &str, notes: &Notes<'t>) -> Option<Notes<'t>> {
    let form = answer.get(answer.find('{')?..)?;
    let form = serde_json::Deserializer::from_str(form).into_iter::<Value>().next()?.ok()?;
    let mut filled = notes.clone();
    for name in notes.section_names() {
        let points = form.get(name).and_then(Value::as_array).into_iter().flatten();
        let points = points.filter_map(Value::as_str).map(str::trim);
        let lines: Vec<String> =
            points.filter(|point| !point.is_empty()).map(|point| format!("- {point}")).collect();
        if !lines.is_empty() {
            filled.set(name, &lines.join("\n"));
        }
    }
    (filled != *notes).then_some(filled)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::template::Template;

    #[test]
    fn q18_a_form_fills_sections_and_leaves_the_others() {
        let template = Template::parse("# State\n_Now._\n\n# Errors\n_What failed._\n").unwrap();
        let notes =
            Notes::adopt("# State\n_Now._\n\nold\n\n# Errors\n_What failed._\n\nE1\n", &template);
        let schema = answer_schema(&notes);
        assert_eq!(schema["required"], json!(["State", "Errors"]));
        let filled = read(r#"Well: {"State": ["port the parser", " "], "Errors": []}"#, &notes);
        assert_eq!(
            filled.unwrap().render(),
            "# State\n_Now._\n\n- port the parser\n\n# Errors\n_What failed._\n\nE1\n"
        );
        for nothing in
            ["", "fine.", "{}", r#"{"State": [], "Errors": [""]}"#, r#"{"Other": ["x"]}"#]
        {
            assert_eq!(read(nothing, &notes), None, "{nothing}");
        }
        assert!(question(&notes, "person: go on").ends_with("person: go on"));
    }
}
