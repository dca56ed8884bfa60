//! The fields of a call's arguments, one by one, as serde asks for them.

use super::InputError;
use serde::de::value::StrDeserializer;
use serde::de::{DeserializeSeed, Deserializer, IntoDeserializer, MapAccess, SeqAccess, Visitor};
use serde::forward_to_deserialize_any;
use serde_json::{Map, Value};

/// The name of the newtype for texts that must say something.
const FILLED: &str = "Filled";

/// All fields of an object. Every field that the struct has is visited, so
/// that one that is missing is reported by what it should be.
pub(super) struct Fields<'de> {
    whose: String,
    given: Held<'de>,
}

/// A value of the call, or of a text in it that holds JSON.
#[derive(Clone)]
enum Held<'de> {
    Call(&'de Value),
    Fields(&'de Map<String, Value>),
    Text(Value),
}

impl<'de> Held<'de> {
    fn value(&self) -> Option<&Value> {
        match self {
            Self::Call(value) => Some(value),
            Self::Text(value) => Some(value),
            Self::Fields(_) => None,
        }
    }

    /// What is there under a name; `null` counts as left out.
    fn field(&self, name: &str) -> Option<Held<'de>> {
        let found = match self {
            Self::Call(value) => Held::Call(value.get(name)?),
            Self::Fields(fields) => Held::Call(fields.get(name)?),
            Self::Text(value) => Held::Text(value.get(name)?.clone()),
        };
        found.value().is_some_and(|value| !value.is_null()).then_some(found)
    }

    fn items(&self) -> Option<Vec<Held<'de>>> {
        match self {
            Self::Call(value) => Some(value.as_array()?.iter().map(Held::Call).collect()),
            Self::Text(value) => Some(value.as_array()?.iter().cloned().map(Held::Text).collect()),
            Self::Fields(_) => None,
        }
    }
}

impl<'de> Fields<'de> {
    pub(super) fn of(tool: &str, fields: &'de Map<String, Value>) -> Self {
        Self { whose: tool.to_owned(), given: Held::Fields(fields) }
    }
}

impl<'de> Deserializer<'de> for Fields<'de> {
    type Error = InputError;

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        names: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, InputError> {
        visitor.visit_map(Walk { fields: self, names: names.iter(), name: "" })
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, InputError> {
        self.deserialize_struct("", &[], visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option
        unit unit_struct newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

/// The way through the fields of a struct, in its order.
struct Walk<'de> {
    fields: Fields<'de>,
    names: std::slice::Iter<'static, &'static str>,
    name: &'static str,
}

impl<'de> MapAccess<'de> for Walk<'de> {
    type Error = InputError;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, InputError> {
        let Some(name) = self.names.next() else { return Ok(None) };
        self.name = name;
        let name: StrDeserializer<'_, InputError> = self.name.into_deserializer();
        seed.deserialize(name).map(Some)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<S::Value, InputError> {
        seed.deserialize(Field {
            whose: self.fields.whose.clone(),
            name: self.name.to_owned(),
            given: self.fields.given.field(self.name),
            filled: false,
        })
    }
}

/// One field, there or not.
struct Field<'de> {
    whose: String,
    name: String,
    given: Option<Held<'de>>,
    filled: bool,
}

impl<'de> Field<'de> {
    fn value(&self) -> Option<&Value> {
        self.given.as_ref().and_then(Held::value)
    }

    /// An error that says what the field must be, and what it was.
    fn needs(&self, what: &str) -> InputError {
        InputError::needs(&self.whose, &self.name, what, self.value())
    }

    /// The field as a list; some models send one as a text of JSON.
    fn list(&self) -> Option<Vec<Held<'de>>> {
        let given = self.given.as_ref()?;
        match given.value().and_then(Value::as_str) {
            Some(text) => Held::Text(serde_json::from_str(text).ok()?).items(),
            None => given.items(),
        }
    }
}

