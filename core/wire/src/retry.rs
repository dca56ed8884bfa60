//! Whether to try again, and when.
//!
//! The server's word comes first: `x-should-retry`, then `retry-after-ms`,
//! then `retry-after`. Without one the wait doubles from try to try, with some
//! chance in it so that many clients do not come back at once. Time and chance
//! are handed in.

use everfold_kernel::Limits;
use jiff::Timestamp;
use std::time::Duration;

/// The part of a wait that chance may take off.
const JITTER: f64 = 0.25;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The server answered with this status.
    Status(u16),
    /// A limit is used up that waiting does not lift.
    Spent,
    /// The connection failed, or the stream broke.
    Transport,
}

/// The headers by which a server steers retries, as they came.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerWish {
    /// `x-should-retry`.
    pub should_retry: Option<String>,
    /// `retry-after-ms`.
    pub retry_after_ms: Option<String>,
    /// `retry-after`: seconds or an HTTP date.
    pub retry_after: Option<String>,
}

/// All that the decision depends on.
#[derive(Clone, Debug, PartialEq)]
pub struct RetryInput {
    /// How often the request was tried again already; 0 after the first try.
    pub attempt: u32,
    /// How often it may be.
    pub most: u32,
    pub failure: Failure,
    /// What the server wants.
    pub wish: ServerWish,
    pub now: Timestamp,
    /// A number of chance, 0 to 1.
    pub random: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retry {
    /// Try again after this wait.
    After(Duration),
    No,
}

/// Decides about another try.
#[must_use]
pub fn decide(input: &RetryInput, limits: &Limits) -> Retry {
    if input.attempt >= input.most || !may_pass(input) {
        return Retry::No;
    }
    match input.wish.wait(input.now) {
        Some(wait) if wait > Duration::from_secs(limits.retry_after_max_s) => Retry::No,
        Some(wait) => Retry::After(wait),
        None => Retry::After(backoff(input.attempt, input.random, limits)),
    }
}

impl ServerWish {
    /// How long the server wants us to wait, if it says so and it is not over.
    #[must_use]
    pub fn wait(&self, now: Timestamp) -> Option<Duration> {
        let millis = self.retry_after_ms.as_deref().and_then(|text| positive(text, 1_000.0));
        millis.or_else(|| {
            let text = self.retry_after.as_deref()?;
            positive(text, 1.0).or_else(|| until(text, now))
        })
    }
}

fn may_pass(input: &RetryInput) -> bool {
    let wished = input.wish.should_retry.as_deref().map(str::trim);
    match (input.failure, wished) {
        (Failure::Spent, _) | (_, Some("false")) => false,
        (Failure::Transport, _) | (_, Some("true")) => true,
        (Failure::Status(status), _) => matches!(status, 408 | 409 | 429 | 500..),
    }
}

fn positive(text: &str, per_second: f64) -> Option<Duration> {
    let number: f64 = text.trim().parse().ok()?;
    (number > 0.0)
        .then(|| Duration::try_from_secs_f64(number / per_second).unwrap_or(Duration::MAX))
}

fn until(text: &str, now: Timestamp) -> Option<Duration> {
    let date = jiff::fmt::rfc2822::parse(text.trim()).ok()?.timestamp();
    let wait = Duration::try_from(date.duration_since(now)).ok()?;
    (!wait.is_zero()).then_some(wait)
}

fn backoff(attempt: u32, random: f64, limits: &Limits) -> Duration {
    let doubled = limits.retry_base_ms.saturating_mul(2_u64.saturating_pow(attempt));
    let full = Duration::from_millis(doubled.min(limits.retry_max_ms));
    full.mul_f64(1.0 - JITTER * random.clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn input(failure: Failure) -> RetryInput {
        RetryInput {
            attempt: 0,
            most: 10,
            failure,
            wish: ServerWish::default(),
            now: "2026-11-15T08:00:00Z".parse().unwrap(),
            random: 0.0,
        }
    }

    fn wish(should: &str, millis: &str, after: &str) -> ServerWish {
        let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        ServerWish {
            should_retry: some(should),
            retry_after_ms: some(millis),
            retry_after: some(after),
        }
    }

    fn after(seconds: f64) -> Retry {
        Retry::After(Duration::from_secs_f64(seconds))
    }

    #[test]
    fn q8_the_wait_doubles_up_to_a_limit() {
        let limits = Limits::default();
        let waits: Vec<Retry> = (0..11)
            .map(|attempt| {
                let input = RetryInput { attempt, ..input(Failure::Transport) };
                decide(&input, &limits)
            })
            .collect();
        let expected = [0.5, 1.0, 2.0, 4.0, 8.0, 8.0, 8.0, 8.0, 8.0, 8.0].map(after);
        assert_eq!(waits[..10], expected);
        assert_eq!(waits[10], Retry::No);
    }

    #[test]
    fn q8_statuses_that_may_pass_are_tried_again() {
        let limits = Limits::default();
        for (status, again) in [
            (400, false),
            (401, false),
            (404, false),
            (408, true),
            (409, true),
            (413, false),
            (429, true),
            (500, true),
            (529, true),
        ] {
            let decision = decide(&input(Failure::Status(status)), &limits);
            assert_eq!(decision != Retry::No, again, "{status}");
        }
        assert_eq!(decide(&input(Failure::Spent), &limits), Retry::No);
    }

    #[test]
    fn q8_the_servers_word_comes_first() {
        let limits = Limits::default();
        let with = |status, wish| {
            let input = RetryInput { wish, ..input(Failure::Status(status)) };
            decide(&input, &limits)
        };
        assert_eq!(with(529, wish("false", "", "")), Retry::No);
        assert_eq!(with(400, wish("true", "", "")), after(0.5));
        assert_eq!(with(429, wish("", "1500", "7")), after(1.5));
        assert_eq!(with(429, wish("", "", "7")), after(7.0));
        assert_eq!(with(429, wish("", "", "0.25")), after(0.25));
        let date = "Sun, 15 Nov 2026 08:00:30 GMT";
        assert_eq!(with(429, wish("", "", date)), after(30.0));
        let past = "Sun, 15 Nov 2026 07:00:00 GMT";
        assert_eq!(with(429, wish("", "", past)), after(0.5));
        assert_eq!(with(429, wish("", "", "121")), Retry::No);
        assert_eq!(with(429, wish("", "", "1e300")), Retry::No);
        assert_eq!(with(429, wish("", "soon", "-3")), after(0.5));
    }

    proptest! {
        #[test]
        fn s6_no_header_makes_it_panic(attempt: u32, random: f64, text in "\\PC{0,30}", number: f64) {
            let limits = Limits::default();
            for after in [text.clone(), number.to_string()] {
                let input = RetryInput {
                    attempt,
                    most: u32::MAX,
                    random,
                    wish: wish(&text, &after, &after),
                    ..input(Failure::Transport)
                };
                if let Retry::After(wait) = decide(&input, &limits) {
                    prop_assert!(wait <= Duration::from_secs(limits.retry_after_max_s));
                }
            }
        }
    }
}
