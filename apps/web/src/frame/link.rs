//! Addresses, put together so that nothing in them can mean something else.

use std::fmt::Write;
use url::form_urlencoded::Serializer;

/// An address of ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Link {
    path: String,
    query: Vec<(String, String)>,
}

impl Link {
    pub(crate) fn to(path: impl Into<String>) -> Self {
        Self { path: path.into(), query: Vec::new() }
    }

    /// The same with a value; one that says nothing is left out, and one of the
    /// same name is replaced.
    #[expect(clippy::needless_pass_by_value, reason = "numbers and borrowed texts alike")]
    pub(crate) fn with(&self, name: &str, value: impl ToString) -> Self {
        let mut own = self.clone();
        own.query.retain(|(other, _)| other != name);
        let value = value.to_string();
        if !value.is_empty() {
            own.query.push((name.to_owned(), value));
        }
        own
    }

    pub(crate) fn href(&self) -> String {
        if self.query.is_empty() {
            return self.path.clone();
        }
        let mut query = Serializer::new(String::new());
        query.extend_pairs(&self.query);
        format!("{}?{}", self.path, query.finish())
    }
}

/// A name as one or several parts of a path: every byte that could mean
/// something else is escaped.
pub(crate) fn path_part(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~/".contains(&byte) {
            out.push(char::from(byte));
        } else {
            // Writing to a string does not fail.
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn w1_names_in_addresses_mean_nothing_else() {
        assert_eq!(path_part("a b/ü?#&.md"), "a%20b/%C3%BC%3F%23%26.md");
        let link = Link::to("/memories").with("q", "a&b=\"c").with("page", 2).with("sort", "");
        assert_eq!(link.href(), "/memories?q=a%26b%3D%22c&page=2");
        assert_eq!(link.with("page", 3).href(), "/memories?q=a%26b%3D%22c&page=3");
        assert_eq!(Link::to("/x").href(), "/x");
    }
}
