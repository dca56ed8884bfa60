//! From the text of a command to its programs and their words.
//!
//! The grammar is not trusted to see what Bash sees. Between the parts of a
//! command there may be nothing but blanks, between two commands there must
//! be an operator or a newline, and each word is read again from its source.
//! So whatever the grammar skips, joins or takes for something else ends as a
//! refusal, not as a program that nobody looked at.

use super::word::Word;
use super::{CommandCaller, Refusal, refuse};
use tree_sitter::{Node, Parser, Tree};

/// Node kinds that may occur at all, beside operators and words.
const STRUCTURE: &[&str] =
    &["program", "list", "pipeline", "command", "command_name", "redirected_statement"];

/// What may be a word of a command.
const WORDS: &[&str] = &["word", "number", "string", "raw_string", "concatenation"];

/// What may be inside a word. What it means is for `Word` to say.
const INSIDE: &[&str] = &[
    "string_content",
    "simple_expansion",
    "expansion",
    "variable_name",
    "brace_expression",
    "\"",
    "$",
    "${",
    "{",
    "}",
    "..",
];

/// Between two commands.
const OPERATORS: &[&str] = &[";", "&&", "||", "|", "\n"];

/// Redirections whose target decides.
const REDIRECTIONS: &[&str] =
    &["file_redirect", "file_descriptor", ">", ">>", "<", "&>", "&>>", ">&"];

/// The commands in a text, each as its program and arguments.
pub(super) fn commands(source: &str, audience: CommandCaller) -> Result<Vec<Vec<Word>>, Refusal> {
    let tree = parse(source)?;
    check_kinds(&tree, audience)?;
    Reader { source, audience }.program(tree.root_node())
}

fn parse(source: &str) -> Result<Tree, Refusal> {
    let mut parser = Parser::new();
    let known = parser.set_language(&tree_sitter_bash::LANGUAGE.into()).is_ok();
    match parser.parse(source, None) {
        Some(tree) if known && !tree.root_node().has_error() => Ok(tree),
        _ => refuse("the command does not parse as plain shell"),
    }
}

/// Every node is of a listed kind; the first that is not is the reason.
fn check_kinds(tree: &Tree, audience: CommandCaller) -> Result<(), Refusal> {
    let mut cursor = tree.walk();
    loop {
        let node = cursor.node();
        let kind = node.kind();
        if node.is_error() || node.is_missing() {
            return refuse("the command does not parse as plain shell");
        }
        let plain = STRUCTURE.contains(&kind) || WORDS.contains(&kind) || INSIDE.contains(&kind);
        let main = kind == "comment" || OPERATORS.contains(&kind) || REDIRECTIONS.contains(&kind);
        if !(plain || kind == "|" || main && audience == CommandCaller::MainAgent) {
            return refuse(describe(kind));
        }
        if cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return Ok(());
            }
        }
    }
}

/// A kind of node in words.
fn describe(kind: &str) -> String {
    let what = match kind {
        "command_substitution" | "`" | "$(" => "a command substitution runs another command",
        "process_substitution" => "a process substitution runs another command",
        "|" => "only one pipe is allowed here, from one program into another",
        ";" | "&&" | "||" | "\n" => {
            "several commands in one are refused here: run one command at a time"
        }
        "&" => "a command in the background goes on after the call",
        "file_redirect" | "file_descriptor" | ">" | ">>" | "<" | "&>" | ">&" => {
            "a redirection is refused here"
        }
        "heredoc_redirect" | "herestring_redirect" => "a heredoc or herestring is not read-only",
        "variable_assignment"
        | "variable_assignments"
        | "declaration_command"
        | "unset_command" => "setting a variable changes what commands do",
        "function_definition" => "a function can hide any command",
        "subshell" | "compound_statement" => "a group of commands is not analysed",
        "arithmetic_expansion" => "arithmetic can assign variables",
        "ansi_c_string" | "translated_string" => "a `$'…'` or `$\"…\"` string can hide its text",
        "simple_expansion" | "expansion" | "special_variable_name" | "$" => {
            "a variable or `$` outside double quotes can become anything"
        }
        "comment" => "a comment is not analysed: leave it out",
        "ERROR" => "the command does not parse as plain shell",
        other => return format!("`{other}` is not part of a plain command that only reads"),
    };
    what.to_owned()
}

/// Reads a checked tree beside its source.
struct Reader<'a> {
    source: &'a str,
    audience: CommandCaller,
}

