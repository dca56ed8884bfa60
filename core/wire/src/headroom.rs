//! What a server says is left of its rate limits, in the headers of an answer.
//!
//! Anthropic names the time at which a limit is whole again, OpenAI how long
//! that takes. A limit that is not understood counts as not there.

use everfold_kernel::ports::Headroom;
use jiff::{SignedDuration, Timestamp};

/// What Anthropic limits.
const ANTHROPIC: &[&str] = &["requests", "tokens", "input-tokens", "output-tokens"];
/// What OpenAI and servers like it limit.
const OPENAI: &[&str] = &["requests", "tokens"];

/// Reads headers by their names, in lower case. None where no limit is named.
///
/// ```
/// use everfold_kernel::Timestamp;
/// use everfold_wire::headroom;
///
/// let headers = [
///     ("anthropic-ratelimit-requests-limit", "1000"),
///     ("anthropic-ratelimit-requests-remaining", "20"),
/// ];
/// let get = |name: &str| headers.iter().find(|(key, _)| *key == name).map(|(_, v)| v.to_string());
/// assert_eq!(headroom(get, Timestamp::UNIX_EPOCH).unwrap().percent, 2);
/// ```
pub fn headroom(get: impl Fn(&str) -> Option<String>, now: Timestamp) -> Option<Headroom> {
    let number = |name: String| get(&name)?.trim().parse::<u64>().ok();
    let anthropic = ANTHROPIC.iter().filter_map(|what| {
        let name = |field: &str| format!("anthropic-ratelimit-{what}-{field}");
        let percent = percent(number(name("remaining"))?, number(name("limit"))?)?;
        let resets = get(&name("reset")).and_then(|text| text.trim().parse().ok());
        Some(Headroom { percent, resets })
    });
    let openai = OPENAI.iter().filter_map(|what| {
        let name = |field: &str| format!("x-ratelimit-{field}-{what}");
        let percent = percent(number(name("remaining"))?, number(name("limit"))?)?;
        let wait = get(&name("reset")).and_then(|text| text.trim().parse::<SignedDuration>().ok());
        Some(Headroom { percent, resets: wait.and_then(|wait| now.checked_add(wait).ok()) })
    });
    anthropic.chain(openai).min_by_key(|left| left.percent)
}

fn percent(remaining: u64, limit: u64) -> Option<u64> {
    u64::try_from(u128::from(remaining) * 100 / u128::from(limit.max(1))).ok().filter(|_| limit > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(headers: &[(&str, &str)]) -> Option<Headroom> {
        let get = |name: &str| {
            headers.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
        };
        headroom(get, Timestamp::UNIX_EPOCH)
    }

    #[test]
    fn l5_27_the_limit_nearest_its_end_counts() {
        let found = read(&[
            ("anthropic-ratelimit-requests-limit", "1000"),
            ("anthropic-ratelimit-requests-remaining", "900"),
            ("anthropic-ratelimit-input-tokens-limit", "2000000"),
            ("anthropic-ratelimit-input-tokens-remaining", "100000"),
            ("anthropic-ratelimit-input-tokens-reset", "1970-01-01T00:01:00Z"),
        ]);
        let resets = Timestamp::from_second(60).ok();
        assert_eq!(found, Some(Headroom { percent: 5, resets }));
    }

    #[test]
    fn l5_27_openai_names_a_wait() {
        let found = read(&[
            ("x-ratelimit-limit-tokens", "150000"),
            ("x-ratelimit-remaining-tokens", "0"),
            ("x-ratelimit-reset-tokens", "6m0s"),
        ]);
        let resets = Timestamp::from_second(360).ok();
        assert_eq!(found, Some(Headroom { percent: 0, resets }));
    }

    #[test]
    fn s6_headers_that_make_no_sense_count_as_none() {
        assert_eq!(read(&[]), None);
        let broken = [
            ("anthropic-ratelimit-tokens-limit", "0"),
            ("anthropic-ratelimit-tokens-remaining", "7"),
            ("x-ratelimit-limit-requests", "many"),
            ("x-ratelimit-remaining-requests", "-1"),
        ];
        assert_eq!(read(&broken), None);
    }
}
