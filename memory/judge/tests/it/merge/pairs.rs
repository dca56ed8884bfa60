//! Pairs of a known memory and something new, with what becomes of them.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    New,
    Same,
    Extends,
    Supersedes,
}

pub(super) struct Row {
    pub(super) class: Class,
    /// The name and the body of what is known.
    pub(super) name: &'static str,
    pub(super) body: String,
    pub(super) new: &'static str,
    /// What the memory then says, and what it does not say any more.
    pub(super) has: Vec<String>,
    pub(super) lacks: Vec<String>,
}

/// The rows of `pairs.txt`: class, name, body, what is new, what is in and
/// what is out.
pub(super) fn rows() -> Vec<Row> {
    let lines = include_str!("pairs.txt").lines().filter(|line| !line.starts_with('#'));
    lines.map(row).collect()
}

fn row(line: &'static str) -> Row {
    let fields: Vec<&str> = line.split('|').map(str::trim).collect();
    let list = |at: usize| {
        let parts = fields.get(at).copied().unwrap_or_default().split(" & ");
        parts.filter(|part| !part.is_empty()).map(lines).collect()
    };
    Row {
        class: match fields[0] {
            "New" => Class::New,
            "Same" => Class::Same,
            "Extends" => Class::Extends,
            "Supersedes" => Class::Supersedes,
            other => panic!("no class {other}"),
        },
        name: fields[1],
        body: lines(fields[2]),
        new: fields[3],
        has: list(4),
        lacks: list(5),
    }
}

fn lines(text: &str) -> String {
    text.replace("\\n", "\n")
}
