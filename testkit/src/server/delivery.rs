//! How an answer reaches the client: in which chunks, with which gaps and
//! breaks. Every fault of a body is made here, for both APIs.

use super::state::Shared;
use crate::scenario::{Reply, STALL_GATE, ServerFault};
use axum::body::Body;
use bytes::Bytes;
use futures_util::stream;
use std::collections::{BTreeSet, VecDeque};
use std::io;
use std::time::Duration;
use tokio::sync::watch;

/// Time for what was sent to leave before a connection is broken: the server
/// library drops what it still holds.
const BEFORE_BREAK: Duration = Duration::from_millis(20);

/// One thing that happens to a body.
#[derive(Debug, PartialEq)]
pub(super) enum Act {
    Send(Bytes),
    /// Wait for a gate.
    Wait(String),
    Break,
}

/// How the API writes an `error` event.
pub(super) type ErrorEvent = fn(error_type: &str, message: &str) -> String;

/// The body to which this happens.
pub(super) fn body(acts: VecDeque<Act>, shared: &Shared) -> Body {
    let state = (acts, shared.gates());
    Body::from_stream(stream::unfold(state, |(mut acts, mut gates)| async move {
        let item = next(&mut acts, &mut gates).await?;
        if item.is_err() {
            tokio::time::sleep(BEFORE_BREAK).await;
        }
        Some((item, (acts, gates)))
    }))
}

/// A body that breaks before the headers are out: they leave with the first
/// bytes of the body, and there are none.
pub(super) fn broken() -> Body {
    Body::from_stream(stream::iter([Err::<Bytes, _>(reset())]))
}

fn reset() -> io::Error {
    io::Error::new(io::ErrorKind::ConnectionReset, "the scenario breaks here")
}

/// The next bytes of a body, once its gates are open.
pub(super) async fn next(
    acts: &mut VecDeque<Act>,
    gates: &mut watch::Receiver<BTreeSet<String>>,
) -> Option<io::Result<Bytes>> {
    loop {
        match acts.pop_front()? {
            Act::Send(bytes) => {
                // The chunk before leaves on its own, not together with this.
                tokio::task::yield_now().await;
                return Some(Ok(bytes));
            }
            Act::Wait(name) => {
                // An error means that the server is gone.
                let opened = gates.wait_for(|released| released.contains(&name)).await;
                if opened.is_err() {
                    return None;
                }
            }
            Act::Break => return Some(Err(reset())),
        }
    }
}

/// What happens to a body whose events are these.
pub(super) fn plan(
    mut events: Vec<String>,
    reply: &Reply,
    error_event: ErrorEvent,
) -> VecDeque<Act> {
    let mut gates: Vec<(usize, String)> = Vec::new();
    let mut breaks = false;
    let mut cut_bytes = None;
    let mut split_utf8 = false;
    for fault in &reply.faults {
        match fault {
            ServerFault::CutAfterEvents(count) => {
                events.truncate(*count);
                breaks = true;
            }
            ServerFault::EndAfterEvents(count) => events.truncate(*count),
            ServerFault::CutAfterBytes(count) => cut_bytes = Some(*count),
            ServerFault::ErrorEvent { after_events, error_type, message } => {
                events.truncate(*after_events);
                events.push(error_event(error_type, message));
            }
            ServerFault::Garbage { after_events, text } => {
                events.insert((*after_events).min(events.len()), text.clone());
            }
            ServerFault::Stall { after_events } => gates.push((*after_events, STALL_GATE.into())),
            ServerFault::SplitUtf8 => split_utf8 = true,
            ServerFault::Bom => {
                if let Some(first) = events.first_mut() {
                    first.insert(0, '\u{feff}');
                }
            }
            ServerFault::Error { .. }
            | ServerFault::PromptTooLong { .. }
            | ServerFault::CloseBeforeHeaders
            | ServerFault::InvalidToolJson(_) => {}
        }
    }
    if let Some(gate) = &reply.gate {
        gates.push((gate.after_events, gate.name.clone()));
    }
    let chunking = match (reply.chunk_bytes, split_utf8) {
        (_, true) => Chunking::InsideCharacters,
        (Some(bytes), false) => Chunking::Bytes(bytes.max(1)),
        (None, false) => Chunking::Events,
    };
    let mut acts = chunked(&events, &gates, chunking);
    if let Some(limit) = cut_bytes {
        cut(&mut acts, limit);
        breaks = true;
    }
    if breaks {
        acts.push_back(Act::Break);
    }
    acts
}

