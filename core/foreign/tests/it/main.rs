//! Files of every generation, and files that nobody should have written.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "tests"
)]

mod claude;
mod codex;
mod gemini;
mod hostile;
mod pi;
mod real;

use everfold_foreign::{About, Reader, TranscriptEvent, What};
use everfold_kernel::{Entry, Record, UserOrigin};

/// All that a file tells.
pub(crate) fn read(text: &[u8]) -> (Vec<TranscriptEvent>, About) {
    let mut told = Vec::new();
    let mut reader = Reader::new();
    for line in text.split(|byte| *byte == b'\n') {
        reader.push(line, &mut |one| told.push(one));
    }
    let about = reader.finish(&mut |one| told.push(one));
    (told, about)
}

/// What was told, in one line each: the thread and what it is.
pub(crate) fn lines(told: &[TranscriptEvent]) -> Vec<String> {
    told.iter().map(|one| format!("{} {}", one.thread.0, line(&one.what))).collect()
}

fn line(what: &What) -> String {
    let record = match what {
        What::Record(record) => record,
        What::Rewound { dropped } => {
            let ids: Vec<&str> = dropped.iter().map(everfold_kernel::RecordId::as_str).collect();
            return format!("back {}", ids.join(","));
        }
    };
    let id = &record.id;
    match &record.entry {
        Entry::User(user) => {
            let origin = match user.origin {
                UserOrigin::Human => "human",
                UserOrigin::ToolResult => "result",
                UserOrigin::Meta => "meta",
                UserOrigin::CompactSummary => "summary",
            };
            let text: Vec<String> =
                user.content.iter().map(everfold_kernel::Block::plain_text).collect();
            format!("{id} {origin} {}", text.join("|"))
        }
        Entry::Assistant(entry) => {
            let (message, index, output) = (&entry.message_id, entry.index, entry.usage.output);
            format!("{id} {message}#{index} {} out {output}", entry.block.kind())
        }
        Entry::Attachment(own) => format!("{id} attached {}", own.kind),
        Entry::Boundary(own) => {
            let kept: Vec<&str> =
                own.preserved.iter().map(everfold_kernel::RecordId::as_str).collect();
            format!("{id} boundary keeps {}", kept.join(","))
        }
        Entry::Decision(own) => {
            format!("{id} {}", serde_json::to_value(own).unwrap()["kind"].as_str().unwrap())
        }
        Entry::Opaque(_) => format!("{id} opaque"),
    }
}

/// The records that were told.
pub(crate) fn records(told: &[TranscriptEvent]) -> impl Iterator<Item = &Record> {
    told.iter().filter_map(|one| match &one.what {
        What::Record(record) => Some(&**record),
        What::Rewound { .. } => None,
    })
}
