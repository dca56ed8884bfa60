//! Lines of standard input, read by a thread of their own.
//!
//! After a command that a person typed, the next line is read only when it is
//! asked for: a command may start an editor, which reads the same keys.

use std::io::{BufRead, IsTerminal, Read};
use std::sync::mpsc;
use tokio::sync::mpsc::{Receiver, channel};

/// Lines that are read ahead.
const AHEAD: usize = 64;
/// Longest line.
const MOST_BYTES: u64 = 4 << 20;

/// The lines.
pub(crate) struct Lines {
    receiver: Receiver<String>,
    source: Source,
    /// Lets the thread go on after a command.
    go_on: mpsc::Sender<()>,
    /// Whether it waits for that.
    held: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    Terminal,
    Pipe,
}

impl Lines {
    /// Starts to read. The thread ends with the input, or with the process.
    pub(super) fn start() -> Self {
        let (sender, receiver) = channel(AHEAD);
        let typed = std::io::stdin().is_terminal();
        let source = if typed { Source::Terminal } else { Source::Pipe };
        let (go_on, may_go_on) = mpsc::channel();
        std::thread::spawn(move || {
            let mut input = std::io::stdin().lock();
            while let Some(line) = read_line(&mut input) {
                let holds = source.holds(&line);
                let sent = sender.blocking_send(line).is_ok();
                if !sent || (holds && may_go_on.recv().is_err()) {
                    return;
                }
            }
        });
        Self { receiver, source, go_on, held: false }
    }

    /// The next line; none at the end.
    pub(super) async fn next(&mut self) -> Option<String> {
        if std::mem::take(&mut self.held) {
            // The thread ended where nobody hears it.
            let _ = self.go_on.send(());
        }
        let line = self.receiver.recv().await?;
        self.held = self.source.holds(&line);
        Some(line)
    }

    /// Whether a person types them.
    pub(super) fn are_typed(&self) -> bool {
        self.source == Source::Terminal
    }

    /// Lines that a person typed and nobody has read yet. Those of a pipe stay:
    /// they are meant for whoever asks next.
    pub(super) fn typed_ahead(&mut self) -> Vec<String> {
        let mut lines = Vec::new();
        if self.are_typed() {
            while let Ok(line) = self.receiver.try_recv() {
                self.held = self.source.holds(&line);
                lines.push(line);
            }
        }
        lines
    }
}

impl Source {
    /// Whether the next line waits until this one was acted upon.
    fn holds(self, line: &str) -> bool {
        self == Self::Terminal && line.starts_with('/')
    }
}

/// One line of standard input, where no thread reads it.
pub(super) fn one() -> Option<String> {
    read_line(&mut std::io::stdin().lock())
}

fn read_line(input: &mut impl BufRead) -> Option<String> {
    let mut bytes = Vec::new();
    match input.take(MOST_BYTES).read_until(b'\n', &mut bytes) {
        Ok(0) | Err(_) => None,
        Ok(_) => {
            let text = String::from_utf8_lossy(&bytes);
            Some(text.trim_end_matches(['\n', '\r']).to_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s6_lines_may_hold_anything() {
        let mut input: &[u8] = b"one\r\n\xff\n\nlast";
        let lines: Vec<String> = std::iter::from_fn(|| read_line(&mut input)).collect();
        assert_eq!(lines, ["one", "\u{fffd}", "", "last"]);
    }
}
