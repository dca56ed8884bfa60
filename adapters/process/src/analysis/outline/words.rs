//! Words of a command as Bash would hand them to a program, as far as that is
//! known: quotes and escapes carried out, braces and the line's own variables
//! put in. What is not known stands as `*`.

use super::Findings;
use super::syntax::{children, text_of};
use everfold_kernel::ports::{CallWord, WordKind};
use tree_sitter::Node;

/// More words than this are not made of one by braces.
const MOST_BRACED: usize = 64;

/// Words under construction: those that are complete, and the last one.
struct Pieces {
    done: Vec<CallWord>,
    text: String,
    kind: WordKind,
    /// Whether the last one exists, also where it is empty.
    begun: bool,
    /// Whether it has braces outside of quotes.
    braces: bool,
}

impl Pieces {
    fn push(&mut self, text: &str, kind: WordKind) {
        self.text.push_str(text);
        self.kind = self.kind.max(kind);
        self.begun = true;
    }

    /// What a variable holds, split as Bash does outside of quotes.
    fn split(&mut self, text: &str, kind: WordKind, separators: &str) {
        let mut parts = text.split(|c| matches!(c, ' ' | '\t' | '\n') || separators.contains(c));
        if let Some(first) = parts.next().filter(|first| !first.is_empty()) {
            self.push(first, kind);
        }
        for part in parts {
            self.end();
            if !part.is_empty() {
                self.push(part, kind);
            }
        }
    }

    fn end(&mut self) {
        let (text, kind) = (std::mem::take(&mut self.text), self.kind);
        if std::mem::take(&mut self.begun) {
            let words = if self.braces { braced(&text) } else { vec![text] };
            self.done.extend(words.into_iter().map(|text| CallWord { text, kind }));
        }
        (self.kind, self.braces) = (WordKind::Exact, false);
    }
}

impl Findings {
    /// The words that a node becomes.
    pub(super) fn words(&self, node: Node<'_>, source: &str) -> Vec<CallWord> {
        let mut pieces = Pieces {
            done: Vec::new(),
            text: String::new(),
            kind: WordKind::Exact,
            begun: false,
            braces: false,
        };
        self.part(node, source, &mut pieces);
        pieces.end();
        pieces.done
    }

    /// Adds the words of a node to those before it. Where nothing stands
    /// between two nodes the grammar has split one word: `$'a'/$HOME`.
    pub(super) fn add_words(&self, node: Node<'_>, source: &str, words: &mut Vec<CallWord>) {
        let mut more = self.words(node, source);
        let touches = node.prev_sibling().is_some_and(|before| {
            before.end_byte() == node.start_byte() && before.kind() != "variable_assignment"
        });
        if touches
            && !more.is_empty()
            && let Some(last) = words.last_mut()
        {
            let next = more.remove(0);
            let text = match last.text.strip_suffix('$') {
                Some(start) => {
                    let is_name = |c: &char| c.is_ascii_alphanumeric() || *c == '_';
                    let name: String = next.text.chars().take_while(is_name).collect();
                    let rest = next.text.strip_prefix(name.as_str()).unwrap_or_default();
                    // `$@` and the like are names, too.
                    let rest = if name.is_empty() {
                        rest.strip_prefix(['@', '*', '#', '?', '!', '$', '-']).unwrap_or(rest)
                    } else {
                        rest
                    };
                    let value = if name == "HOME" { self.home() } else { "*".to_owned() };
                    format!("{start}{value}{rest}")
                }
                None => format!("{}{}", last.text, next.text),
            };
            *last = CallWord { text, kind: WordKind::Open };
        }
        words.extend(more);
    }

    fn part(&self, node: Node<'_>, source: &str, pieces: &mut Pieces) {
        let text = text_of(node, source);
        match node.kind() {
            "raw_string" => {
                let inner = text.strip_prefix('\'').and_then(|text| text.strip_suffix('\''));
                pieces.push(inner.unwrap_or(text), WordKind::Exact);
            }
            "ansi_c_string" => {
                let inner = text.strip_prefix("$'").and_then(|text| text.strip_suffix('\''));
                pieces.push(&ansi(inner.unwrap_or(text)), WordKind::Exact);
            }
            "string" | "translated_string" => self.string(node, source, pieces),
            // Gaps between the parts of a word belong to it: a grammar that
            // passes over a character must not hide it.
            "concatenation"
            | "command_name"
            | "unary_expression"
            | "binary_expression"
            | "parenthesized_expression" => {
                let mut end = node.start_byte();
                for child in children(node) {
                    match source.get(end..child.start_byte()) {
                        // Blanks part words, whatever the grammar says.
                        Some(gap) if !gap.is_empty() && gap.trim().is_empty() => pieces.end(),
                        Some(gap) => bare(gap, pieces),
                        None => {}
                    }
                    self.part(child, source, pieces);
                    end = child.end_byte();
                }
            }
            "simple_expansion" | "expansion" => {
                let (value, kind) = self.value(node, source);
                pieces.split(&value, kind, &self.separators());
            }
            "command_substitution" | "process_substitution" | "arithmetic_expansion" => {
                pieces.push("*", WordKind::Open);
            }
            _ => bare(text, pieces),
        }
    }

