//! A conversation that is gone on with, as cells.

use super::cell::{Cell, Kind};
use super::tool::{State, ToolCall};
use mnemon::Session;
use mnemon::kernel::{BlockView, Role, UserOrigin};
use mnemon::prefix::message::Origin;

/// What a person sees of a session.
pub(crate) fn cells(session: &Session) -> Vec<Cell> {
    let mut cells: Vec<Cell> = Vec::new();
    for message in session.fold().messages() {
        for piece in message.pieces() {
            match (piece.block.view(), message.role()) {
                (BlockView::Text(text), Role::User)
                    if piece.origin == Origin::User(UserOrigin::Human) =>
                {
                    cells.push(Cell::new(Kind::Person(text.to_owned())));
                }
                (BlockView::Text(text), Role::Assistant) => {
                    cells.push(Cell::new(Kind::Answer(text.to_owned())));
                }
                (BlockView::Thinking(text), _) => {
                    cells.push(Cell::new(Kind::Thinking { text: text.to_owned(), took: None }));
                }
                (BlockView::ToolUse { id, name, input }, _) => {
                    let call = ToolCall::new(id, name, input.clone());
                    cells.push(Cell::new(Kind::Tool(Box::new(call))));
                }
                (BlockView::ToolResult { id, is_error, .. }, _) => {
                    let cell = cells.iter_mut().rev().find(|cell| cell.is_tool(id));
                    if let Some(Kind::Tool(call)) = cell.map(Cell::change) {
                        call.answered(&piece.block.plain_text());
                        call.state = if is_error { State::Failed(None) } else { State::Done(None) };
                    }
                }
                _ => {}
            }
        }
    }
    cells
}
