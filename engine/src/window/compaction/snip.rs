//! Snips that the model asked for with its tool (L4.14): carried out between
//! the results of its calls and the next request.

use crate::session::{Error, Session};
use crate::tools::SnipRequest;
use crate::window::compaction;
use everfold_kernel::{BlockView, RecordId};
use serde_json::json;

/// Which end of a call's exchange an id stands for.
#[derive(Clone, Copy)]
enum End {
    First,
    Last,
}

/// Takes the ranges out of view that were asked for. One that cannot be
/// is told to the model.
pub(crate) async fn snip_as_asked(session: &mut Session) -> Result<(), Error> {
    for SnipRequest { from, to } in session.context.take_snips() {
        let first = record_of(session, &from, End::First);
        let last = record_of(session, &to, End::Last);
        if let Err(error) = compaction::snip(session, &first, &last).await {
            let reason = error.unless_broken()?;
            let text = format!("The range {from} to {to} was not taken out of view: {reason}");
            session.attach("snip_refused", &text, json!({"from": from, "to": to})).await?;
        }
    }
    Ok(())
}

/// The record that an id stands for: of a call its own or its result's.
fn record_of(session: &Session, id: &str, end: End) -> RecordId {
    let pieces = || session.state.fold.messages().iter().flat_map(everfold_prefix::Message::pieces);
    let mut of_call = pieces().filter(|piece| match piece.block.view() {
        BlockView::ToolUse { id: own, .. } | BlockView::ToolResult { id: own, .. } => own == id,
        _ => false,
    });
    let found = match end {
        End::First => of_call.next(),
        End::Last => of_call.next_back(),
    };
    found.map_or_else(|| RecordId::new(id), |piece| piece.record.clone())
}
