//! A word to the person when their agent's prompt cache broke and that cost
//! more than a set sum (PC12).

use super::host_transcript::{news, persons_text};
use crate::hosts::HostService;
use everfold_foreign::{Thread, TranscriptEvent, What};
use everfold_kernel::phrase::grouped;
use everfold_kernel::{Entry, Record, Timestamp};
use everfold_replay::{Lanes, Options, Policy, Steps};
use std::path::Path;
use std::sync::Arc;

/// Bytes at the end of a transcript in which the requests of a turn are, and
/// the one before them.
const TAIL_BYTES: u64 = 2 * 1_024 * 1_024;

impl HostService {
    /// What is told of the dearest break of the turn that has just ended.
    pub(super) fn told_of_breaks(&self, path: &Path) -> Option<String> {
        let least = self.limits.beside.break_cents;
        if least == 0 {
            return None;
        }
        let tail = news(path, None, TAIL_BYTES.min(self.limits.beside.transcript_bytes)).ok()?;
        // Where nothing is written to a cache, nothing breaks.
        let writes = |record: &Record| match &record.entry {
            Entry::Assistant(answer) => answer.usage.cache_write() > 0,
            _ => false,
        };
        if !tail.records.iter().any(writes) {
            return None;
        }
        let begun = tail.records.iter().rfind(|record| persons_text(record).is_some())?;
        let since: Timestamp = begun.at;
        let options = Options {
            policies: vec![Policy::Recorded],
            limits: Arc::new(self.limits.clone()),
            window_tokens: Some(self.limits.long_window_tokens),
            ..Options::default()
        };
        let (mut steps, mut lanes) = (Steps::new(&options), Lanes::new(options));
        for record in tail.records {
            let told =
                TranscriptEvent { thread: Thread::MAIN, what: What::Record(Box::new(record)) };
            steps.take(told, &mut |step| lanes.take(&step));
        }
        steps.finish(&mut |step| lanes.take(&step));
        let bill = lanes.finish().lanes.into_iter().find_map(|lane| lane.bill)?;
        let breaks = bill.breaks.into_iter().filter(|own| own.at >= since);
        let worst = breaks.max_by(|one, other| one.usd.total_cmp(&other.usd))?;
        (worst.usd * 100.0 >= f64::from(u32::try_from(least).unwrap_or(u32::MAX))).then(|| {
            format!(
                "Everfold: the prompt cache broke, and {} tokens were paid for again (${:.2}): {}",
                grouped(worst.tokens),
                worst.usd,
                worst.part
            )
        })
    }
}