#[derive(Clone, Copy)]
enum Chunking {
    Events,
    Bytes(usize),
    InsideCharacters,
}

/// Events as chunks, with the gates where they stand.
fn chunked(events: &[String], gates: &[(usize, String)], chunking: Chunking) -> VecDeque<Act> {
    let mut acts = VecDeque::new();
    let mut pending = Vec::new();
    for at in 0..=events.len() {
        for (_, name) in gates.iter().filter(|(after, _)| *after == at) {
            flush(&mut pending, chunking, &mut acts);
            acts.push_back(Act::Wait(name.clone()));
        }
        if let Some(event) = events.get(at) {
            pending.extend_from_slice(event.as_bytes());
            if matches!(chunking, Chunking::Events) {
                flush(&mut pending, chunking, &mut acts);
            }
        }
    }
    flush(&mut pending, chunking, &mut acts);
    acts
}

fn flush(pending: &mut Vec<u8>, chunking: Chunking, acts: &mut VecDeque<Act>) {
    let bytes = Bytes::from(std::mem::take(pending));
    if bytes.is_empty() {
        return;
    }
    let ends: Vec<usize> = match chunking {
        Chunking::Events => Vec::new(),
        Chunking::Bytes(size) => (size..bytes.len()).step_by(size).collect(),
        // A byte that continues a character: the cut goes before it.
        Chunking::InsideCharacters => bytes
            .iter()
            .enumerate()
            .filter(|(_, byte)| (0x80..0xC0).contains(*byte))
            .map(|(at, _)| at)
            .collect(),
    };
    let mut start = 0;
    for end in ends.into_iter().chain([bytes.len()]) {
        acts.push_back(Act::Send(bytes.slice(start..end)));
        start = end;
    }
}

/// Keeps the first `limit` bytes.
fn cut(acts: &mut VecDeque<Act>, limit: usize) {
    let mut left = limit;
    let mut kept = VecDeque::new();
    for act in acts.drain(..) {
        match act {
            Act::Send(bytes) if bytes.len() > left => {
                kept.push_back(Act::Send(bytes.slice(..left)));
                break;
            }
            Act::Send(bytes) => {
                left -= bytes.len();
                kept.push_back(Act::Send(bytes));
            }
            other => kept.push_back(other),
        }
    }
    *acts = kept;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(acts: &VecDeque<Act>) -> Vec<&[u8]> {
        acts.iter()
            .filter_map(|act| match act {
                Act::Send(bytes) => Some(bytes.as_ref()),
                _ => None,
            })
            .collect()
    }

    fn no_event(_: &str, _: &str) -> String {
        String::new()
    }

    #[test]
    fn s6_chunks_end_inside_characters() {
        let reply = Reply::default().fault(ServerFault::SplitUtf8);
        let acts = plan(vec!["aé€".into()], &reply, no_event);
        assert_eq!(sent(&acts), [&b"a\xc3"[..], &b"\xa9\xe2"[..], &b"\x82"[..], &b"\xac"[..]]);
    }

    #[test]
    fn s6_a_cut_keeps_exactly_so_many_bytes() {
        for limit in 0..=6 {
            let reply = Reply::default().fault(ServerFault::CutAfterBytes(limit));
            let acts = plan(vec!["abc".into(), "def".into()], &reply, no_event);
            assert_eq!(sent(&acts).concat(), b"abcdef"[..limit]);
            assert_eq!(acts.back(), Some(&Act::Break));
        }
    }

    #[test]
    fn q8_gates_stand_after_their_event() {
        let reply = Reply::default().gate("g").chunk_bytes(2);
        let acts = plan(vec!["abc".into(), "def".into()], &reply, no_event);
        assert_eq!(acts.get(2), Some(&Act::Wait("g".into())));
        assert_eq!(sent(&acts), [&b"ab"[..], b"c", b"de", b"f"]);
    }
}
