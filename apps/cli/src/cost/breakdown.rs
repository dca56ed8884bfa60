//! What was used, by one thing or another, as a table, JSON or CSV (T6).

use super::{line_json, row};
use crate::args::By;
use crate::presenter::Presenter;
use everfold_kernel::usage::Booking;
use everfold_kernel::{Ledger, SessionId};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io;

/// Bookings by what they are asked for.
#[derive(Default)]
pub(super) struct Groups {
    by: Option<By>,
    found: BTreeMap<String, Ledger>,
}

/// Where and when a booking was made.
pub(super) struct Place<'a> {
    pub(super) session: &'a SessionId,
    pub(super) cwd: Option<&'a str>,
    pub(super) at: Timestamp,
}

impl Groups {
    pub(super) fn new(by: Option<By>) -> Self {
        Self { by, found: BTreeMap::new() }
    }

    pub(super) fn book(&mut self, booking: &Booking, place: &Place<'_>) {
        let Some(by) = self.by else { return };
        let key = match by {
            By::Session => place.session.to_string(),
            By::Project => place.cwd.unwrap_or("unknown").to_owned(),
            By::Day => place.at.to_zoned(TimeZone::system()).date().to_string(),
            By::Source => booking.source.to_string(),
            // Those of all agents are grouped elsewhere.
            By::Model | By::Week | By::Month | By::Block | By::Agent => booking.model.to_string(),
        };
        self.found.entry(key).or_default().book(booking);
    }

    pub(super) fn by(&self) -> Option<By> {
        self.by
    }

    /// The table, the dearest last where days do not say the order.
    pub(super) fn show(&self, all: &Ledger, presenter: &Presenter) -> io::Result<()> {
        let Some(by) = self.by else { return Ok(()) };
        let head =
            [by.as_str(), "", "requests", "input", "cached", "written", "output", "hit", "USD"];
        let mut rows = vec![head.map(str::to_owned).to_vec()];
        rows.extend(self.sorted().into_iter().map(|(key, own)| row(key, "", &own.total())));
        rows.push(row("total", "", &all.total()));
        for cells in &mut rows {
            cells.remove(1);
        }
        presenter.table(&rows)
    }

    pub(super) fn to_json(&self) -> Vec<Value> {
        let line = |(key, own): (&str, &Ledger)| {
            let mut value = json!({ "key": key });
            if let (Some(map), Value::Object(rest)) =
                (value.as_object_mut(), line_json(&own.total()))
            {
                map.extend(rest);
            }
            value
        };
        self.sorted().into_iter().map(line).collect()
    }

    fn sorted(&self) -> Vec<(&str, &Ledger)> {
        let mut rows: Vec<(&str, &Ledger)> =
            self.found.iter().map(|(key, own)| (key.as_str(), own)).collect();
        if self.by != Some(By::Day) {
            rows.sort_by(|one, other| one.1.total().cost.0.total_cmp(&other.1.total().cost.0));
        }
        rows
    }
}

/// Columns of a CSV, in their order.
const COLUMNS: [&str; 8] = [
    "requests",
    "input_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
    "output_tokens",
    "cache_hit_rate",
    "cost_usd",
    "unpriced_requests",
];

/// Lines of JSON objects as CSV; `keys` are the columns before the figures.
pub(super) fn csv(keys: &[&str], lines: &[Value]) -> String {
    let mut text = keys.iter().chain(&COLUMNS).copied().collect::<Vec<_>>().join(",") + "\n";
    for line in lines {
        let cell = |key: &&str| quoted(line.get(*key).unwrap_or(&Value::Null));
        let cells: Vec<String> = keys.iter().chain(&COLUMNS).map(cell).collect();
        text += &(cells.join(",") + "\n");
    }
    text
}

fn quoted(value: &Value) -> String {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    };
    // A spreadsheet would run what looks like a formula.
    let text = if text.starts_with(['=', '+', '-', '@']) { format!("'{text}") } else { text };
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t6_a_csv_has_a_head_and_quotes_what_it_must() {
        let lines =
            [json!({"key": "/a,\"b\"", "requests": 2, "cost_usd": 0.5}), json!({"key": "=x"})];
        let text = csv(&["key"], &lines);
        let rows: Vec<&str> = text.lines().collect();
        assert!(rows[0].starts_with("key,requests,input_tokens,"));
        assert!(rows[1].starts_with("\"/a,\"\"b\"\"\",2,,") && rows[1].contains(",0.5,"));
        assert!(rows[2].starts_with("'=x,"));
    }
}
