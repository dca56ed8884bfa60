//! Forms: read from what a server sent, and filled in field by field.

use super::{Field, FieldKind, FieldNeed, FormChoice, Whole};
use crate::error::{Class, Classify};
use jiff::Timestamp;
use jiff::civil::Date;
use serde_json::{Map, Value, json};

/// Reads the fields of a form. None where it asks for what a form does not have.
#[must_use]
pub fn fields(schema: &Value) -> Option<Vec<Field>> {
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let properties = schema.get("properties")?.as_object()?;
    properties
        .iter()
        .map(|(name, own)| {
            let text = |key: &str| own.get(key).and_then(Value::as_str).map(plain);
            let need = if required.contains(&name.as_str()) {
                FieldNeed::Required
            } else {
                FieldNeed::Optional
            };
            Some(Field {
                name: name.clone(),
                title: text("title").unwrap_or_else(|| plain(name)),
                description: text("description").unwrap_or_default(),
                kind: kind(own)?,
                need,
                default: own.get("default").filter(|value| !value.is_null()).cloned(),
            })
        })
        .collect()
}

fn kind(own: &Value) -> Option<FieldKind> {
    let number = |key: &str, usual: f64| own.get(key).and_then(Value::as_f64).unwrap_or(usual);
    let size = |key: &str, usual: u64| own.get(key).and_then(Value::as_u64).unwrap_or(usual);
    let numeric = |whole| FieldKind::Number {
        least: number("minimum", f64::NEG_INFINITY),
        most: number("maximum", f64::INFINITY),
        whole,
    };
    Some(match own.get("type").and_then(Value::as_str)? {
        "string" => match choices(own) {
            Some(choices) => FieldKind::Choice(choices),
            None => FieldKind::Text {
                least: size("minLength", 0),
                most: size("maxLength", u64::MAX),
                format: own.get("format").and_then(Value::as_str).map(str::to_owned),
            },
        },
        "number" => numeric(Whole::No),
        "integer" => numeric(Whole::Yes),
        "boolean" => FieldKind::Truth,
        "array" => FieldKind::Choices(choices(own.get("items")?)?),
        _ => return None,
    })
}

/// The values of `enum`, with `enumNames`, or of `oneOf` and `anyOf`.
fn choices(own: &Value) -> Option<Vec<FormChoice>> {
    let list = |key: &str| own.get(key).and_then(Value::as_array);
    if let Some(values) = list("enum") {
        let names = list("enumNames");
        let label = |at: usize| names.and_then(|names| names.get(at)?.as_str());
        return values
            .iter()
            .enumerate()
            .map(|(at, value)| {
                let value = value.as_str()?;
                Some(FormChoice {
                    value: value.to_owned(),
                    label: plain(label(at).unwrap_or(value)),
                })
            })
            .collect();
    }
    let titled = list("oneOf").or_else(|| list("anyOf"))?;
    let one = |own: &Value| {
        let value = own.get("const")?.as_str()?;
        let label = own.get("title").and_then(Value::as_str).unwrap_or(value);
        Some(FormChoice { value: value.to_owned(), label: plain(label) })
    };
    titled.iter().map(one).collect()
}

/// A text of a stranger on one line, without control characters.
#[must_use]
pub fn plain(text: &str) -> String {
    let shown = text.chars().map(|c| if c == '\n' || c == '\t' { ' ' } else { c });
    shown.filter(|c| !c.is_control() && !is_invisible(*c)).collect()
}

/// Marks that turn the direction of writing, or are not seen at all: with
/// them a text can look like another.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

/// Why an answer does not fit its form.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FormError {
    #[error("this is required")]
    Empty,
    #[error("expected {0}")]
    Wanted(String),
    #[error("{count} characters; expected {least} to {most}")]
    Length { count: u64, least: u64, most: u64 },
    #[error("expected a list of strings")]
    NoTexts,
    #[error("it is not one of the choices")]
    NoChoice,
    #[error("unknown field {0:?}")]
    NoField(String),
    #[error("{0} is required")]
    Missing(String),
    #[error("{name}: {why}")]
    Field { name: String, why: Box<FormError> },
}

impl Classify for FormError {
    fn class(&self) -> Class {
        Class::Refuse
    }
}

impl Field {
    /// What a typed line means for the field; nothing typed is its default,
    /// or leaves it out. An error says what is wanted.
    ///
    /// # Errors
    /// If the line is nothing that the field takes.
    pub fn read(&self, line: &str) -> Result<Option<Value>, FormError> {
        let line = line.trim();
        if line.is_empty() {
            return match (&self.default, self.need) {
                (Some(value), _) => Ok(Some(value.clone())),
                (None, FieldNeed::Optional) => Ok(None),
                (None, FieldNeed::Required) => Err(FormError::Empty),
            };
        }
        self.kind.read(line).map(Some)
    }

