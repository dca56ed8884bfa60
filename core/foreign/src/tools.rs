//! Tools of other agents by our names.
//!
//! Layers decide by a tool's name (L1.1, L2.1) and look for the file that it
//! touched under one key. Other agents do the same things under other names;
//! here are those that we know. Anything else keeps its name.

use serde_json::{Map, Value};

/// Our name for a tool.
#[must_use]
pub fn name(foreign: &str) -> &str {
    match foreign {
        "read" | "read_file" | "read_many_files" | "view_image" => "Read",
        "write" | "write_file" => "Write",
        "edit" | "apply_patch" | "multi_edit" | "replace" => "Edit",
        "bash" | "shell" | "shell_command" | "exec_command" | "write_stdin" | "local_shell"
        | "container.exec" | "run_shell_command" => "Bash",
        "grep" | "grep_files" | "grep_search" | "search_file_content" => "Grep",
        "find" | "ls" | "list_dir" | "list_directory" | "glob" => "Glob",
        "web_search" | "google_web_search" => "WebSearch",
        "web_fetch" => "WebFetch",
        other => other,
    }
}

/// Arguments with our keys for the file and the command.
#[must_use]
pub fn input(tool: &str, mut input: Value) -> Value {
    let Some(fields) = input.as_object_mut() else { return input };
    match tool {
        "Read" | "Write" | "Edit" => rename(fields, &["path", "file"], "file_path"),
        "Bash" => {
            rename(fields, &["cmd"], "command");
            if let Some(Value::Array(words)) = fields.get("command") {
                let line = command_line(words);
                fields.insert("command".to_owned(), Value::String(line));
            }
        }
        _ => {}
    }
    input
}

fn rename(fields: &mut Map<String, Value>, from: &[&str], to: &str) {
    if fields.contains_key(to) {
        return;
    }
    if let Some(value) = from.iter().find_map(|key| fields.shift_remove(*key)) {
        fields.insert(to.to_owned(), value);
    }
}

/// The script of `bash -lc <script>`, or all words.
fn command_line(words: &[Value]) -> String {
    let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
    match words.as_slice() {
        [_, flag, script] if flag.starts_with('-') && flag.ends_with('c') => (*script).to_owned(),
        all => all.join(" "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn c3_tools_of_others_have_our_names_and_keys() {
        assert_eq!((name("read"), name("shell"), name("mcp__x__y")), ("Read", "Bash", "mcp__x__y"));
        assert_eq!(
            input("Read", json!({"path": "/a", "limit": 3})),
            json!({"limit": 3, "file_path": "/a"})
        );
        assert_eq!(
            input("Bash", json!({"command": ["bash", "-lc", "ls"]})),
            json!({"command": "ls"})
        );
        assert_eq!(input("Bash", json!({"command": ["ls", "-l"]})), json!({"command": "ls -l"}));
        assert_eq!(input("Read", json!("odd")), json!("odd"));
    }
}
