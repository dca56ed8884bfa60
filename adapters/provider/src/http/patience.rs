//! How long a server is waited for, and when a person is told (S16).

use std::time::Duration;
use tokio::time::Instant;

/// A wait that has an end.
#[derive(Debug)]
pub(super) struct Patience {
    since: Instant,
    most: Duration,
    /// When it is told for the first time, from its start.
    first: Duration,
    /// When it is told the next time, from its start.
    next: Duration,
}

impl Patience {
    /// From now on, at most so long.
    pub(super) fn new(most: Duration, first_notice: Duration) -> Self {
        Self { since: Instant::now(), most, first: first_notice, next: first_notice }
    }

    /// From now on, told after another while.
    pub(super) fn restart(&mut self, first_notice: Duration) {
        *self = Self::new(self.most, first_notice);
    }

    /// When there is something to be done about it.
    pub(super) fn due(&self) -> Instant {
        let next = if self.first.is_zero() { self.most } else { self.next.min(self.most) };
        self.since + next
    }

    /// Whether it is at its end.
    pub(super) fn is_over(&self) -> bool {
        self.since.elapsed() >= self.most
    }

    /// How long it is, where that is to be told now: each time after twice as
    /// long.
    pub(super) fn notice(&mut self) -> Option<Duration> {
        let waited = self.since.elapsed();
        if self.first.is_zero() || waited < self.next {
            return None;
        }
        self.next = waited.max(self.first).saturating_mul(2);
        Some(waited)
    }

    /// The seconds that it lasts at most.
    pub(super) fn most_s(&self) -> u64 {
        self.most.as_secs()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn s16_a_wait_is_told_ever_more_rarely_and_ends() {
        let milli = Duration::from_millis(1);
        let mut patience = Patience::new(milli * 300, milli * 40);
        let mut told = Vec::new();
        while !patience.is_over() {
            tokio::time::sleep_until(patience.due()).await;
            told.extend(patience.notice());
        }
        assert!((1..=3).contains(&told.len()), "{told:?}");
        assert!(told.windows(2).all(|two| two[1] >= two[0] * 2), "{told:?}");
        patience.restart(milli);
        assert!(!patience.is_over());
    }
}
