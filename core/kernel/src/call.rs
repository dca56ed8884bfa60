//! What the arguments of a call tell of themselves, whichever tool is called.

use serde_json::Value;

/// The names under which tools are given the one file that they read or
/// change. A directory to look in (`path`) is no such file.
const FILE_FIELDS: [&str; 2] = ["file_path", "notebook_path"];

/// The file that a call is about, as the model named it.
#[must_use]
pub fn file_of(input: &Value) -> Option<&str> {
    FILE_FIELDS.iter().find_map(|name| input.get(name)?.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn q5_the_file_of_a_call_has_one_accessor() {
        assert_eq!(file_of(&json!({"file_path": "a", "content": "b"})), Some("a"));
        assert_eq!(file_of(&json!({"notebook_path": "a.ipynb"})), Some("a.ipynb"));
        assert_eq!(file_of(&json!({"pattern": "x", "path": "src"})), None);
        assert_eq!(file_of(&Value::Null), None);
    }
}
