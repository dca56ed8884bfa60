//! JSON as people keep it in settings: with comments, commas at the end and an
//! order of their own. Read into places in the text, so that it can be changed
//! there and nowhere else.

use std::ops::Range;

/// How deep values may be in each other.
const MAX_DEPTH: usize = 128;

/// A value and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    pub span: Range<usize>,
    pub kind: JsonKind,
}

/// What a value is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JsonKind {
    /// Members, in their order.
    Object(Vec<Member>),
    Array(Vec<Node>),
    /// Text, a number, a word.
    Scalar,
}

/// One member of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    pub key: String,
    /// From the key to the end of the value.
    pub span: Range<usize>,
    pub value: Node,
}

/// Why a text is not JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsoncFault {
    /// The byte where it stops being JSON.
    pub at: usize,
    /// What should be there.
    pub wanted: &'static str,
}

impl Node {
    /// Reads a text. A text of blanks and comments is none.
    ///
    /// # Errors
    /// If it is not JSON.
    pub fn parse(text: &str) -> Result<Option<Self>, JsoncFault> {
        let mut reader = Reader { text, at: 0 };
        reader.skip()?;
        if reader.at == text.len() {
            return Ok(None);
        }
        let node = reader.value(0)?;
        reader.skip()?;
        if reader.at < text.len() { Err(reader.broken("the end")) } else { Ok(Some(node)) }
    }