    /// Whether a value is one that the field takes.
    ///
    /// # Errors
    /// If it is not, with what is wanted.
    pub fn check(&self, value: &Value) -> Result<(), FormError> {
        let read = match (&self.kind, value) {
            (FieldKind::Choices(_), Value::Array(items)) => {
                let words: Option<Vec<&str>> = items.iter().map(Value::as_str).collect();
                words.ok_or(FormError::NoTexts).and_then(|words| {
                    let read = self.kind.read(&words.join(","));
                    read.map(|_| ()).map_err(|_| FormError::NoChoice)
                })
            }
            (FieldKind::Text { .. } | FieldKind::Choice(_), Value::String(text)) => {
                self.kind.read(text).map(|_| ())
            }
            (FieldKind::Truth, Value::Bool(_)) => Ok(()),
            (FieldKind::Number { .. }, Value::Number(number)) => {
                self.kind.read(&number.to_string()).map(|_| ())
            }
            _ => Err(FormError::Wanted(self.kind.wanted())),
        };
        read.map_err(|why| FormError::Field { name: self.name.clone(), why: Box::new(why) })
    }
}

/// Checks an answer against its form: every field is one, and what is needed
/// is there.
///
/// # Errors
/// With what is wrong.
pub fn check(fields: &[Field], content: &Map<String, Value>) -> Result<(), FormError> {
    for (name, value) in content {
        let field = fields.iter().find(|field| field.name == *name);
        field.ok_or_else(|| FormError::NoField(name.clone()))?.check(value)?;
    }
    let missing =
        |field: &&Field| field.need == FieldNeed::Required && !content.contains_key(&field.name);
    match fields.iter().find(missing) {
        Some(field) => Err(FormError::Missing(field.name.clone())),
        None => Ok(()),
    }
}

impl FieldKind {
    /// What is wanted, in a few words.
    #[must_use]
    pub fn wanted(&self) -> String {
        match self {
            Self::Text { format: Some(format), .. } => format!("text in the form {format}"),
            Self::Text { .. } => "text".to_owned(),
            Self::Number { whole, least, most } => {
                let kind = if *whole == Whole::Yes { "a whole number" } else { "a number" };
                match (least.is_finite(), most.is_finite()) {
                    (true, true) => format!("{kind} from {least} to {most}"),
                    (true, false) => format!("{kind}, at least {least}"),
                    (false, true) => format!("{kind}, at most {most}"),
                    (false, false) => kind.to_owned(),
                }
            }
            Self::Truth => "yes or no".to_owned(),
            Self::Choice(choices) => format!("one of {}", named(choices)),
            Self::Choices(choices) => format!("any of {}, separated by commas", named(choices)),
        }
    }

    fn read(&self, line: &str) -> Result<Value, FormError> {
        let wanted = || FormError::Wanted(self.wanted());
        match self {
            Self::Text { least, most, format } => {
                let count = line.chars().count() as u64;
                if count < *least || count > *most {
                    return Err(FormError::Length { count, least: *least, most: *most });
                }
                let fits = format.as_deref().is_none_or(|format| has_form(line, format));
                if fits { Ok(line.into()) } else { Err(wanted()) }
            }
            Self::Number { least, most, whole } => {
                let number: f64 = line.parse().map_err(|_| wanted())?;
                if !number.is_finite() || number < *least || number > *most {
                    return Err(wanted());
                }
                match whole {
                    Whole::Yes => line.parse::<i64>().map(Value::from).map_err(|_| wanted()),
                    Whole::No => Ok(json!(number)),
                }
            }
            Self::Truth => match line.to_lowercase().as_str() {
                "y" | "yes" | "true" => Ok(true.into()),
                "n" | "no" | "false" => Ok(false.into()),
                _ => Err(wanted()),
            },
            Self::Choice(choices) => chosen(choices, line).map(Value::from).ok_or_else(wanted),
            Self::Choices(choices) => {
                let words = line.split(',').map(str::trim).filter(|word| !word.is_empty());
                let found: Option<Vec<Value>> =
                    words.map(|word| chosen(choices, word).map(Value::from)).collect();
                found.map(Value::from).ok_or_else(wanted)
            }
        }
    }
}

fn named(choices: &[FormChoice]) -> String {
    let labels: Vec<&str> = choices.iter().map(|choice| choice.label.as_str()).collect();
    labels.join(", ")
}

/// The value that a word means: the value itself, its label, or its number.
fn chosen(choices: &[FormChoice], word: &str) -> Option<String> {
    let same =
        |choice: &&FormChoice| choice.value == word || choice.label.eq_ignore_ascii_case(word);
    let by_number = || choices.get(word.parse::<usize>().ok()?.checked_sub(1)?);
    choices.iter().find(same).or_else(by_number).map(|choice| choice.value.clone())
}

