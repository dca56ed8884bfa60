//! Lines of standard input, read by a thread of their own.
//!
//! After a command that a person typed, the next line is read only when it is
//! asked for: a command may start an editor, which reads the same keys.
//!
//! What a person typed before a question could be read does not answer it (U1):
//! whole lines become prompts, and one that was only begun is dropped.

use crate::presenter::{Presenter, TextStyle};
use std::collections::VecDeque;
use std::io::{self, BufRead, IsTerminal, Read};
use std::sync::mpsc;
use std::time::Duration;
use tokio::sync::mpsc::{Receiver, channel};
use tokio::time::{Instant, timeout_at};

/// Pieces that are read ahead.
const AHEAD: usize = 64;
/// Longest line.
const MOST_BYTES: u64 = 4 << 20;
/// How long a question is there before a line answers it.
const GUARD: Duration = Duration::from_millis(600);
/// How long a line that was begun takes from the terminal to here.
const PASSAGE: Duration = Duration::from_millis(100);

/// The lines.
pub(crate) struct Lines {
    receiver: Receiver<Piece>,
    source: Source,
    /// Lets the thread go on after a command.
    go_on: mpsc::Sender<()>,
    /// Whether it waits for that.
    held: bool,
    /// What came of a line so far.
    begun: String,
    /// Lines that were typed before a question: prompts.
    ahead: VecDeque<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    Terminal,
    Pipe,
}

/// What one look at the input gives.
#[derive(Debug, PartialEq, Eq)]
enum Piece {
    Line(String),
    /// A line without its end.
    Begun(String),
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
            while let Some(piece) = source.read(&mut input) {
                let holds = source.holds(&piece);
                let sent = sender.blocking_send(piece).is_ok();
                if !sent || (holds && may_go_on.recv().is_err()) {
                    return;
                }
            }
        });
        Self { receiver, source, go_on, held: false, begun: String::new(), ahead: VecDeque::new() }
    }

    /// The next line; none at the end.
    pub(super) async fn next(&mut self) -> Option<String> {
        match self.ahead.pop_front() {
            Some(line) => Some(line),
            None => self.answer().await,
        }
    }

    /// The next line that was not typed before a question.
    pub(super) async fn answer(&mut self) -> Option<String> {
        loop {
            match self.receive().await {
                Some(Piece::Begun(part)) => self.begun.push_str(&part),
                Some(Piece::Line(end)) => return Some(std::mem::take(&mut self.begun) + &end),
                None if self.begun.is_empty() => return None,
                None => return Some(std::mem::take(&mut self.begun)),
            }
        }
    }

    async fn receive(&mut self) -> Option<Piece> {
        if std::mem::take(&mut self.held) {
            // The thread ended where nobody hears it.
            let _ = self.go_on.send(());
        }
        let piece = self.receiver.recv().await?;
        self.held = self.source.holds(&piece);
        Some(piece)
    }

    /// Whether a person types them.
    pub(super) fn are_typed(&self) -> bool {
        self.source == Source::Terminal
    }

    /// Keeps what a person typed so far from answering a question that is on
    /// the screen now. Lines of a pipe stay: they are meant for whoever asks.
    pub(super) async fn settle(&mut self, presenter: &Presenter) -> io::Result<()> {
        if !self.are_typed() {
            return Ok(());
        }
        self.drain(Instant::now() + GUARD).await;
        terminal::release_begun();
        self.drain(Instant::now() + PASSAGE).await;
        let begun = std::mem::take(&mut self.begun);
        if !begun.trim().is_empty() {
            let note = format!("\ntyped before the question, and dropped: {begun}");
            presenter.styled(TextStyle::Dim, &format!("{note}\n"))?;
        }
        Ok(())
    }

    async fn drain(&mut self, until: Instant) {
        while let Ok(Some(piece)) = timeout_at(until, self.receive()).await {
            match piece {
                Piece::Begun(part) => self.begun.push_str(&part),
                Piece::Line(end) => {
                    self.ahead.push_back(std::mem::take(&mut self.begun) + &end);
                }
            }
        }
    }
}

impl Source {
    /// Whether the next line waits until this one was acted upon.
    fn holds(self, piece: &Piece) -> bool {
        let is_command = |line: &str| line.starts_with('/');
        self == Self::Terminal && matches!(piece, Piece::Line(line) if is_command(line))
    }

    fn read(self, input: &mut impl BufRead) -> Option<Piece> {
        match self {
            Self::Terminal => typed(input),
            Self::Pipe => read_line(input).map(Piece::Line),
        }
    }
}

/// One line of standard input, where no thread reads it.
pub(super) fn one() -> Option<String> {
    read_line(&mut std::io::stdin().lock())
}

/// The same as [`Lines::settle`] there: what was typed so far is dropped.
pub(super) async fn settle_terminal() {
    if std::io::stdin().is_terminal() {
        tokio::time::sleep(GUARD).await;
        terminal::drop_typed();
    }
}

/// What a terminal hands over at once: a line, or what was begun of one.
fn typed(input: &mut impl BufRead) -> Option<Piece> {
    let chunk = input.fill_buf().ok()?;
    let end = chunk.iter().position(|byte| *byte == b'\n');
    let (text, used) = match end {
        Some(at) => (chunk.get(..at)?, at + 1),
        None => (chunk, chunk.len()),
    };
    if used == 0 {
        return None;
    }
    let text = String::from_utf8_lossy(text).into_owned();
    input.consume(used);
    Some(if end.is_some() { Piece::Line(text) } else { Piece::Begun(text) })
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

/// What the terminal still holds of what was typed. A terminal that cannot be
/// asked keeps it.
#[cfg(unix)]
mod terminal {
    use rustix::termios::{LocalModes, OptionalActions, QueueSelector};
    use rustix::termios::{tcflush, tcgetattr, tcsetattr};

    /// Lets go of a line that has no end yet: a terminal that does not wait for
    /// the ends of lines hands over what it has.
    pub(super) fn release_begun() {
        let input = std::io::stdin();
        let Ok(usual) = tcgetattr(&input) else { return };
        let mut eager = usual.clone();
        eager.local_modes.remove(LocalModes::ICANON);
        if tcsetattr(&input, OptionalActions::Now, &eager).is_ok() {
            let _ = tcsetattr(&input, OptionalActions::Now, &usual);
        }
    }

    pub(super) fn drop_typed() {
        let _ = tcflush(std::io::stdin(), QueueSelector::IFlush);
    }
}

#[cfg(not(unix))]
mod terminal {
    pub(super) fn release_begun() {}

    pub(super) fn drop_typed() {}
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

    #[test]
    fn u1_a_line_that_was_begun_is_told_from_a_whole_one() {
        let mut input: &[u8] = b"one\n\ntw";
        let pieces: Vec<Piece> = std::iter::from_fn(|| typed(&mut input)).collect();
        let line = |text: &str| Piece::Line(text.into());
        assert_eq!(pieces, [line("one"), line(""), Piece::Begun("tw".into())]);
    }
}
