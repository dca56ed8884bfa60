//! The conversation on the screen: cells, and where in them the person is.
//!
//! A cell keeps its lines for a width, so that a frame draws only what is
//! seen. The place is a cell and a line in it, never a distance from the
//! start: cells that were never seen are never laid out, whatever their number.

use crate::theme::Theme;
use ratatui::layout::Rect;
use search::Search;
use std::ops::Range;
use std::time::Instant;

mod asides;
mod cell;
mod diff;
pub(crate) mod highlight;
pub(crate) mod history;
mod markdown;
mod result;
mod search;
mod tool;
mod viewport;

pub(crate) use asides::{Ruler, ThinkingTime, Thought, task_ended};
pub(crate) use cell::{Cell, Kind, styled};
pub(crate) use diff::Diff;
pub(crate) use markdown::{Flow, Markdown, code_block};
pub(crate) use tool::{State, ToolCall};

/// Cells whose lines are kept; of more, those that are not seen are dropped.
const MOST_LAID: usize = 2_000;

/// How near to what is seen lines are kept.
const NEAR: usize = 100;

/// What of the conversation is seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Place {
    #[default]
    End,
    /// From this line of this cell on.
    At { cell: usize, line: usize },
}

#[derive(Default)]
pub(crate) struct TranscriptView {
    cells: Vec<Cell>,
    place: Place,
    chosen: Option<usize>,
    search: Option<Search>,
    /// Whether thoughts come unfolded.
    thoughts_open: bool,
    /// Something came while the end was not seen.
    news: bool,
    area: Rect,
    /// About how many cells have their lines.
    laid: usize,
}

impl TranscriptView {
    pub(crate) fn replace(&mut self, cells: Vec<Cell>) {
        let (area, thoughts_open) = (self.area, self.thoughts_open);
        *self = Self { thoughts_open, area, ..Self::default() };
        self.cells.reserve(cells.len());
        for cell in cells {
            self.add(cell);
        }
        self.news = false;
    }

    /// Whether there is nothing yet.
    pub(crate) fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// Adds a cell; what came before has come to its end.
    pub(crate) fn push(&mut self, kind: Kind) {
        self.settle();
        self.add(Cell::new(kind));
    }

    fn add(&mut self, cell: Cell) {
        let mut cell = cell.after(self.cells.last());
        if matches!(cell.kind(), Kind::Thinking(_)) {
            cell.set_open(self.thoughts_open);
        }
        self.cells.push(cell);
        self.news = self.place != Place::End;
    }

    /// No more will come for the last cell.
    pub(crate) fn settle(&mut self) {
        let Some(cell) = self.cells.last_mut() else { return };
        if matches!(cell.kind(), Kind::Answer(_) | Kind::Thinking(_)) {
            match cell.change() {
                Kind::Answer(text) => text.end(),
                Kind::Thinking(thought) => thought.end(Instant::now()),
                _ => {}
            }
        }
    }

    /// More of the answer.
    pub(crate) fn text(&mut self, text: &str) {
        self.news = self.place != Place::End;
        if self.cells.last().is_some_and(|cell| matches!(cell.kind(), Kind::Answer(_)))
            && let Some(Kind::Answer(answer)) = self.cells.last_mut().map(Cell::change)
        {
            answer.push(text);
        } else {
            self.push(Kind::Answer(Box::new(Markdown::new(text, Flow::Open))));
        }
    }

    /// More of what the model thinks.
    pub(crate) fn thinking(&mut self, text: &str) {
        if self.cells.last().is_some_and(|cell| matches!(cell.kind(), Kind::Thinking(_)))
            && let Some(Kind::Thinking(thought)) = self.cells.last_mut().map(Cell::change)
        {
            thought.text.push_str(text);
        } else {
            let time = ThinkingTime::Since(Instant::now());
            self.push(Kind::Thinking(Thought { text: text.to_owned(), time }));
        }
    }

    /// Takes back what was said since the last thing that is no answer.
    pub(crate) fn take_back(&mut self) {
        while let Some(Kind::Answer(_) | Kind::Thinking(_)) = self.cells.last().map(Cell::kind) {
            self.cells.pop();
        }
    }

