//! Cache breaks that nothing had announced, as `everfold cost` shows them (PC6).

use crate::presenter::{Presenter, grouped};
use everfold_kernel::record::BreakSeen;
use everfold_kernel::{SessionId, Usd};
use jiff::Timestamp;
use serde_json::{Value, json};
use std::io;

/// Breaks that a person is shown one by one; the newest.
const SHOWN: usize = 20;

/// A break, where and when.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    pub(super) session: SessionId,
    pub(super) at: Timestamp,
    pub(super) what: BreakSeen,
}

impl Seen {
    pub(super) fn to_json(&self) -> Value {
        let mut value = json(&self.what);
        if let Some(map) = value.as_object_mut() {
            map.insert("session_id".into(), json!(self.session));
            map.insert("at".into(), json!(self.at));
        }
        value
    }
}

/// A break for programs.
pub(crate) fn json(seen: &BreakSeen) -> Value {
    json!({
        "source": seen.source.to_string(),
        "part": seen.part,
        "tokens": seen.tokens,
        "cost_usd": seen.cost.map(|cost| cost.0),
        "server_reason": seen.server_reason,
    })
}

/// What a break cost, for people.
pub(crate) fn price(cost: Option<Usd>) -> String {
    cost.map_or_else(|| "no price".to_owned(), |cost| format!("{:.4}", cost.0))
}

/// Lists breaks under a table of costs. Nothing, where there were none.
pub(super) fn show(breaks: &[Seen], presenter: &Presenter) -> io::Result<()> {
    if breaks.is_empty() {
        return Ok(());
    }
    let tokens: u64 = breaks.iter().map(|own| own.what.tokens).sum();
    let cost: f64 = breaks.iter().filter_map(|own| own.what.cost).map(|cost| cost.0).sum();
    presenter.line(&format!(
        "\nunexpected cache breaks: {}, {} tokens, {cost:.4} USD",
        breaks.len(),
        grouped(tokens)
    ))?;
    let head = ["when", "source", "tokens", "USD", "what changed"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for Seen { at, what: seen, .. } in breaks.iter().rev().take(SHOWN) {
        let server = seen.server_reason.as_ref();
        let server = server.map(|reason| format!("; the server says: {reason}"));
        rows.push(vec![
            at.strftime("%Y-%m-%d %H:%M:%SZ").to_string(),
            seen.source.to_string(),
            grouped(seen.tokens),
            price(seen.cost),
            format!("{}{}", seen.part, server.unwrap_or_default()),
        ]);
    }
    presenter.table(&rows)
}
