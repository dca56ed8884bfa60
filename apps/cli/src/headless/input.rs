//! What was piped into standard input.

use crate::failure::Usage;
use anyhow::Result;
use everfold_agent::Waiting;
use std::io::{IsTerminal, Read};
use std::iter;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// Most bytes that are taken.
const MOST_BYTES: u64 = 16 << 20;
/// How long a pipe may stay silent where there is a prompt already.
const PATIENCE: Duration = Duration::from_secs(3);

/// Whether the prompt is to come from standard input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Need {
    /// There is no other prompt.
    All,
    /// There is one; a pipe that nobody writes to is left alone.
    IfAny,
}

/// A text that was piped in.
#[derive(Debug, Default)]
pub(crate) struct Piped {
    /// The text; empty where there was none.
    pub(super) text: String,
    /// What the person should know of it.
    pub(super) note: Option<String>,
}

impl Piped {
    /// Reads standard input to its end, unless it is a terminal.
    pub(super) fn read(need: Need) -> Result<Self> {
        if std::io::stdin().is_terminal() {
            return Ok(Self::default());
        }
        let (sender, receiver) = channel();
        // The thread ends with the pipe, or with the process.
        std::thread::spawn(move || {
            let mut input = std::io::stdin().lock();
            let mut bytes = Vec::new();
            let mut first = [0];
            if let Ok(1) = input.read(&mut first) {
                bytes.extend(first);
                let _ = sender.send(None);
                let _ = input.take(MOST_BYTES).read_to_end(&mut bytes);
            }
            let _ = sender.send(Some(bytes));
        });
        let first = match need {
            Need::All => receiver.recv().unwrap_or_default(),
            Need::IfAny => match receiver.recv_timeout(PATIENCE) {
                Err(RecvTimeoutError::Timeout) => {
                    let note = "nothing came from standard input; continuing without it";
                    return Ok(Self { note: Some(note.into()), ..Self::default() });
                }
                message => message.unwrap_or_default(),
            },
        };
        let bytes = first.or_else(|| receiver.recv().ok().flatten()).unwrap_or_default();
        Self::from_bytes(&bytes)
    }

    /// The text behind what was given as the prompt.
    pub(super) fn behind(&self, given: &str) -> Waiting {
        let piped = self.text.trim_end();
        match (given.trim().is_empty(), piped.is_empty()) {
            (_, true) => Waiting { text: given.to_owned(), pasted: Vec::new() },
            (true, false) => {
                Waiting { text: piped.to_owned(), pasted: iter::once(0..piped.len()).collect() }
            }
            (false, false) => {
                let text = format!("{given}\n\n{piped}");
                let pasted = iter::once(text.len() - piped.len()..text.len()).collect();
                Waiting { text, pasted }
            }
        }
    }

    fn from_bytes(bytes: &[u8]) -> Result<Self> {
        if bytes.len() as u64 > MOST_BYTES {
            let message = format!("standard input has more than {MOST_BYTES} bytes");
            return Err(Usage::new(message, "write it to a file and name that file").into());
        }
        let text = String::from_utf8_lossy(bytes).into_owned();
        let broken = std::str::from_utf8(bytes).is_err();
        let note =
            broken.then(|| "parts of standard input are not UTF-8 and were replaced".to_owned());
        Ok(Self { text, note })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s6_input_that_is_not_utf8_is_told_and_used() {
        let piped = Piped::from_bytes(b"a\xffb").unwrap();
        assert_eq!(piped.text, "a\u{fffd}b");
        assert!(piped.note.is_some());
    }

    #[test]
    fn l5_33_what_is_piped_in_is_pasted_and_the_argument_is_typed() {
        let piped = Piped::from_bytes(b"boom\n").unwrap();
        let both = piped.behind("fix this");
        assert_eq!(
            (both.text.as_str(), both.pasted),
            ("fix this\n\nboom", iter::once(10..14).collect())
        );
        let alone = piped.behind("");
        assert_eq!((alone.text.as_str(), alone.pasted.len()), ("boom", 1));
        assert!(Piped::default().behind("fix this").pasted.is_empty());
    }

    #[test]
    fn s6_endless_input_is_refused() {
        let bytes = vec![b'x'; usize::try_from(MOST_BYTES).unwrap() + 1];
        assert!(Piped::from_bytes(&bytes).is_err());
    }
}
