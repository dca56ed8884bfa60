//! Reads a prompt paragraph by paragraph, and says what is not typed.

use super::form::{Form, closes_armour, opens_armour};
use super::intro::{self, More};
use super::quotation;
use crate::phrase::{fold, part, weight};
use crate::wish;
use std::ops::Range;

/// Lines of a remark after a pasted document.
const REMARK_LINES: usize = 4;
/// Bytes before a quotation in which the wish is looked for that it is part of.
const CLAUSE_BYTES: usize = 300;
/// Fewest words before a quotation that is part of a wish.
const LEAST_BEFORE: usize = 3;

struct Line<'a> {
    range: Range<usize>,
    text: &'a str,
    low: &'a str,
    form: Form,
}

/// Lines without a blank one between them.
struct Paragraph<'a> {
    lines: Vec<Line<'a>>,
}

/// What was read last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Own,
    /// What the person introduced; nothing of it was read yet.
    Introduced,
    /// A paste that nobody types: after it the person may go on.
    Shaped,
    /// A fence or a quotation: where it ends is plain.
    Fenced,
    /// A document in plain words: it may go on for long.
    Document,
}

/// How a piece begins: what the person types, they type in one style.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Style {
    Lower,
    Upper,
    Unknown,
}

impl Style {
    fn of(text: &str) -> Self {
        match text.chars().find(|c| c.is_alphabetic()) {
            Some(c) if c.is_lowercase() => Self::Lower,
            Some(c) if c.is_uppercase() => Self::Upper,
            _ => Self::Unknown,
        }
    }
}

/// The bytes of a prompt that are not typed, by their form.
pub(super) fn foreign(prompt: &str) -> Vec<Range<usize>> {
    let low = fold(prompt);
    let paragraphs = paragraphs(prompt, &low);
    let lines: usize = paragraphs.iter().map(|paragraph| paragraph.lines.len()).sum();
    let mut reader = Reader {
        found: Vec::new(),
        mode: Mode::Own,
        style: paragraphs
            .first()
            .and_then(|p| p.lines.first())
            .filter(|line| line.form == Form::Prose)
            .map_or(Style::Unknown, |line| Style::of(line.text)),
        letter: is_letter(&paragraphs),
        single: lines <= 1,
    };
    let last = paragraphs.len().saturating_sub(1);
    for (n, paragraph) in paragraphs.iter().enumerate() {
        let place = if n == last { Place::Last } else { Place::Before };
        let more = if n < last { More::Lines } else { More::Nothing };
        reader.read(paragraph, if n == 0 { Place::First } else { place }, more);
    }
    let mut found = reader.found;
    found.extend(quoted(prompt, &low));
    found
}

/// Long quotations, but for those within a wish: they are part of it.
fn quoted(prompt: &str, low: &str) -> Vec<Range<usize>> {
    let mut all = quotation::long(prompt);
    let first = low.find('\n').unwrap_or(low.len());
    let opened = wish::opens(part(low, 0..first)).is_some();
    all.retain(|range| {
        let near = low.floor_char_boundary(range.start.saturating_sub(CLAUSE_BYTES));
        let before = part(low, near..range.start);
        let before = before.rsplit('\n').next().unwrap_or(before);
        let clause = before.rfind(". ").map_or(before, |at| part(before, at + 2..before.len()));
        let own = opened && range.start < first || wish::has_cue(clause);
        let whole = clause.trim_end().ends_with([':', '：', ',']);
        !own || whole || weight(clause) < LEAST_BEFORE
    });
    all
}

fn is_letter(paragraphs: &[Paragraph<'_>]) -> bool {
    let has = |form| paragraphs.iter().flat_map(|p| &p.lines).any(|line| line.form == form);
    has(Form::Greeting) && has(Form::Farewell)
}

/// The paragraphs of a prompt. A fence, and a key in armour, is one.
fn paragraphs<'a>(prompt: &'a str, low: &'a str) -> Vec<Paragraph<'a>> {
    let mut all: Vec<Paragraph<'a>> = Vec::new();
    let mut lines: Vec<Line<'a>> = Vec::new();
    let mut start = 0;
    let (mut fenced, mut armoured) = (false, false);
    for text in prompt.split_inclusive('\n') {
        let range = start..start + text.len();
        start = range.end;
        let low = part(low, range.clone());
        let mut form = Form::of(text, low);
        if armoured || opens_armour(text) {
            armoured = !closes_armour(text);
            form = Form::Shaped;
        } else if fenced || form == Form::Fence {
            fenced = fenced != (form == Form::Fence);
            form = Form::Fence;
        }
        if form == Form::Blank {
            if !lines.is_empty() {
                all.push(Paragraph { lines: std::mem::take(&mut lines) });
            }
        } else {
            lines.push(Line { range, text, low, form });
        }
    }
    if !lines.is_empty() {
        all.push(Paragraph { lines });
    }
    all
}

/// Where a paragraph stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    First,
    Before,
    Last,
}