    fn string(&self, node: Node<'_>, source: &str, pieces: &mut Pieces) {
        pieces.push("", WordKind::Exact);
        // Blanks alone are part of no child.
        let text = text_of(node, source).trim_start_matches('$');
        let inner = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
        if let Some(blanks) = inner.filter(|inner| inner.trim().is_empty()) {
            pieces.push(blanks, WordKind::Exact);
            return;
        }
        let mut end = node.start_byte();
        for child in children(node) {
            if let Some(gap) = source.get(end..child.start_byte()) {
                pieces.push(gap, WordKind::Exact);
            }
            end = child.end_byte();
            match child.kind() {
                "\"" | "$\"" | "$" => {}
                "string_content" => {
                    pieces.push(&unescaped(text_of(child, source)), WordKind::Exact);
                }
                "simple_expansion" | "expansion" => {
                    let (value, kind) = self.value(child, source);
                    // All of a list are words of their own, in quotes too.
                    if text_of(child, source).contains("[@]") {
                        pieces.split(&value, kind, "");
                    } else {
                        pieces.push(&value, kind);
                    }
                }
                "string" => self.string(child, source, pieces),
                _ => pieces.push("*", WordKind::Open),
            }
        }
    }

    /// Where `~` leads, as text that may stand anywhere in a path.
    pub(super) fn home(&self) -> String {
        self.place.home.as_ref().map_or_else(|| "~".to_owned(), |home| home.display().to_string())
    }

    /// At what the line has words split, besides blanks.
    fn separators(&self) -> String {
        self.variables.get("IFS").map(|values| super::joined(values)).unwrap_or_default()
    }

    /// What a variable holds.
    fn value(&self, node: Node<'_>, source: &str) -> (String, WordKind) {
        let text = text_of(node, source);
        let inner = text.trim_start_matches('$').trim_start_matches('{').trim_end_matches('}');
        let is_name = |c: &char| c.is_ascii_alphanumeric() || *c == '_';
        let name: String = inner.chars().take_while(is_name).collect();
        let rest = inner.strip_prefix(name.as_str()).unwrap_or_default();
        let whole = rest.is_empty() || matches!(rest, "[@]" | "[*]" | "[0]");
        // What is set is not replaced by what stands behind it.
        let kept = rest.trim_start_matches(':').starts_with(['-', '=', '?']);
        match name.as_str() {
            "HOME" if whole || kept => (self.home(), WordKind::Exact),
            "PWD" if whole || kept => (self.place.cwd.display().to_string(), WordKind::Exact),
            "IFS" if whole => (" ".into(), WordKind::Exact),
            name => match self.variables.get(name).filter(|_| whole) {
                Some(words) => {
                    let kind = words.iter().map(|word| word.kind).max();
                    (super::joined(words), kind.unwrap_or(WordKind::Exact))
                }
                None => (otherwise(rest), WordKind::Open),
            },
        }
    }
}

/// What stands for a variable that nobody set: `${a:-b}` is `b`.
fn otherwise(rest: &str) -> String {
    // `${a:+b}` is nothing where nobody set it.
    let behind = rest.trim_start_matches(':').strip_prefix(['-', '=']);
    let plain = behind.map(|text| text.replace(['\'', '"', '\\'], ""));
    let known = plain.filter(|text| !text.is_empty() && !text.contains(['$', '`']));
    known.unwrap_or_else(|| "*".to_owned())
}

/// Text outside of quotes.
fn bare(text: &str, pieces: &mut Pieces) {
    let mut rest = text.chars();
    let mut out = String::new();
    let mut kind = WordKind::Exact;
    while let Some(c) = rest.next() {
        match c {
            '\\' => out.extend(rest.next()),
            // Blanks part words, whatever the grammar says: it makes one of `{ {`.
            ' ' | '\t' | '\n' => {
                if !out.is_empty() {
                    pieces.push(&std::mem::take(&mut out), kind);
                }
                pieces.end();
                kind = WordKind::Exact;
            }
            '*' | '?' | '[' => {
                kind = kind.max(WordKind::Pattern);
                out.push(c);
            }
            '{' | ',' | '}' => {
                pieces.braces = true;
                out.push(c);
            }
            c => out.push(c),
        }
    }
    if !out.is_empty() {
        pieces.push(&out, kind);
    }
}

