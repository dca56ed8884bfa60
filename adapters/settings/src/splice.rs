//! Changing JSON where it stands: every byte that is not ours stays, and what
//! was put in can be taken out again.

use crate::jsonc::{JsonKind, JsoncFault, Node};
use serde_json::Value;
use std::ops::Range;

/// A JSON file that is being changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Splice {
    pub text: String,
}

/// What is being put in.
enum New<'a> {
    Member(&'a str, &'a Value),
    Element(&'a Value),
}

impl Splice {
    /// Takes a text; an empty one becomes an object.
    ///
    /// # Errors
    /// If it is not a JSON object.
    pub fn new(text: &str) -> Result<Self, JsoncFault> {
        let text = match Node::parse(text)? {
            Some(Node { kind: JsonKind::Object(_), .. }) => text.to_owned(),
            Some(node) => return Err(JsoncFault { at: node.span.start, wanted: "an object" }),
            None => format!("{text}{{}}\n"),
        };
        Ok(Self { text })
    }

    /// The whole, read. It was read before, and every change keeps it readable.
    fn root(&self) -> Node {
        let empty = || Node { span: 0..0, kind: JsonKind::Scalar };
        Node::parse(&self.text).ok().flatten().unwrap_or_else(empty)
    }

    /// The value at the end of a path of keys.
    #[must_use]
    pub fn value(&self, path: &[&str]) -> Option<Value> {
        self.root().at(path)?.value(&self.text)
    }

    /// Sets a member, making the objects around it as needed. A value that is
    /// there already is replaced.
    pub fn set(&mut self, path: &[&str], value: &Value) {
        let Some((key, around)) = path.split_last() else { return };
        let root = self.root();
        if let Some(there) = root.at(path) {
            if there.value(&self.text).as_ref() != Some(value) {
                let indent = self.indent_at(there.span.start);
                let text = self.rendered(value, &indent, there);
                self.text.replace_range(there.span.clone(), &text);
            }
            return;
        }
        if let Some(node) = root.at(around) {
            self.insert(node, &New::Member(key, value));
            return;
        }
        let mut object = serde_json::Map::new();
        object.insert((*key).to_owned(), value.clone());
        self.set(around, &Value::Object(object));
    }

    /// Appends an element to a list, making it as needed.
    pub fn push(&mut self, path: &[&str], value: &Value) {
        match self.root().at(path) {
            Some(node) => self.insert(node, &New::Element(value)),
            None => self.set(path, &Value::Array(vec![value.clone()])),
        }
    }

    /// Takes a member out.
    pub fn remove(&mut self, path: &[&str]) {
        let Some((key, around)) = path.split_last() else { return };
        let root = self.root();
        let Some(node) = root.at(around) else { return };
        let spans: Vec<Range<usize>> =
            node.members().iter().map(|member| member.span.clone()).collect();
        let at = node.members().iter().rposition(|member| member.key == *key);
        if let Some(at) = at {
            self.cut(node, &spans, at);
        }
    }

    /// Takes the elements out of a list that are meant.
    pub fn remove_elements(&mut self, path: &[&str], is_meant: &dyn Fn(&Value) -> bool) {
        loop {
            let root = self.root();
            let Some(node) = root.at(path) else { return };
            let at = node.elements().iter().position(|element| {
                element.value(&self.text).is_some_and(|value| is_meant(&value))
            });
            let Some(at) = at else { return };
            let spans: Vec<Range<usize>> =
                node.elements().iter().map(|element| element.span.clone()).collect();
            self.cut(node, &spans, at);
        }
    }