struct Reader {
    found: Vec<Range<usize>>,
    mode: Mode,
    style: Style,
    letter: bool,
    single: bool,
}

impl Reader {
    fn read(&mut self, paragraph: &Paragraph<'_>, place: Place, more: More) {
        let wished = place == Place::First
            && paragraph
                .lines
                .first()
                .is_some_and(|line| line.form == Form::Prose && wish::opens(line.low).is_some());
        if wished {
            self.shaped(paragraph);
            self.mode = Mode::Own;
        } else if self.mode == Mode::Own || self.is_remark(paragraph, place) {
            self.own(paragraph, more);
        } else {
            self.body(paragraph);
        }
    }

    /// Takes the shaped lines of a paragraph, and no others.
    fn shaped(&mut self, paragraph: &Paragraph<'_>) {
        let foreign =
            |line: &&Line<'_>| matches!(line.form, Form::Fence | Form::Quoted | Form::Shaped);
        self.found.extend(paragraph.lines.iter().filter(foreign).map(|line| line.range.clone()));
    }

    /// A paragraph that begins as the person's own.
    fn own(&mut self, paragraph: &Paragraph<'_>, more: More) {
        self.mode = Mode::Own;
        let count = paragraph.lines.len();
        let last_shaped = paragraph
            .lines
            .iter()
            .rposition(|line| matches!(line.form, Form::Shaped | Form::Quoted | Form::Fence));
        for (n, line) in paragraph.lines.iter().enumerate() {
            let follows = if n + 1 < count { More::Lines } else { more };
            match (self.mode, line.form) {
                (Mode::Document, Form::Fence | Form::Quoted | Form::Shaped) => {
                    self.take(line, Mode::Document);
                }
                (_, Form::Fence | Form::Quoted) => self.take(line, Mode::Fenced),
                (_, Form::Shaped) => self.take(line, Mode::Shaped),
                (Mode::Own, Form::Heading) if !self.single => self.take(line, Mode::Document),
                (Mode::Own, Form::Greeting) if self.letter => self.take(line, Mode::Document),
                (Mode::Shaped | Mode::Fenced, _)
                    if last_shaped.is_some_and(|last| n < last)
                        || is_risky(line.low) && !self.goes_on(paragraph, n) =>
                {
                    self.take(line, self.mode);
                }
                (Mode::Own | Mode::Shaped | Mode::Fenced, _) => self.typed(line, follows),
                _ if self.resumes(line, n + 1 == count) => self.mode = Mode::Own,
                (Mode::Introduced | Mode::Document, _) => self.take(line, Mode::Document),
            }
        }
    }

    /// Whether a line within what was introduced is the person's: a question
    /// at the end, or one that goes on with the introduction.
    fn resumes(&self, line: &Line<'_>, last: bool) -> bool {
        let joined = self.mode == Mode::Introduced && Style::of(line.text) == Style::Lower;
        last && is_question(line) || joined && connects(line.low)
    }

    /// Whether the person goes on right after a fence of theirs.
    fn goes_on(&self, paragraph: &Paragraph<'_>, at: usize) -> bool {
        let fenced = at
            .checked_sub(1)
            .and_then(|before| paragraph.lines.get(before))
            .is_some_and(|line| line.form == Form::Fence);
        fenced && paragraph.lines.get(at).is_some_and(|line| self.is_alike(Style::of(line.text)))
    }

    /// Whether a style is that in which the person types.
    fn is_alike(&self, style: Style) -> bool {
        match self.style {
            Style::Unknown => style == Style::Lower,
            own => own == style,
        }
    }

