//! A table of ours in a TOML file of another program. Only its own lines are
//! touched.

use std::ops::Range;

/// The text with the table; what is in the way otherwise.
pub(super) fn put(text: &str, name: &str, body: &str) -> Result<String, String> {
    let table = format!("[{name}]\n{body}");
    if let Some(own) = own_lines(text, name) {
        let there = text.get(own.clone()).unwrap_or_default();
        if there.trim_end() == table.trim_end() {
            return Ok(text.to_owned());
        }
        let mut changed = text.to_owned();
        let blank = if own.end < text.len() { "\n" } else { "" };
        changed.replace_range(own, &format!("{table}{blank}"));
        return Ok(changed);
    }
    let parent = name.split('.').next().unwrap_or(name);
    let is_inline = |line: &str| {
        let key = line.split('=').next().unwrap_or_default().trim();
        line.contains('=') && (key == parent || key == name)
    };
    if text.lines().any(is_inline) {
        return Err(parent.to_owned());
    }
    let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    let gap = if text.is_empty() { "" } else { "\n" };
    Ok(format!("{text}{end}{gap}{table}"))
}

/// The text without the table, and without those below it.
pub(super) fn take(text: &str, name: &str) -> String {
    let mut rest = text.to_owned();
    while let Some(own) = own_lines(&rest, name) {
        let is_last = own.end == rest.len();
        rest.replace_range(own, "");
        if is_last && rest.ends_with("\n\n") {
            rest.pop();
        }
    }
    rest
}

/// The lines of the first table of that name, or of one below it.
fn own_lines(text: &str, name: &str) -> Option<Range<usize>> {
    let (mut at, mut start, mut in_text) = (0, None, false);
    for line in text.split_inclusive('\n') {
        let trimmed = line.trim_start();
        if !in_text && trimmed.starts_with('[') {
            if let Some(start) = start {
                return Some(start..at);
            }
            let header =
                trimmed.trim_start_matches('[').split(']').next().unwrap_or_default().trim();
            if header == name || header.strip_prefix(name).is_some_and(|rest| rest.starts_with('.'))
            {
                start = Some(at);
            }
        }
        for quotes in ["\"\"\"", "'''"] {
            in_text ^= line.matches(quotes).count() % 2 == 1;
        }
        at += line.len();
    }
    start.map(|start| start..at)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAME: &str = "mcp_servers.everfold";
    const BODY: &str = "command = \"everfold\"\nargs = [\"mcp\"]\n";

    #[test]
    fn x2_a_table_goes_to_the_end_and_comes_out_again() {
        for text in [
            "",
            "# mine\nmodel = \"x\"\n",
            "model = \"x\"",
            "[mcp_servers.other]\ncommand = \"o\"\n\n[tui]\nnote = \"\"\"\n[mcp_servers.everfold]\n\"\"\"\n",
        ] {
            let with = put(text, NAME, BODY).unwrap();
            assert!(with.ends_with(&format!("[{NAME}]\n{BODY}")), "{with}");
            assert_eq!(put(&with, NAME, BODY).unwrap(), with, "twice is once");
            assert_eq!(take(&with, NAME).trim_end(), text.trim_end());
        }
    }

    #[test]
    fn x2_tables_below_ours_go_with_it_and_what_follows_stays() {
        let text = "[a]\nx = 1\n\n[mcp_servers.everfold]\ncommand = \"old\"\n\n[mcp_servers.everfold.tools.memory_save]\napproval_mode = \"approve\"\n\n[b]\ny = 2\n";
        assert_eq!(take(text, NAME), "[a]\nx = 1\n\n[b]\ny = 2\n");
        let changed = put(text, NAME, BODY).unwrap();
        assert!(changed.contains("command = \"everfold\"") && !changed.contains("\"old\""));
        assert!(changed.ends_with("[b]\ny = 2\n"));
    }

    #[test]
    fn x2_an_inline_table_is_in_the_way() {
        assert_eq!(put("mcp_servers = { a = 1 }\n", NAME, BODY), Err("mcp_servers".into()));
    }
}
