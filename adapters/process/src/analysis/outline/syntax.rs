//! Where a node of the tree stands: what feeds it, what it is inside of.

use tree_sitter::Node;

/// What may be a word, wherever it stands.
pub(super) const WORD_KINDS: &[&str] = &[
    "word",
    "string",
    "raw_string",
    "ansi_c_string",
    "translated_string",
    "concatenation",
    "number",
    "extglob_pattern",
    "regex",
];

/// Whether something is sent to a command: by a pipe or a substitution.
pub(super) fn feeds(node: Node<'_>) -> bool {
    let piped = ancestor(node, "pipeline").is_some();
    // A redirection of a whole list is that of each program in it.
    let outer = std::iter::successors(node.parent(), Node::parent);
    let outer = outer.take_while(|outer| !outer.kind().ends_with("_substitution"));
    let redirects = outer.flat_map(children).filter(|part| is_redirect(part.kind()));
    let mut parts = redirects.chain([node]).flat_map(all);
    piped || parts.any(|part| part.kind() == "process_substitution")
}

/// Whether the end of a line is part of a word outside of quotes.
pub(super) fn is_over_lines(node: Node<'_>, source: &str) -> bool {
    node.kind() == "word"
        && !is_in_document(node)
        && text_of(node, source).trim_start_matches(' ').contains('\n')
}

fn is_in_document(node: Node<'_>) -> bool {
    std::iter::successors(node.parent(), Node::parent)
        .any(|outer| matches!(outer.kind(), "heredoc_body" | "regex" | "array"))
}

pub(super) fn is_redirect(kind: &str) -> bool {
    matches!(kind, "file_redirect" | "heredoc_redirect" | "herestring_redirect")
}

/// The command that a document or a text is sent to.
pub(super) fn fed_program(node: Node<'_>) -> Option<Node<'_>> {
    let mut at = node.parent();
    while let Some(parent) = at {
        match parent.kind() {
            "command" => return Some(parent),
            "redirected_statement" => {
                return all(parent).into_iter().rfind(|part| part.kind() == "command");
            }
            "heredoc_redirect" | "herestring_redirect" => at = parent.parent(),
            _ => return None,
        }
    }
    None
}

pub(super) fn ancestor<'t>(node: Node<'t>, kind: &str) -> Option<Node<'t>> {
    let mut at = node.parent();
    while let Some(parent) = at {
        if parent.kind() == kind {
            return Some(parent);
        }
        // What is sent to a substitution does not reach what is in it.
        if parent.kind().ends_with("_substitution") {
            return None;
        }
        at = parent.parent();
    }
    None
}

/// Whether a word says where a stream goes.
pub(super) fn is_target(node: Node<'_>) -> bool {
    node.parent().is_some_and(|parent| parent.kind() == "file_redirect")
}

pub(super) fn is_inside_word(node: Node<'_>) -> bool {
    node.parent().is_some_and(|parent| WORD_KINDS.contains(&parent.kind()))
}

pub(super) fn text_of<'a>(node: Node<'_>, source: &'a str) -> &'a str {
    source.get(node.byte_range()).unwrap_or_default()
}

/// What a document in the line says. The grammar leaves out a backslash that it
/// begins with, so it is taken from the line after its mark.
pub(super) fn document_text<'a>(body: Node<'_>, source: &'a str) -> &'a str {
    let mut marks = body.parent().into_iter().flat_map(children);
    let mark = marks.rfind(|part| part.kind() == "heredoc_start");
    let line = mark.and_then(|mark| {
        let behind = source.get(mark.end_byte()..)?.find('\n')?;
        Some(mark.end_byte() + behind + 1)
    });
    let start = line.unwrap_or(body.start_byte()).min(body.start_byte());
    source.get(start..body.end_byte()).unwrap_or_default()
}

pub(super) fn children(node: Node<'_>) -> Vec<Node<'_>> {
    node.children(&mut node.walk()).collect()
}

/// A node and all below it. A worklist: trees are as deep as lines are long.
pub(super) fn all(node: Node<'_>) -> Vec<Node<'_>> {
    let mut found = Vec::new();
    let mut open = vec![node];
    while let Some(node) = open.pop() {
        found.push(node);
        let mut below = children(node);
        below.reverse();
        open.extend(below);
    }
    found
}
