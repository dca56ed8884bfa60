//! The `paths` of a rule.
//!
//! Read line by line, not as YAML: `paths: **/*.ts` is what people write, and
//! no YAML parser takes it (`*` begins an alias there).

/// A rule file, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rule<'a> {
    /// The patterns under `paths`; empty where the rule always applies.
    pub(crate) paths: Vec<String>,
    /// The text after the frontmatter.
    pub(crate) body: &'a str,
}

/// Splits a rule file. Frontmatter that does not end is text.
pub(crate) fn split(text: &str) -> Rule<'_> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let whole = Rule { paths: Vec::new(), body: text };
    let mut lines = text.split_inclusive('\n');
    let Some(first) = lines.next().filter(|line| line.trim_end() == "---") else { return whole };
    let mut at = first.len();
    let mut head = Vec::new();
    for line in lines {
        at += line.len();
        if line.trim_end() == "---" {
            return Rule { paths: paths(&head), body: text.get(at..).unwrap_or_default() };
        }
        head.push(line.trim_end());
    }
    whole
}

fn paths(head: &[&str]) -> Vec<String> {
    let mut lines = head.iter().skip_while(|line| key_value(line).is_none());
    let Some(value) = lines.next().and_then(|line| key_value(line)) else { return Vec::new() };
    if value.is_empty() || value.starts_with('#') {
        return lines
            .map(|line| line.trim_start())
            .filter(|line| !line.is_empty() && !line.starts_with('#'))
            .map_while(|line| line.strip_prefix('-'))
            .flat_map(items)
            .collect();
    }
    items(flow(value).unwrap_or(value))
}

/// What is inside `[...]`, if nothing but a comment follows: `[ab].rs` is a
/// pattern.
fn flow(value: &str) -> Option<&str> {
    let (inside, after) = value.strip_prefix('[')?.rsplit_once(']')?;
    let after = after.trim();
    (after.is_empty() || after.starts_with('#')).then_some(inside)
}

/// The value of a top-level `paths:` line.
fn key_value(line: &str) -> Option<&str> {
    line.strip_prefix("paths").and_then(|rest| rest.trim_start().strip_prefix(':')).map(str::trim)
}

/// Patterns between commas, up to a comment; commas in quotes and braces are
/// part of a pattern.
fn items(value: &str) -> Vec<String> {
    let mut out = vec![String::new()];
    let (mut quote, mut depth) = (None, 0_usize);
    for sign in value.chars() {
        match (quote, sign) {
            (Some(open), _) if sign == open => quote = None,
            (None, '"' | '\'') if out.last().is_some_and(|item| item.trim().is_empty()) => {
                quote = Some(sign);
            }
            (None, ',') if depth == 0 => out.push(String::new()),
            (None, '#')
                if out.last().is_some_and(|item| item.is_empty() || item.ends_with(' ')) =>
            {
                break;
            }
            _ => {
                match sign {
                    '{' => depth += 1,
                    '}' => depth = depth.saturating_sub(1),
                    _ => {}
                }
                if let Some(item) = out.last_mut() {
                    item.push(sign);
                }
            }
        }
    }
    out.iter().map(|item| item.trim().to_owned()).filter(|item| !item.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn paths_of(head: &str) -> Vec<String> {
        split(&format!("---\n{head}\n---\nbody")).paths
    }

    #[test]
    fn i2_paths_are_read_as_people_write_them() {
        assert_eq!(paths_of("paths: **/*.ts"), ["**/*.ts"]);
        assert_eq!(paths_of("paths: \"src/**/*.{ts,tsx}\" # comment"), ["src/**/*.{ts,tsx}"]);
        assert_eq!(paths_of("paths: src/*.{ts,tsx}, lib/**  # both"), ["src/*.{ts,tsx}", "lib/**"]);
        assert_eq!(paths_of("paths: [a/**, 'b,c/**', \"d\"]"), ["a/**", "b,c/**", "d"]);
        assert_eq!(
            paths_of("name: x\npaths:\n  - \"a/**\"\n\n  - **/*.rs # c\n- *.md\nother: - y"),
            ["a/**", "**/*.rs", "*.md"]
        );
        assert_eq!(paths_of("paths: [a, b] # both"), ["a", "b"]);
        assert_eq!(paths_of("paths: [ab].rs"), ["[ab].rs"]);
        assert_eq!(paths_of("paths: # below\n- a#b"), ["a#b"]);
        assert_eq!(paths_of("paths: []"), Vec::<String>::new());
        assert_eq!(paths_of("title: paths: x"), Vec::<String>::new());
    }

    #[test]
    fn i2_frontmatter_is_taken_off_and_text_without_an_end_is_text() {
        assert_eq!(split("---\npaths: a\n---\nbody\n").body, "body\n");
        assert_eq!(split("---\r\npaths: a\r\n---\r\nbody").paths, ["a"]);
        assert_eq!(split("---\npaths: a\nbody").body, "---\npaths: a\nbody");
        assert_eq!(split("no\n---\n").body, "no\n---\n");
    }

    proptest! {
        #[test]
        fn i2_any_text_is_read(text in "(---\n)?(paths:[ \\[]?)?\\PC{0,30}(\n[- ]{0,3}\\PC{0,20}){0,4}(\n---\n)?") {
            let rule = split(&text);
            prop_assert!(text.ends_with(rule.body));
        }
    }
}