fn has_form(text: &str, format: &str) -> bool {
    let solid = !text.contains(char::is_whitespace);
    match format {
        "email" => {
            solid
                && text.split_once('@').is_some_and(|(name, host)| {
                    !name.is_empty() && !host.is_empty() && !host.contains('@')
                })
        }
        "uri" => {
            solid
                && text.split_once(':').is_some_and(|(scheme, rest)| {
                    !rest.is_empty()
                        && scheme.starts_with(|c: char| c.is_ascii_alphabetic())
                        && scheme
                            .chars()
                            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
                })
        }
        "date" => text.len() == 10 && text.parse::<Date>().is_ok(),
        "date-time" => text.parse::<Timestamp>().is_ok(),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form() -> Vec<Field> {
        let schema = json!({"type": "object", "required": ["name", "color"], "properties": {
            "name": {"type": "string", "title": "Na\u{1b}[31mme\u{202e}", "minLength": 2, "maxLength": 5},
            "mail": {"type": "string", "format": "email"},
            "site": {"type": "string", "format": "uri"},
            "day": {"type": "string", "format": "date"},
            "at": {"type": "string", "format": "date-time"},
            "count": {"type": "integer", "minimum": 1, "maximum": 9, "default": 3},
            "share": {"type": "number"},
            "sure": {"type": "boolean"},
            "color": {"type": "string", "enum": ["r", "g"], "enumNames": ["Red", "Green"]},
            "size": {"type": "string", "oneOf": [{"const": "s", "title": "Small"}]},
            "tags": {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}},
        }});
        fields(&schema).unwrap()
    }

    fn field(name: &str) -> Field {
        form().into_iter().find(|field| field.name == name).unwrap()
    }

    #[test]
    fn q7_what_is_typed_into_a_form_is_checked_field_by_field() {
        let good = [
            ("name", "Ada", json!("Ada")),
            ("mail", "a@b.c", json!("a@b.c")),
            ("site", "https://x", json!("https://x")),
            ("day", "2026-11-15", json!("2026-11-15")),
            ("at", "2026-11-15T10:00:00Z", json!("2026-11-15T10:00:00Z")),
            ("count", "9", json!(9)),
            ("count", "", json!(3)),
            ("share", "0.5", json!(0.5)),
            ("sure", "Yes", json!(true)),
            ("color", "green", json!("g")),
            ("color", "1", json!("r")),
            ("size", "small", json!("s")),
            ("tags", "b, a", json!(["b", "a"])),
        ];
        for (name, line, value) in good {
            let field = field(name);
            assert_eq!(field.read(line), Ok(Some(value.clone())), "{name}");
            assert_eq!(field.check(&value), Ok(()), "{name}");
        }
        for (name, line) in [
            ("name", ""),
            ("name", "A"),
            ("name", "Adalbert"),
            ("mail", "a b@c"),
            ("mail", "@b"),
            ("site", "no scheme"),
            ("day", "15.11.2026"),
            ("at", "soon"),
            ("count", "0"),
            ("count", "1.5"),
            ("count", "ten"),
            ("share", "NaN"),
            ("sure", "perhaps"),
            ("color", "blue"),
            ("color", "3"),
            ("tags", "a, c"),
        ] {
            assert!(field(name).read(line).is_err(), "{name}: {line:?}");
        }
        assert_eq!(field("mail").read(" "), Ok(None), "it may be left out");
    }

    #[test]
    fn q7_an_answer_that_does_not_fit_its_form_is_named() {
        let check = |content: Value| check(&form(), content.as_object().unwrap());
        assert_eq!(check(json!({"name": "Ada", "color": "r", "sure": false})), Ok(()));
        for (content, why) in [
            (json!({"name": "Ada"}), "color is required"),
            (json!({"name": "Ada", "color": "r", "more": 1}), "unknown field \"more\""),
            (json!({"name": 7, "color": "r"}), "name: expected text"),
            (json!({"name": "Ada", "color": "r", "count": "3"}), "count: expected a whole number"),
            (json!({"name": "Ada", "color": "r", "tags": [1]}), "tags: expected a list of strings"),
        ] {
            let said = check(content).unwrap_err();
            assert!(said.to_string().contains(why), "{said}");
        }
    }

    #[test]
    fn s4_titles_of_strangers_have_no_control_characters_and_odd_forms_are_none() {
        assert_eq!(field("name").title, "Na[31mme");
        assert_eq!(plain("a\nb\u{7}c\u{200b}"), "a bc");
        for odd in [
            json!({}),
            json!({"properties": {"a": {"type": "object"}}}),
            json!({"properties": {"a": {"type": "array", "items": {"type": "object"}}}}),
            json!(3),
        ] {
            assert_eq!(fields(&odd), None, "{odd}");
        }
        assert_eq!(fields(&json!({"properties": {}})), Some(vec![]));
    }
}
