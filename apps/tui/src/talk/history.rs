//! A conversation that is gone on with, as cells.

use super::cell::{Cell, Kind};
use super::quiet::{ThinkingTime, Thought};
use super::tool::{State, ToolCall};
use mnemon::Session;
use mnemon::kernel::{BlockView, Role, UserOrigin};
use mnemon::prefix::message::Origin;
use std::collections::HashMap;

/// What a person sees of a session.
pub(crate) fn cells(session: &Session) -> Vec<Cell> {
    let mut cells: Vec<Cell> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for message in session.fold().messages() {
        for piece in message.pieces() {
            match (piece.block.view(), message.role()) {
                (BlockView::Text(text), Role::User)
                    if piece.origin == Origin::User(UserOrigin::Human) =>
                {
                    cells.push(Cell::new(Kind::Person(text.to_owned())));
                }
                (BlockView::Text(text), Role::Assistant) => cells.push(Cell::answer(text)),
                (BlockView::Thinking(text), _) => {
                    let thought = Thought { text: text.to_owned(), time: ThinkingTime::Unknown };
                    cells.push(Cell::new(Kind::Thinking(thought)));
                }
                (BlockView::ToolUse { id, name, input }, _) => {
                    let call = ToolCall::new(id, name, input.clone());
                    places.insert(id.to_owned(), cells.len());
                    cells.push(Cell::new(Kind::Tool(Box::new(call))));
                }
                (BlockView::ToolResult { id, content, is_error }, _) => {
                    let cell = places.get(id).and_then(|at| cells.get_mut(*at));
                    if let Some(Kind::Tool(call)) = cell.map(Cell::change) {
                        call.answered(content, None);
                        call.state = if is_error { State::Failed(None) } else { State::Done(None) };
                    }
                }
                _ => {}
            }
        }
    }
    cells
}