impl<'de> Deserializer<'de> for Field<'de> {
    type Error = InputError;

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, InputError> {
        let text = self.value().and_then(Value::as_str);
        if self.filled && text.is_some_and(|text| text.trim().is_empty()) {
            return Err(InputError::empty(&self.whose, &self.name));
        }
        match &self.given {
            Some(Held::Call(Value::String(text))) => visitor.visit_borrowed_str(text),
            Some(Held::Text(Value::String(text))) => visitor.visit_str(text),
            _ => Err(self.needs("a string")),
        }
    }

    fn deserialize_u64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, InputError> {
        let number = match self.value() {
            Some(Value::Number(number)) => match number.as_u64() {
                None => number.as_f64().and_then(|number| whole(&number.to_string())),
                number => number,
            },
            Some(Value::String(text)) => whole(text.trim()),
            _ => None,
        };
        match number {
            Some(number) => visitor.visit_u64(number),
            None => Err(self.needs("a whole number from 0 on")),
        }
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, InputError> {
        match self.value() {
            Some(Value::Bool(yes)) => visitor.visit_bool(*yes),
            Some(Value::String(text)) if text.eq_ignore_ascii_case("true") => {
                visitor.visit_bool(true)
            }
            Some(Value::String(text)) if text.eq_ignore_ascii_case("false") => {
                visitor.visit_bool(false)
            }
            _ => Err(self.needs("true or false")),
        }
    }

    /// What may be left out is left out by an empty text too.
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, InputError> {
        match self.value() {
            None => visitor.visit_none(),
            Some(Value::String(text)) if text.is_empty() => visitor.visit_none(),
            Some(_) => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        mut self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, InputError> {
        self.filled |= name == FILLED;
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        words: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, InputError> {
        let given = self.value().and_then(Value::as_str).map(str::trim);
        match words.iter().find(|word| given == Some(**word)) {
            Some(word) => {
                let word: StrDeserializer<'_, InputError> = (*word).into_deserializer();
                visitor.visit_enum(word)
            }
            None => Err(self.needs(&either(words))),
        }
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, InputError> {
        let items = self.list().ok_or_else(|| self.needs("a list of objects"))?;
        visitor.visit_seq(Items { name: self.name, items: items.into_iter().enumerate() })
    }

    /// An object in a list: its fields are named after its place there.
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        names: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, InputError> {
        match self.given {
            Some(given) if given.value().is_some_and(Value::is_object) => {
                Fields { whose: self.name, given }.deserialize_struct(name, names, visitor)
            }
            _ => Err(self.needs("an object")),
        }
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, InputError> {
        let value = self.value().ok_or_else(|| self.needs("a value"))?.clone();
        value.deserialize_any(visitor).map_err(serde::de::Error::custom)
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, InputError> {
        self.deserialize_str(visitor)
    }

    forward_to_deserialize_any! {
        i8 i16 i32 i64 i128 u8 u16 u32 u128 f32 f64 char bytes byte_buf unit unit_struct tuple
        tuple_struct map identifier ignored_any
    }
}

/// The items of a list, each named by its place.
struct Items<'de> {
    name: String,
    items: std::iter::Enumerate<std::vec::IntoIter<Held<'de>>>,
}

impl<'de> SeqAccess<'de> for Items<'de> {
    type Error = InputError;

    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, InputError> {
        let Some((at, given)) = self.items.next() else { return Ok(None) };
        let name = format!("{}[{at}]", self.name);
        let field = Field { whose: self.name.clone(), name, given: Some(given), filled: false };
        seed.deserialize(field).map(Some)
    }
}

/// Words as one offers them: `a, b or c`.
fn either(words: &[&str]) -> String {
    match words {
        [first @ .., last] if !first.is_empty() => format!("{} or {last}", first.join(", ")),
        other => other.concat(),
    }
}

/// A whole number, also where it is written with a fraction of zero.
fn whole(text: &str) -> Option<u64> {
    let digits = match text.split_once('.') {
        Some((digits, zeros)) if zeros.chars().all(|c| c == '0') => digits,
        Some(_) => return None,
        None => text,
    };
    digits.parse().ok()
}