    /// The tool call of an id, as it is.
    pub(crate) fn tool_of(&self, id: &str) -> Option<&ToolCall> {
        match self.cells.iter().rev().find(|cell| cell.is_tool(id))?.kind() {
            Kind::Tool(call) => Some(call),
            _ => None,
        }
    }

    /// The tool call of an id, to change it.
    pub(crate) fn tool_mut(&mut self, id: &str) -> Option<&mut ToolCall> {
        let found = self.cells.iter_mut().rev().find(|cell| cell.is_tool(id))?;
        match found.change() {
            Kind::Tool(call) => Some(call),
            _ => None,
        }
    }

    /// Unfolds the tool call of an id.
    pub(crate) fn unfold_tool(&mut self, id: &str) {
        if let Some(cell) = self.cells.iter_mut().rev().find(|cell| cell.is_tool(id)) {
            cell.set_open(true);
        }
    }

    /// The cell that is chosen.
    pub(crate) fn chosen(&self) -> Option<&Cell> {
        self.cells.get(self.chosen?)
    }

    /// Chooses the cell before or after; begins with the last one.
    pub(crate) fn choose(&mut self, step: isize, theme: Theme) {
        let last = self.cells.len().saturating_sub(1);
        match self.chosen {
            None => self.choose_at(last, theme),
            Some(at) => self.choose_at(at.saturating_add_signed(step).min(last), theme),
        }
    }

    fn choose_at(&mut self, at: usize, theme: Theme) {
        self.chosen = Some(at).filter(|_| !self.cells.is_empty());
        self.show(at, theme);
    }

    /// Chooses the first cell, and goes there.
    pub(crate) fn choose_first(&mut self, theme: Theme) {
        self.choose_at(0, theme);
        self.place = Place::At { cell: 0, line: 0 };
    }

    /// Chooses the last cell, and goes to the end.
    pub(crate) fn choose_last(&mut self, theme: Theme) {
        self.choose_at(self.cells.len().saturating_sub(1), theme);
        self.go_to_end();
    }

    /// Chooses what the person said before or after.
    pub(crate) fn choose_person(&mut self, step: isize, theme: Theme) {
        let is_person = |at: &usize| {
            self.cells.get(*at).is_some_and(|cell| matches!(cell.kind(), Kind::Person(_)))
        };
        let at = self.chosen.unwrap_or(self.cells.len());
        let found = if step < 0 {
            (0..at).rev().find(is_person)
        } else {
            (at.saturating_add(1)..self.cells.len()).find(is_person)
        };
        if let Some(found) = found {
            self.choose_at(found, theme);
        }
    }

    /// Chooses none, and searches no more.
    pub(crate) fn choose_none(&mut self) {
        self.chosen = None;
        self.search = None;
    }

    /// Folds or unfolds the chosen cell.
    pub(crate) fn fold(&mut self) {
        if let Some(cell) = self.chosen.and_then(|at| self.cells.get_mut(at)) {
            cell.set_open(!cell.is_open());
        }
    }

    /// Unfolds everything; or folds it where something is unfolded.
    pub(crate) fn fold_all(&mut self, theme: Theme) {
        let open = !self.cells.iter().any(Cell::is_open);
        for cell in &mut self.cells {
            cell.set_open(open);
        }
        self.keep_chosen(theme);
    }

    /// Folds or unfolds what the model thought, from now on too.
    pub(crate) fn fold_thoughts(&mut self, theme: Theme) {
        self.thoughts_open = !self.thoughts_open;
        for cell in &mut self.cells {
            if matches!(cell.kind(), Kind::Thinking(_)) {
                cell.set_open(self.thoughts_open);
            }
        }
        self.keep_chosen(theme);
    }

    /// The chosen cell stays in view when others changed their height.
    fn keep_chosen(&mut self, theme: Theme) {
        if let Some(at) = self.chosen {
            self.show(at, theme);
        }
    }

    /// Drops lines that are far from what is seen, where there are many.
    fn drop_far(&mut self, seen: Range<usize>) {
        self.laid += seen.len();
        if self.laid < MOST_LAID {
            return;
        }
        for (at, cell) in self.cells.iter_mut().enumerate() {
            if at.abs_diff(seen.start) > NEAR && at.abs_diff(seen.end) > NEAR {
                cell.forget();
            }
        }
        self.laid = seen.len();
    }
}

#[cfg(test)]
mod tests;
