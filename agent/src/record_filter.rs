//! Lines of transcripts that tell what a command looks for: the cost, the
//! health, hooks that failed. Most lines do not, and need not be decoded.

use everfold_transcript::line::Line;
use everfold_transcript::{Decoded, decode};

/// The record of a line that has one of these parts in it. Lines that a fork
/// copied count where they were written, and are none here.
#[must_use]
pub fn telling(line: &[u8], parts: &[&str]) -> Option<Box<Line>> {
    let text = std::str::from_utf8(line).ok()?;
    if !parts.iter().any(|part| text.contains(part)) {
        return None;
    }
    match decode(line) {
        Ok(Decoded::Record(line)) if line.facts.forked_from.is_none() => Some(line),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn q10_lines_that_say_nothing_are_passed_over() {
        let line = |own: serde_json::Value| own.to_string().into_bytes();
        let user = json!({"type": "user", "uuid": "u", "timestamp": "2026-01-01T00:00:00Z",
            "message": {"role": "user", "content": "compact_boundary"}});
        let mut copied = user.clone();
        copied["forkedFrom"] = json!({"sessionId": "s", "messageUuid": "o"});
        let parts = ["compact_boundary"];
        assert!(telling(&line(user.clone()), &parts).is_some());
        assert!(telling(&line(user), &["everfold_booked"]).is_none());
        assert!(telling(&line(copied), &parts).is_none());
        for broken in [&b"\xff compact_boundary"[..], b"{compact_boundary", b""] {
            assert!(telling(broken, &parts).is_none());
        }
    }
}