    fn insert(&mut self, node: &Node, new: &New<'_>) {
        let close = node.span.end.saturating_sub(1);
        let last = match &node.kind {
            JsonKind::Object(members) => members.last().map(|member| member.span.end),
            JsonKind::Array(elements) => elements.last().map(|element| element.span.end),
            JsonKind::Scalar => return,
        };
        let inside = self.slice(node.span.start + 1..close).to_owned();
        let is_one_line = last.is_some() && !inside.contains('\n');
        let newline = if self.text.contains("\r\n") { "\r\n" } else { "\n" };
        let around = self.indent_at(node.span.start);
        let indent = self.member_indent(node).unwrap_or_else(|| around.clone() + &self.unit());
        let text = self.new_text(new, &indent, node, is_one_line);
        // Behind the last thing before the bracket, be it a comment.
        let end = node.span.start + 1 + inside.trim_end().len();
        let Some(last) = last else {
            let text = format!("{newline}{indent}{text}{newline}{around}");
            self.text.replace_range(end..close, &text);
            return;
        };
        let behind = self.slice(last..close);
        let has_comma = first_sign(behind) == Some(',');
        if is_one_line {
            let blank = if inside.contains(", ") || inside.contains(": ") { " " } else { "" };
            // A comma at the end is theirs to keep.
            let (comma, last) = if has_comma { ("", ",") } else { (",", "") };
            self.text.insert_str(end, &format!("{comma}{blank}{text}{last}"));
            return;
        }
        let comma = if has_comma { "," } else { "" };
        self.text.insert_str(end, &format!("{newline}{indent}{text}{comma}"));
        if !has_comma {
            self.text.insert(last, ',');
        }
    }

    /// Cuts one of several things out, with the comma that parted it.
    fn cut(&mut self, node: &Node, spans: &[Range<usize>], at: usize) {
        let Some(span) = spans.get(at) else { return };
        let close = node.span.end.saturating_sub(1);
        let before = self.slice(0..span.start).trim_end().len();
        let behind = self.slice(span.end..close).to_owned();
        let is_only = spans.len() == 1;
        if first_sign(&behind) == Some(',') {
            let comma = span.end + comma_at(&behind);
            self.text.replace_range(before..=comma, "");
        } else {
            self.text.replace_range(before..span.end, "");
            // It was the last: the comma behind the one before it goes too.
            if let Some(previous) = at.checked_sub(1).and_then(|at| spans.get(at)) {
                let comma = previous.end + comma_at(self.slice(previous.end..before));
                self.text.replace_range(comma..=comma, "");
            }
        }
        let root = self.root();
        let rest = find_at(&root, node.span.start);
        if let Some(rest) = rest.filter(|_| is_only) {
            let inside = rest.span.start + 1..rest.span.end.saturating_sub(1);
            if self.slice(inside.clone()).trim().is_empty() {
                self.text.replace_range(inside, "");
            }
        }
    }

    fn slice(&self, range: Range<usize>) -> &str {
        self.text.get(range).unwrap_or_default()
    }

    fn new_text(&self, new: &New<'_>, indent: &str, node: &Node, is_one_line: bool) -> String {
        match new {
            New::Element(value) if is_one_line => value.to_string(),
            New::Element(value) => self.rendered(value, indent, node),
            New::Member(key, value) => {
                let key = Value::String((*key).to_owned());
                let value = if is_one_line {
                    value.to_string()
                } else {
                    self.rendered(value, indent, node)
                };
                format!("{key}: {value}")
            }
        }
    }

    /// A value over several lines, in the file's own indentation.
    fn rendered(&self, value: &Value, indent: &str, near: &Node) -> String {
        let one_line = !self.text.contains('\n') && near.span.len() > 2;
        if one_line {
            return value.to_string();
        }
        let unit = self.unit();
        let pretty = serde_json::to_string_pretty(value).unwrap_or_default();
        let newline = if self.text.contains("\r\n") { "\r\n" } else { "\n" };
        let line = |line: &str| {
            let depth = (line.len() - line.trim_start().len()) / 2;
            format!("{}{}", unit.repeat(depth), line.trim_start())
        };
        let lines: Vec<String> = pretty.lines().map(line).collect();
        lines.join(&format!("{newline}{indent}"))
    }

    /// The blanks that the line of a place starts with.
    fn indent_at(&self, at: usize) -> String {
        let start = self.slice(0..at).rfind('\n').map_or(0, |newline| newline + 1);
        let line = self.slice(start..self.text.len());
        line.chars().take_while(|c| *c == ' ' || *c == '\t').collect()
    }

    /// How what is inside of a value is indented, where it is on its own lines.
    fn member_indent(&self, node: &Node) -> Option<String> {
        let first = match &node.kind {
            JsonKind::Object(members) => members.first()?.span.start,
            JsonKind::Array(elements) => elements.first()?.span.start,
            JsonKind::Scalar => return None,
        };
        let is_own_line = self.slice(node.span.start..first).contains('\n');
        is_own_line.then(|| self.indent_at(first))
    }

    /// One step of indentation: that of the first member of all.
    fn unit(&self) -> String {
        let unit = self.member_indent(&self.root()).filter(|unit| !unit.is_empty());
        unit.unwrap_or_else(|| "  ".to_owned())
    }
}