    /// The member of a key (the last one counts), or the element of a number.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Self> {
        match &self.kind {
            JsonKind::Object(members) => {
                let member = members.iter().rev().find(|member| member.key == key);
                member.map(|member| &member.value)
            }
            JsonKind::Array(elements) => elements.get(key.parse::<usize>().ok()?),
            JsonKind::Scalar => None,
        }
    }

    /// The value at the end of a path of keys.
    #[must_use]
    pub fn at(&self, path: &[&str]) -> Option<&Self> {
        path.iter().try_fold(self, |node, key| node.get(key))
    }

    /// The members of an object.
    #[must_use]
    pub fn members(&self) -> &[Member] {
        match &self.kind {
            JsonKind::Object(members) => members,
            _ => &[],
        }
    }

    /// The elements of a list.
    #[must_use]
    pub fn elements(&self) -> &[Self] {
        match &self.kind {
            JsonKind::Array(elements) => elements,
            _ => &[],
        }
    }

    /// The value itself, where it is plain JSON.
    #[must_use]
    pub fn value(&self, text: &str) -> Option<serde_json::Value> {
        Some(match &self.kind {
            JsonKind::Object(members) => {
                let member =
                    |member: &Member| Some((member.key.clone(), member.value.value(text)?));
                serde_json::Value::Object(members.iter().map(member).collect::<Option<_>>()?)
            }
            JsonKind::Array(elements) => {
                let elements = elements.iter().map(|element| element.value(text));
                serde_json::Value::Array(elements.collect::<Option<_>>()?)
            }
            JsonKind::Scalar => serde_json::from_str(text.get(self.span.clone())?).ok()?,
        })
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl Reader<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn broken(&self, wanted: &'static str) -> JsoncFault {
        JsoncFault { at: self.at, wanted }
    }

    /// Passes over blanks and comments.
    fn skip(&mut self) -> Result<(), JsoncFault> {
        loop {
            let rest = self.rest();
            let is_start = self.at == 0;
            let is_blank =
                |c: char| matches!(c, ' ' | '\t' | '\r' | '\n') || (is_start && c == '\u{feff}');
            let blank = rest.len() - rest.trim_start_matches(is_blank).len();
            let rest = rest.get(blank..).unwrap_or_default();
            let comment = if rest.starts_with("//") {
                rest.find('\n').unwrap_or(rest.len())
            } else if rest.starts_with("/*") {
                rest.find("*/").map(|end| end + 2).ok_or(self.broken("the end of a comment"))?
            } else {
                0
            };
            self.at += blank + comment;
            if comment == 0 {
                return Ok(());
            }
        }
    }

    fn value(&mut self, depth: usize) -> Result<Node, JsoncFault> {
        if depth > MAX_DEPTH {
            return Err(self.broken("less deeply nested values"));
        }
        let start = self.at;
        let kind = match self.peek() {
            Some('{') => self.object(depth)?,
            Some('[') => self.array(depth)?,
            Some('"') => {
                self.string()?;
                JsonKind::Scalar
            }
            _ => {
                let ends = |c: char| c.is_whitespace() || matches!(c, ',' | ']' | '}' | '/');
                let length = self.rest().find(ends).unwrap_or(self.rest().len());
                let word = self.rest().get(..length).unwrap_or_default();
                if serde_json::from_str::<serde_json::Value>(word).is_err() {
                    return Err(self.broken("a value"));
                }
                self.at += length;
                JsonKind::Scalar
            }
        };
        Ok(Node { span: start..self.at, kind })
    }

    fn object(&mut self, depth: usize) -> Result<JsonKind, JsoncFault> {
        let mut members = Vec::new();
        self.at += 1;
        loop {
            self.skip()?;
            if self.take('}') {
                return Ok(JsonKind::Object(members));
            }
            let start = self.at;
            if self.peek() != Some('"') {
                return Err(self.broken("a key in quotes, or `}`"));
            }
            let key = self.string()?;
            self.skip()?;
            if !self.take(':') {
                return Err(self.broken("`:`"));
            }
            self.skip()?;
            let value = self.value(depth + 1)?;
            members.push(Member { key, span: start..self.at, value });
            self.skip()?;
            if !self.take(',') && self.peek() != Some('}') {
                return Err(self.broken("`,` or `}`"));
            }
        }
    }

    fn array(&mut self, depth: usize) -> Result<JsonKind, JsoncFault> {
        let mut elements = Vec::new();
        self.at += 1;
        loop {
            self.skip()?;
            if self.take(']') {
                return Ok(JsonKind::Array(elements));
            }
            elements.push(self.value(depth + 1)?);
            self.skip()?;
            if !self.take(',') && self.peek() != Some(']') {
                return Err(self.broken("`,` or `]`"));
            }
        }
    }

    fn take(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        if found {
            self.at += wanted.len_utf8();
        }
        found
    }

    fn string(&mut self) -> Result<String, JsoncFault> {
        let mut escaped = false;
        let end = self.rest().char_indices().skip(1).find(|(_, letter)| {
            let ends = *letter == '"' && !escaped;
            escaped = *letter == '\\' && !escaped;
            ends
        });
        let Some((end, _)) = end else { return Err(self.broken("the end of a string")) };
        let text = self.rest().get(..=end).unwrap_or_default();
        let read = serde_json::from_str(text).map_err(|_| self.broken("a string in quotes"))?;
        self.at += end + 1;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn x2_comments_and_last_commas_are_read() {
        let text = "\u{feff}// top\n{ /* a */ \"a\": [1, 2,], // b\n \"b\": {\"c\": \"x // \\\" y\",}, }\n";
        let node = Node::parse(text).unwrap().unwrap();
        assert_eq!(
            node.value(text).unwrap(),
            serde_json::json!({"a": [1, 2], "b": {"c": "x // \" y"}})
        );
        let place = node.at(&["b", "c"]).unwrap().span.clone();
        assert_eq!(text.get(place), Some("\"x // \\\" y\""));
        assert_eq!(Node::parse(" // nothing\n"), Ok(None));
    }

    #[test]
    fn x2_what_is_no_json_is_said_with_its_place() {
        for (text, at) in [("{\"a\" 1}", 5), ("{a: 1}", 1), ("[1 2]", 3), ("{} x", 3), ("{", 1)] {
            assert_eq!(Node::parse(text).unwrap_err().at, at, "{text}");
        }
        assert!(Node::parse(&"[".repeat(1_000)).is_err());
    }
}
