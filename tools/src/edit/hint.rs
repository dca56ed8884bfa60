//! Why a text was not found, as far as can be told.

/// A sentence on what may be wrong with a text that does not occur.
pub(super) fn not_found(body: &str, old: &str) -> String {
    if let Some(bare) = without_numbers(old)
        && body.replace("\r\n", "\n").contains(&bare)
    {
        return "it is there without the line numbers, which are not part of the file: \
                leave them out"
            .to_owned();
    }
    if let Some(line) = loosely(body, old) {
        return format!(
            "at line {line} the same words stand with other white space: read that part \
             again and copy it exactly"
        );
    }
    if let Some(line) = first_line(body, old) {
        return format!(
            "its first line is at line {line}, but what follows is different: read that \
             part again"
        );
    }
    "read the part that you want to change again and copy it exactly".to_owned()
}

/// The text without the numbers that Read puts before lines; none where not
/// every line has one.
fn without_numbers(old: &str) -> Option<String> {
    let lines: Option<Vec<&str>> = old
        .lines()
        .map(|line| {
            let (number, rest) = line.split_once('\t')?;
            let number = number.trim_start();
            let is_number = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
            is_number.then_some(rest)
        })
        .collect();
    lines.filter(|lines| !lines.is_empty()).map(|lines| lines.join("\n"))
}

/// The line at which the text stands if white space does not count.
fn loosely(body: &str, old: &str) -> Option<usize> {
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let wanted: Vec<String> = old.trim().lines().map(words).collect();
    let lines: Vec<String> = body.lines().map(words).collect();
    if wanted.iter().all(String::is_empty) {
        return None;
    }
    lines
        .windows(wanted.len())
        .position(|window| window == wanted.as_slice())
        .map(|at| at.saturating_add(1))
}

/// The line at which the first line of a longer text stands.
fn first_line(body: &str, old: &str) -> Option<usize> {
    let first = old.lines().map(str::trim).find(|line| !line.is_empty())?;
    body.lines().position(|line| line.trim() == first).map(|at| at.saturating_add(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn q5_a_text_that_is_not_there_gets_a_hint() {
        let body = "fn main() {\n    let a = 1;\n    let b = 2;\n}\n";
        let hint = not_found(body, "     2\t    let a = 1;\n     3\t    let b = 2;");
        assert!(hint.contains("line numbers"), "{hint}");
        let hint = not_found(body, "\tlet a = 1;\n\tlet b = 2;");
        assert!(hint.contains("at line 2"), "{hint}");
        let hint = not_found(body, "fn main() {\n    let c = 1;");
        assert!(hint.contains("first line is at line 1"), "{hint}");
        assert!(not_found(body, "nothing like it").contains("copy it exactly"));
        assert!(not_found(body, "\n\n\n").contains("copy it exactly"));
        assert!(not_found("", "a").contains("copy it exactly"));
    }
}