/// Text in double quotes.
fn unescaped(text: &str) -> String {
    let mut rest = text.chars().peekable();
    let mut out = String::new();
    while let Some(c) = rest.next() {
        match (c, rest.peek()) {
            ('\\', Some('"' | '\\' | '$' | '`')) => out.extend(rest.next()),
            _ => out.push(c),
        }
    }
    out
}

/// Text in `$'…'`.
pub(super) fn ansi(text: &str) -> String {
    let mut rest = text.chars().peekable();
    let mut out = String::new();
    while let Some(c) = rest.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match rest.next() {
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some('r') => out.push('\r'),
            Some('x') => out.extend(number(&mut rest, String::new(), 16, 2)),
            Some('u') => out.extend(number(&mut rest, String::new(), 16, 4)),
            Some('U') => out.extend(number(&mut rest, String::new(), 16, 8)),
            Some(c) if c.is_digit(8) => out.extend(number(&mut rest, c.into(), 8, 3)),
            Some(c) => out.push(c),
            None => {}
        }
    }
    out
}

fn number(
    rest: &mut std::iter::Peekable<std::str::Chars<'_>>,
    mut digits: String,
    radix: u32,
    most: usize,
) -> Option<char> {
    while digits.len() < most
        && let Some(digit) = rest.next_if(|c| c.is_digit(radix))
    {
        digits.push(digit);
    }
    u32::from_str_radix(&digits, radix).ok().and_then(char::from_u32)
}

/// The words that braces make of one: `a{b,c}` is `ab` and `ac`.
pub(super) fn braced(text: &str) -> Vec<String> {
    let mut done = Vec::new();
    let mut open = vec![text.to_owned()];
    while let Some(text) = open.pop() {
        if done.len() + open.len() > MOST_BRACED {
            done.push(text);
            continue;
        }
        match first_group(&text) {
            Some((before, choices, after)) => {
                open.extend(choices.iter().rev().map(|choice| format!("{before}{choice}{after}")));
            }
            None => done.push(text),
        }
    }
    done
}

/// The first pair of braces with a comma or a range in it.
fn first_group(text: &str) -> Option<(String, Vec<String>, String)> {
    for (start, _) in text.match_indices('{') {
        let (before, rest) = (text.get(..start)?, text.get(start + 1..)?);
        let (mut depth, mut choices, mut choice) = (0_usize, Vec::new(), String::new());
        for (at, c) in rest.char_indices() {
            match c {
                '}' if depth == 0 => {
                    choices.push(choice);
                    let after = rest.get(at + 1..)?;
                    if let [only] = choices.as_slice() {
                        choices = range(only).unwrap_or(choices);
                    }
                    if choices.len() > 1 || rest.get(..at)?.contains("..") {
                        return Some((before.to_owned(), choices, after.to_owned()));
                    }
                    break;
                }
                ',' if depth == 0 => choices.push(std::mem::take(&mut choice)),
                c => {
                    match c {
                        '{' => depth += 1,
                        '}' => depth -= 1,
                        _ => {}
                    }
                    choice.push(c);
                }
            }
        }
    }
    None
}

/// `a..e` and `1..9`, as far as they are short.
fn range(text: &str) -> Option<Vec<String>> {
    let (from, to) = text.split_once("..")?;
    let to = to.split_once("..").map_or(to, |(to, _)| to);
    if let (Ok(from), Ok(to)) = (from.parse::<i64>(), to.parse::<i64>()) {
        let (low, high) = (from.min(to), from.max(to));
        return Some((low..=high).take(MOST_BRACED).map(|number| number.to_string()).collect());
    }
    let one = |text: &str| text.parse::<char>().ok();
    let (from, to) = (one(from)?, one(to)?);
    Some((from.min(to)..=from.max(to)).take(MOST_BRACED).map(String::from).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s11_braces_make_words() {
        assert_eq!(braced("{rm,-rf,x}"), ["rm", "-rf", "x"]);
        assert_eq!(braced("a{b,c{d,e}}f"), ["abf", "acdf", "acef"]);
        assert_eq!(braced("a{b}c{d,e}"), ["a{b}cd", "a{b}ce"]);
        assert_eq!(braced("{}"), ["{}"]);
        assert_eq!(braced("{r..r}m"), ["rm"]);
        assert_eq!(braced("{1..3}"), ["1", "2", "3"]);
        assert!(braced(&"{a,b}".repeat(30)).len() < 200);
    }

    #[test]
    fn s11_escapes_are_carried_out() {
        assert_eq!(ansi(r"\x72\155 \u0041\n\'"), "rm A\n'");
        assert_eq!(unescaped(r#"a\"b\n"#), r#"a"b\n"#);
    }
}
