//! Requests of many sessions, summed up by day, project, agent and the like
//! (PC10), and by cause (PC9).

use super::SessionBill;
use everfold_kernel::{Timestamp, Usage};
use everfold_replay::{BilledRequest, Causes};
use jiff::ToSpan;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use std::collections::BTreeMap;

/// Hours of a block, as subscriptions count them.
const BLOCK_HOURS: i64 = 5;

/// What requests are summed up by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupBy {
    /// The session.
    Session,
    /// The directory that it worked in.
    Project,
    /// Who wrote it.
    Agent,
    /// The model that answered.
    Model,
    /// The day, in the time zone of this machine.
    Day,
    /// The week, by its Monday.
    Week,
    /// The month.
    Month,
    /// Blocks of five hours.
    Block,
}

/// Requests of one group.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Group {
    /// How many.
    pub requests: u64,
    /// What they used.
    pub usage: Usage,
    /// What they cost, as far as it is known.
    pub usd: f64,
    /// Those without a price.
    pub unpriced: u64,
}

impl Group {
    /// Adds other requests.
    pub fn merge(&mut self, other: &Self) {
        self.requests += other.requests;
        self.usage.add(&other.usage);
        self.usd += other.usd;
        self.unpriced += other.unpriced;
    }

    /// Adds a request.
    pub fn add(&mut self, request: &BilledRequest) {
        self.requests += 1;
        self.usage.add(&request.usage);
        self.usd += request.usd.unwrap_or(0.0);
        self.unpriced += u64::from(request.usd.is_none());
    }
}

/// The causes of the bills of sessions.
#[must_use]
pub fn causes(sessions: &[SessionBill]) -> Causes {
    Causes::of(sessions.iter().map(|own| (own.name(), &own.bill)))
}

/// Requests by what was asked for.
#[must_use]
pub fn groups(sessions: &[SessionBill], by: GroupBy) -> BTreeMap<String, Group> {
    let mut found: BTreeMap<String, Group> = BTreeMap::new();
    let zone = TimeZone::system();
    let blocks = if by == GroupBy::Block { blocks(sessions) } else { Vec::new() };
    for session in sessions {
        let own = |text: &Option<String>| text.clone().unwrap_or_else(|| "unknown".to_owned());
        for request in &session.bill.requests {
            let at = || request.at.to_zoned(zone.clone());
            let key = match by {
                GroupBy::Session => own(&session.session),
                GroupBy::Project => own(&session.project),
                GroupBy::Agent => own(&session.agent),
                GroupBy::Model => request.model.to_string(),
                GroupBy::Day => at().date().to_string(),
                GroupBy::Week => monday(at().date()).to_string(),
                GroupBy::Month => at().strftime("%Y-%m").to_string(),
                GroupBy::Block => {
                    let next = blocks.partition_point(|start| *start <= request.at);
                    let start = next.checked_sub(1).and_then(|index| blocks.get(index));
                    let start = start.copied().unwrap_or(request.at).to_zoned(zone.clone());
                    start.strftime("%Y-%m-%d %H:00").to_string()
                }
            };
            found.entry(key).or_default().add(request);
        }
    }
    found
}

/// The Monday of the week of a day.
#[must_use]
pub fn monday(day: Date) -> Date {
    let days = i64::from(day.weekday().to_monday_zero_offset());
    day.checked_sub(days.days()).unwrap_or(day)
}

/// Where blocks of five hours begin: at the full hour of the first request
/// that is in none.
fn blocks(sessions: &[SessionBill]) -> Vec<Timestamp> {
    let requests = sessions.iter().flat_map(|own| &own.bill.requests);
    let mut times: Vec<i64> = requests.map(|own| own.at.as_second()).collect();
    times.sort_unstable();
    let mut starts: Vec<i64> = Vec::new();
    for at in times {
        if starts.last().is_none_or(|start| at >= start + BLOCK_HOURS * 3_600) {
            starts.push(at.div_euclid(3_600) * 3_600);
        }
    }
    starts.into_iter().filter_map(|start| Timestamp::from_second(start).ok()).collect()
}