/// The first sign behind blanks and comments.
fn first_sign(text: &str) -> Option<char> {
    let at = comma_at(text);
    text.get(at..).and_then(|rest| rest.chars().next())
}

/// Where the first sign behind blanks and comments stands.
fn comma_at(text: &str) -> usize {
    let mut at = 0;
    loop {
        let rest = text.get(at..).unwrap_or_default();
        let blank = rest.len() - rest.trim_start().len();
        let rest = rest.trim_start();
        at += blank;
        let comment = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else {
            return at;
        };
        at += comment;
    }
}

/// The value that starts at a place.
fn find_at(node: &Node, start: usize) -> Option<&Node> {
    if node.span.start == start {
        return Some(node);
    }
    let inside = match &node.kind {
        JsonKind::Object(members) => members.iter().map(|member| &member.value).collect(),
        JsonKind::Array(elements) => elements.iter().collect::<Vec<_>>(),
        JsonKind::Scalar => Vec::new(),
    };
    inside.into_iter().find_map(|node| find_at(node, start))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn with(text: &str, change: impl FnOnce(&mut Splice)) -> String {
        let mut splice = Splice::new(text).unwrap();
        change(&mut splice);
        splice.text
    }

    #[test]
    fn x2_comments_order_and_indentation_stay() {
        let text =
            "{\n    // mine\n    \"b\": 1, /* one */\n    \"a\": {\"x\": [1, 2]} // last\n}\n";
        let added = with(text, |splice| {
            splice.set(&["mcpServers", "m"], &json!({"command": "x"}));
            splice.push(&["a", "x"], &json!(3));
        });
        assert_eq!(
            added,
            "{\n    // mine\n    \"b\": 1, /* one */\n    \"a\": {\"x\": [1, 2, 3]}, // last\n    \
             \"mcpServers\": {\n        \"m\": {\n            \"command\": \"x\"\n        }\n    }\n}\n"
        );
        let removed = with(&added, |splice| {
            splice.remove(&["mcpServers"]);
            splice.remove_elements(&["a", "x"], &|value| *value == json!(3));
        });
        assert_eq!(removed, text);
    }

    #[test]
    fn x2_empty_one_line_and_windows_files_are_changed_in_their_own_way() {
        let set = |text: &str| with(text, |splice| splice.set(&["k"], &json!({"a": 1})));
        assert_eq!(set(""), "{\n  \"k\": {\n    \"a\": 1\n  }\n}\n");
        assert_eq!(set("{}"), "{\n  \"k\": {\n    \"a\": 1\n  }\n}");
        assert_eq!(set("{\"x\":1}"), "{\"x\":1,\"k\": {\"a\":1}}");
        assert_eq!(
            set("{\r\n\t\"x\": 1\r\n}\r\n"),
            "{\r\n\t\"x\": 1,\r\n\t\"k\": {\r\n\t\t\"a\": 1\r\n\t}\r\n}\r\n"
        );
        assert_eq!(set("{\n  \"x\": 1,\n}"), "{\n  \"x\": 1,\n  \"k\": {\n    \"a\": 1\n  },\n}");
        assert_eq!(set("{\n  // none\n}"), "{\n  // none\n  \"k\": {\n    \"a\": 1\n  }\n}");
    }

    proptest! {
        #[test]
        fn x2_what_was_put_in_can_be_taken_out(
            keys in proptest::collection::vec("[a-d]{1,2}", 1..4),
            blank in "[ \t\n]{0,3}", end in prop::sample::select(vec!["", ",", " // c\n", ", /* c */ "]),
        ) {
            let members: Vec<String> = keys.iter().map(|key| format!("\"{key}\":{blank}[1,{blank}2]")).collect();
            let text = format!("{{{blank}{}{end}{blank}}}", members.join(&format!(",{blank}")));
            let added = with(&text, |splice| {
                splice.set(&["zz", "y"], &json!([{"deep": true}]));
                splice.push(&[keys[0].as_str()], &json!("new"));
            });
            prop_assert!(Node::parse(&added).unwrap().is_some());
            let removed = with(&added, |splice| {
                splice.remove(&["zz"]);
                splice.remove_elements(&[keys[0].as_str()], &|value| *value == json!("new"));
            });
            prop_assert_eq!(removed, text);
        }
    }
}
