//! Server-sent events, cut out of bytes as they come.
//!
//! The decoder takes chunks of any size and gives whole events. It follows the
//! WHATWG rules: lines end with LF, CR or CRLF, a byte order mark at the start
//! is dropped, comments and unknown fields are passed over, an event without
//! data is none. Bytes that are not UTF-8 become replacement characters, once
//! the line is whole, so that a character split over two chunks survives.
//!
//! What it holds is bounded: an event over the limit is an error, because a
//! server that never ends one must not fill the memory.

use everfold_kernel::{Class, Classify};

const BOM: &[u8] = b"\xEF\xBB\xBF";

/// One event of a stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SseEvent {
    /// The `event` field; empty where there was none.
    pub name: String,
    /// The `data` lines, joined by newlines.
    pub data: String,
}

/// Why a stream cannot be decoded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// An event does not end within the limit.
    #[error("an event of the stream is larger than {limit} bytes; raise sse_event_bytes")]
    EventTooLarge {
        /// The limit in force.
        limit: usize,
    },
}

impl Classify for Error {
    fn class(&self) -> Class {
        Class::Retry
    }
}

/// How a stream ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// After a whole event.
    Clean,
    /// Within an event, which is lost.
    Unfinished,
}

/// Cuts bytes into events.
///
/// ```
/// let mut decoder = everfold_wire::sse::Decoder::new(1024);
/// assert!(decoder.push(b"event: ping\ndata: {").unwrap().is_empty());
/// let events = decoder.push(b"}\n\n").unwrap();
/// assert_eq!((events[0].name.as_str(), events[0].data.as_str()), ("ping", "{}"));
/// ```
#[derive(Clone, Debug)]
pub struct Decoder {
    limit: usize,
    line: Vec<u8>,
    event: SseEvent,
    has_data: bool,
    at_start: bool,
    after_cr: bool,
}

impl Decoder {
    /// A decoder that refuses events of more than `max_event_bytes`.
    #[must_use]
    pub fn new(max_event_bytes: usize) -> Self {
        Self {
            limit: max_event_bytes,
            line: Vec::new(),
            event: SseEvent::default(),
            has_data: false,
            at_start: true,
            after_cr: false,
        }
    }

    /// Takes the next bytes and gives the events that they complete.
    ///
    /// # Errors
    /// When an event is over the limit; the decoder is of no use after that.
    pub fn push(&mut self, bytes: &[u8]) -> Result<Vec<SseEvent>, Error> {
        let mut events = Vec::new();
        let mut rest = bytes;
        if self.after_cr && !rest.is_empty() {
            self.after_cr = false;
            rest = rest.strip_prefix(b"\n").unwrap_or(rest);
        }
        while let Some(at) = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            let (line, tail) = rest.split_at(at);
            self.grow(line)?;
            rest = match tail.split_first() {
                Some((b'\r', [])) => {
                    self.after_cr = true;
                    &[]
                }
                Some((b'\r', after)) => after.strip_prefix(b"\n").unwrap_or(after),
                Some((_, after)) => after,
                None => &[],
            };
            self.end_line(&mut events);
        }
        self.grow(rest)?;
        Ok(events)
    }

    /// Says whether the bytes ended within an event.
    #[must_use]
    pub fn finish(&self) -> End {
        if self.line.is_empty() && !self.has_data && self.event.name.is_empty() {
            End::Clean
        } else {
            End::Unfinished
        }
    }

    fn grow(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let held = self.line.len() + self.event.name.len() + self.event.data.len();
        if held + bytes.len() > self.limit {
            return Err(Error::EventTooLarge { limit: self.limit });
        }
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    fn end_line(&mut self, events: &mut Vec<SseEvent>) {
        let line = std::mem::take(&mut self.line);
        let mut bytes = line.as_slice();
        if self.at_start {
            self.at_start = false;
            bytes = bytes.strip_prefix(BOM).unwrap_or(bytes);
        }
        if bytes.is_empty() {
            let event = std::mem::take(&mut self.event);
            if std::mem::take(&mut self.has_data) {
                events.push(event);
            }
            return;
        }
        let text = String::from_utf8_lossy(bytes);
        let (field, value) = text.split_once(':').unwrap_or((&text, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "data" => {
                if self.has_data {
                    self.event.data.push('\n');
                }
                self.has_data = true;
                self.event.data.push_str(value);
            }
            "event" => value.clone_into(&mut self.event.name),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(bytes: &[u8]) -> Vec<(String, String)> {
        let mut decoder = Decoder::new(10_000);
        decoder.push(bytes).unwrap().into_iter().map(|event| (event.name, event.data)).collect()
    }

    #[test]
    fn s6_line_ends_comments_bom_and_unknown_fields_are_taken() {
        let text = "\u{feff}event: a\r\ndata: 1\r\n: comment\r\nid: 7\r\nwhat\r\ndata:2\r\n\r\nevent: b\rdata:  3\r\rdata\n\nevent: none\n\n";
        assert_eq!(
            events(text.as_bytes()),
            [
                ("a".to_owned(), "1\n2".to_owned()),
                ("b".to_owned(), " 3".to_owned()),
                (String::new(), String::new()),
            ]
        );
    }

    #[test]
    fn s6_an_event_over_the_limit_is_refused() {
        let mut decoder = Decoder::new(20);
        decoder.push(b"data: 1234567890\n").unwrap();
        let error = decoder.push(b"data: 1234567890\n").unwrap_err();
        assert_eq!(error, Error::EventTooLarge { limit: 20 });
        let mut decoder = Decoder::new(20);
        for _ in 0..100 {
            decoder.push(b"data: 12345\n\n").unwrap();
        }
    }

    #[test]
    fn s6_an_end_within_an_event_is_told() {
        let mut decoder = Decoder::new(100);
        decoder.push(b"data: 1\n\n").unwrap();
        assert_eq!(decoder.finish(), End::Clean);
        decoder.push(b"data: 1\n").unwrap();
        assert_eq!(decoder.finish(), End::Unfinished);
    }

    #[test]
    fn s6_bytes_that_are_not_utf8_do_not_end_the_stream() {
        assert_eq!(events(b"data: a\xFFb\n\n")[0].1, "a\u{fffd}b");
    }
}