    /// A line of the person's: it may introduce what is not.
    fn typed(&mut self, line: &Line<'_>, more: More) {
        self.mode = Mode::Own;
        let Some(end) = intro::end(line.text, line.low, more) else { return };
        let rest = part(line.text, end..line.text.len());
        let start = line.range.start + end;
        if rest.trim().is_empty() {
            self.mode = Mode::Introduced;
        } else if let Some(close) = quote_end(rest) {
            // Where what comes after a quotation would order something, the
            // quotation may well have been part of the paste.
            let tail = part(line.low, end + close..line.low.len());
            let risky = is_risky(tail);
            self.found.push(start..if risky { line.range.end } else { start + close });
        } else {
            self.found.push(start..line.range.end);
            self.mode = Mode::Document;
        }
    }

    fn take(&mut self, line: &Line<'_>, mode: Mode) {
        self.found.push(line.range.clone());
        self.mode = mode;
    }

    /// A paragraph of what was introduced, or goes on.
    fn body(&mut self, paragraph: &Paragraph<'_>) {
        let count = paragraph.lines.len();
        let last_shaped = paragraph.lines.iter().rposition(|line| line.form == Form::Shaped);
        for (n, line) in paragraph.lines.iter().enumerate() {
            let after_shaped = self.mode == Mode::Shaped
                && line.form == Form::Prose
                && last_shaped.is_some_and(|last| last < n);
            let ends = n + 1 == count && n > 0 && is_question(line);
            if ends || after_shaped && !is_risky(line.low) {
                self.mode = Mode::Own;
                return;
            }
            let mode = match (self.mode, line.form) {
                (Mode::Document, _)
                | (
                    _,
                    Form::Prose | Form::Heading | Form::Greeting | Form::Farewell | Form::Blank,
                ) => Mode::Document,
                (Mode::Shaped, _) | (_, Form::Shaped) => Mode::Shaped,
                (_, Form::Fence | Form::Quoted) => Mode::Fenced,
            };
            self.take(line, mode);
        }
    }

    /// Whether a paragraph after a paste is the person's again.
    fn is_remark(&self, paragraph: &Paragraph<'_>, place: Place) -> bool {
        let Some(first) = paragraph.lines.first() else { return false };
        if !matches!(first.form, Form::Prose | Form::Greeting) {
            return false;
        }
        let style = Style::of(first.text);
        let risky = paragraph.lines.iter().any(|line| is_risky(line.low));
        let alike = self.is_alike(style);
        match self.mode {
            Mode::Own => true,
            Mode::Introduced => connects(first.low) && style == Style::Lower,
            Mode::Fenced => !risky || alike || place == Place::Last && style == Style::Unknown,
            Mode::Shaped => !risky || alike && style == Style::Lower && place == Place::Last,
            Mode::Document => {
                let asks = paragraph.lines.last().is_some_and(is_question);
                place == Place::Last
                    && !risky
                    && paragraph.lines.len() <= REMARK_LINES
                    && (asks || style == Style::Lower && self.style == Style::Lower)
            }
        }
    }
}

/// Where the quotation ends that a text begins with.
fn quote_end(rest: &str) -> Option<usize> {
    let inside = rest.trim_start();
    let lead = rest.len() - inside.len();
    inside.starts_with(['"', '“', '„', '«', '「']).then_some(())?;
    let mut chars = inside.char_indices().skip(1);
    let (at, mark) = chars.find(|(_, c)| matches!(c, '"' | '”' | '“' | '»' | '」'))?;
    Some(lead + at + mark.len_utf8())
}

/// Whether words could become a memory.
fn is_risky(low: &str) -> bool {
    wish::has_cue(low) || wish::is_order(low)
}

fn is_question(line: &Line<'_>) -> bool {
    line.form == Form::Prose && line.low.trim_end().ends_with(['?', '？']) && !is_risky(line.low)
}

/// Whether a line goes on with what the person was saying.
fn connects(low: &str) -> bool {
    [
        "also ",
        "and ",
        "btw",
        "oh ",
        "ps ",
        "but ",
        "one more thing",
        "und ",
        "außerdem",
        "übrigens",
        "et ",
        "aussi ",
        "también ",
        "anche ",
        "também ",
        "ook ",
        "och ",
        "og ",
        "и ",
        "ve ",
        "oraz ",
    ]
    .iter()
    .any(|joint| low.trim_start().starts_with(joint))
}
