//! A model of fleets that are larger than a test can be: what the servers of a
//! fleet are asked for by many agents, against what they were measured to do.
//!
//! Writes come at random and are served one after another by each cluster, at
//! the rate that `cargo xtask soak fleet` measured. It says how many clusters
//! (regions with leaf nodes, or accounts) it takes until nobody waits for long.

use crate::table::{Section, Table};

/// Acknowledged writes a second of one cluster of three, on two shared cores,
/// with every write on its disk: what the soak came to outside of the election.
const WRITES: f64 = 2_000.0;
/// Of these, the share that is used where nobody waits for long.
const FULL: f64 = 0.6;
/// Seconds between two times that an agent says that it is there.
const PRESENCE_S: f64 = 20.0;
/// Letters of an agent in an hour.
const LETTERS: f64 = 6.0;
/// Memories that an agent changes in a day.
const MEMORIES: f64 = 4.0;
/// Agents that are online at once.
const ONLINE: f64 = 0.3;
/// Writes that are simulated for each row.
const EVENTS: u32 = 200_000;

/// Chance that is the same each time.
struct Chance(u64);

impl Chance {
    /// Between 0 and 1, neither included.
    fn share(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let high = u32::try_from(self.0 >> 33).unwrap_or(0);
        (f64::from(high) + 0.5) / f64::from(1_u32 << 31)
    }

    /// The time until the next of events that come at a rate.
    fn until_next(&mut self, rate: f64) -> f64 {
        -self.share().ln() / rate
    }
}

/// Writes a second of so many agents: presence, letters, memories.
fn load(agents: f64) -> [f64; 3] {
    let online = agents * ONLINE;
    [online / PRESENCE_S, online * LETTERS / 3600.0, agents * MEMORIES / 86_400.0]
}

/// How long a write waits at one cluster, in milliseconds: the median, and what
/// one in a hundred waits longer than.
fn waits(rate: f64) -> (f64, f64) {
    let mut chance = Chance(7);
    let (mut now, mut free_at, mut waits) = (0.0_f64, 0.0_f64, Vec::new());
    for _ in 0..EVENTS {
        now += chance.until_next(rate);
        let start = free_at.max(now);
        free_at = start + 1.0 / WRITES;
        waits.push((free_at - now) * 1000.0);
    }
    waits.sort_by(f64::total_cmp);
    let at = |part: usize| waits.get(waits.len() * part / 100).copied().unwrap_or(0.0);
    (at(50), at(99))
}

/// Tries that one change of a key takes which so many change at once, where
/// reading, merging and writing takes a hundredth of a second.
fn tries(writers: u32) -> f64 {
    let mut chance = Chance(11);
    let mut read_at: Vec<(f64, f64)> = Vec::new();
    for _ in 0..writers {
        let start = chance.share();
        read_at.push((start + chance.until_next(100.0), start));
    }
    let (mut changed_at, mut done, mut tried) = (-1.0_f64, 0_u32, 0_u32);
    while done < 10_000 {
        read_at.sort_by(|a, b| a.0.total_cmp(&b.0));
        let Some((at, read)) = read_at.first().copied() else { break };
        tried += 1;
        // Who read before the last change has to read again.
        let is_taken = read >= changed_at;
        let pause = if is_taken { 1.0 } else { 0.0 };
        if is_taken {
            changed_at = at;
            done += 1;
        }
        if let Some(first) = read_at.first_mut() {
            let start = at + pause * chance.until_next(1.0);
            *first = (start + chance.until_next(100.0), start);
        }
    }
    f64::from(tried) / f64::from(done.max(1))
}

pub(crate) fn measure() -> Section {
    let mut table = Table::new(&[
        "agents",
        "presence/s",
        "letters/s",
        "memories/s",
        "clusters",
        "used",
        "wait, median",
        "wait, 99 %",
    ]);
    for agents in [1_000_u32, 10_000, 100_000, 1_000_000] {
        let [presence, letters, memories] = load(f64::from(agents));
        let all = presence + letters + memories;
        let clusters = (all / (WRITES * FULL)).ceil().max(1.0);
        let (median, late) = waits(all / clusters);
        table.row([
            agents.to_string(),
            format!("{presence:.1}"),
            format!("{letters:.1}"),
            format!("{memories:.2}"),
            format!("{clusters:.0}"),
            format!("{:.0} %", all / clusters / WRITES * 100.0),
            format!("{median:.2} ms"),
            format!("{late:.2} ms"),
        ]);
    }
    let hot: Vec<String> =
        [2, 10, 50, 200].map(|n| format!("{n} writers: {:.2}", tries(n))).to_vec();
    let notes = format!(
        "A model, not a measurement: {EVENTS} writes for each row, at random, against {WRITES:.0} \
         acknowledged writes a second and cluster, of which {:.0} % are used. An agent is online \
         {:.0} % of the time, says so every {PRESENCE_S:.0} s, writes {LETTERS:.0} letters an hour \
         and changes {MEMORIES:.0} memories a day. Tries for one change of a memory that several \
         change once a second: {}.",
        FULL * 100.0,
        ONLINE * 100.0,
        hot.join(", ")
    );
    let goal = "how many clusters it takes for 10,000 and for 1,000,000 agents.";
    Section { title: "Fleet, modelled", goal, table, notes }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f4_a_cluster_that_is_asked_for_more_lets_people_wait() {
        let (quiet, busy) = (waits(WRITES * 0.1), waits(WRITES * 0.95));
        assert!(quiet.1 < 2.0 && busy.1 > quiet.1 * 3.0, "{quiet:?} {busy:?}");
        assert!(tries(2) < tries(50));
    }
}