impl<'a> Reader<'a> {
    fn text(&self, from: usize, to: usize) -> Result<&'a str, Refusal> {
        self.source.get(from..to).map_or_else(|| refuse("the command does not parse"), Ok)
    }

    fn text_of(&self, node: Node<'_>) -> Result<&'a str, Refusal> {
        self.text(node.start_byte(), node.end_byte())
    }

    fn program(&self, root: Node<'_>) -> Result<Vec<Vec<Word>>, Refusal> {
        let before = self.text(0, root.start_byte())?;
        let after = self.text(root.end_byte(), self.source.len())?;
        if !is_space(before) || !is_space(after) {
            return refuse("the command does not parse as plain shell");
        }
        // A worklist, not recursion: a long `a && b && …` is a deep tree.
        let mut commands = Vec::new();
        let mut open = vec![root];
        while let Some(node) = open.pop() {
            match node.kind() {
                "command" => commands.push(self.command(node)?),
                "redirected_statement" => open.push(self.redirected(node)?),
                "program" | "list" | "pipeline" => self.sequence(node, &mut open)?,
                "comment" => self.remark(node)?,
                kind if OPERATORS.contains(&kind) => {}
                kind => return refuse(describe(kind)),
            }
        }
        match (commands.len(), self.audience) {
            (0, _) => refuse("there is no command"),
            (1, _) | (_, CommandCaller::MainAgent) => Ok(commands),
            (2, CommandCaller::BackgroundAgent) if is_one_pipe(root) => Ok(commands),
            (_, CommandCaller::BackgroundAgent) => {
                refuse(describe(if is_pipe(root) { "|" } else { ";" }))
            }
        }
    }

    /// Commands with an operator or a newline between each two.
    fn sequence<'t>(&self, node: Node<'t>, open: &mut Vec<Node<'t>>) -> Result<(), Refusal> {
        let mut end = node.start_byte();
        let mut parted = true;
        for child in children(node) {
            let gap = self.text(end, child.start_byte())?;
            if !is_space(gap) {
                return refuse("the command does not parse as plain shell");
            }
            parted = parted || gap.contains('\n');
            let operator = OPERATORS.contains(&child.kind());
            if !operator && !parted {
                return refuse("the command does not parse as plain shell");
            }
            parted = operator;
            end = child.end_byte();
            open.push(child);
        }
        if is_space(self.text(end, node.end_byte())?) {
            Ok(())
        } else {
            refuse("the command does not parse as plain shell")
        }
    }

    /// A comment that has its line for itself.
    fn remark(&self, node: Node<'_>) -> Result<(), Refusal> {
        let before = self.text(0, node.start_byte())?;
        let line = before.rsplit('\n').next().unwrap_or(before);
        let alone = line.chars().all(|c| c == ' ' || c == '\t');
        let text = self.text_of(node)?;
        if alone && text.starts_with('#') && !text.contains('\n') {
            Ok(())
        } else {
            refuse(describe("comment"))
        }
    }

    /// The statement of which some streams go elsewhere.
    fn redirected<'t>(&self, node: Node<'t>) -> Result<Node<'t>, Refusal> {
        let mut children = self.blank_apart(node)?.into_iter();
        let Some(body) = children.next() else {
            return refuse("a redirection has no command");
        };
        children.try_for_each(|redirect| self.redirect(redirect))?;
        Ok(body)
    }

    fn command(&self, node: Node<'_>) -> Result<Vec<Word>, Refusal> {
        let mut words = Vec::new();
        for child in self.blank_apart(node)? {
            match child.kind() {
                "file_redirect" => self.redirect(child)?,
                "command_name" => {
                    let name = self.text_of(child)?;
                    if !words.is_empty() || !is_plain_name(name) {
                        return refuse(format!(
                            "`{}` is not the plain name of a program",
                            name.escape_debug()
                        ));
                    }
                    words.push(Word::scan(name, self.audience)?);
                }
                kind if WORDS.contains(&kind) && !words.is_empty() => {
                    words.push(Word::scan(self.text_of(child)?, self.audience)?);
                }
                kind => return refuse(describe(kind)),
            }
        }
        Ok(words)
    }

    /// The children of a node, which fill it but for blanks between them.
    fn blank_apart<'t>(&self, node: Node<'t>) -> Result<Vec<Node<'t>>, Refusal> {
        let children = children(node);
        let mut end = None;
        for child in &children {
            let (from, gap) = match end {
                Some(end) => (end, self.text(end, child.start_byte())?),
                None => (node.start_byte(), ""),
            };
            let apart = !gap.is_empty() && is_blank(gap);
            if (end.is_some() && !apart) || (end.is_none() && from != child.start_byte()) {
                return refuse("the command does not parse as plain shell");
            }
            end = Some(child.end_byte());
        }
        if end == Some(node.end_byte()) {
            Ok(children)
        } else {
            refuse("the command does not parse as plain shell")
        }
    }

    /// To or from `/dev/null`, or one standard stream to another.
    fn redirect(&self, node: Node<'_>) -> Result<(), Refusal> {
        let text = self.text_of(node)?;
        let rest = text.trim_start_matches(['0', '1', '2']);
        let descriptor = text.len().saturating_sub(rest.len());
        let harmless = match rest.strip_prefix(">&") {
            Some(to) => matches!(to, "1" | "2"),
            None => ["&>>", "&>", ">>", ">", "<"]
                .iter()
                .find_map(|operator| rest.strip_prefix(operator))
                .is_some_and(|to| to.trim_start_matches([' ', '\t']) == "/dev/null"),
        };
        let most = usize::from(!rest.starts_with('&'));
        if node.kind() == "file_redirect" && descriptor <= most && harmless {
            return Ok(());
        }
        let target = children(node).last().map_or(Ok(text), |last| self.text_of(*last))?;
        refuse(format!(
            "a redirection to or from `{}` is refused: only /dev/null and the standard streams are harmless",
            target.escape_debug()
        ))
    }
}

fn children(node: Node<'_>) -> Vec<Node<'_>> {
    node.children(&mut node.walk()).collect()
}

fn is_blank(text: &str) -> bool {
    text.chars().all(|c| matches!(c, ' ' | '\t'))
}

/// Whether it is one command piped into another, and nothing else (L6.5).
fn is_one_pipe(root: Node<'_>) -> bool {
    let [pipe] = &*children(root) else { return false };
    let kinds: Vec<&str> = children(*pipe).iter().map(Node::kind).collect();
    pipe.kind() == "pipeline" && kinds == ["command", "|", "command"]
}

fn is_pipe(root: Node<'_>) -> bool {
    children(root).iter().all(|child| child.kind() == "pipeline")
}

fn is_space(text: &str) -> bool {
    text.chars().all(|c| matches!(c, ' ' | '\t' | '\n'))
}

fn is_plain_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | ':');
    !name.is_empty() && name.chars().all(plain)
}
