//! Token counts, from the API's shape to the kernel's.

use crate::count::count;
use everfold_kernel::Usage;
use everfold_kernel::record::CacheTtl;
use serde_json::Value;

/// Gathers the usage of one answer. Counts of a later event replace earlier
/// ones, because they are cumulative; what an event does not name stays. The
/// split by time to live comes with the first event only.
#[derive(Clone, Copy, Debug)]
pub struct UsageTally {
    ttl: CacheTtl,
    input: u64,
    cache_read: u64,
    cache_write: u64,
    split: Option<(u64, u64)>,
    output: u64,
    web_searches: u64,
}

impl UsageTally {
    /// An empty tally of a request whose cached prefixes live this long:
    /// cache writes that the server does not split are counted there.
    #[must_use]
    pub fn new(ttl: CacheTtl) -> Self {
        Self {
            ttl,
            input: 0,
            cache_read: 0,
            cache_write: 0,
            split: None,
            output: 0,
            web_searches: 0,
        }
    }

    /// Takes a `usage` object; anything that is not a count is passed over.
    pub fn merge(&mut self, usage: &Value) {
        self.input = count(usage, "input_tokens").unwrap_or(self.input);
        self.cache_read = count(usage, "cache_read_input_tokens").unwrap_or(self.cache_read);
        self.output = count(usage, "output_tokens").unwrap_or(self.output);
        let searches = usage.get("server_tool_use").and_then(|of| count(of, "web_search_requests"));
        self.web_searches = searches.unwrap_or(self.web_searches);
        let split = usage.get("cache_creation").filter(|split| split.is_object());
        if let Some(split) = split {
            let part = |key: &str| count(split, key).unwrap_or(0);
            let parts = (part("ephemeral_5m_input_tokens"), part("ephemeral_1h_input_tokens"));
            self.split = Some(parts);
            self.cache_write = parts.0 + parts.1;
        }
        self.cache_write = count(usage, "cache_creation_input_tokens").unwrap_or(self.cache_write);
    }

    /// The counts so far.
    #[must_use]
    pub fn usage(&self) -> Usage {
        let (five, hour) = self.writes();
        Usage {
            input: self.input,
            cache_read: self.cache_read,
            cache_write_5m: five,
            cache_write_1h: hour,
            output: self.output,
            web_searches: self.web_searches,
        }
    }

    /// Cache writes by time to live. The total is what counts; where the split
    /// says less, the rest is of the request's own kind.
    fn writes(&self) -> (u64, u64) {
        let (five, hour) = self.split.unwrap_or((0, 0));
        let Some(rest) = self.cache_write.checked_sub(five + hour) else {
            let hour = hour.min(self.cache_write);
            return (self.cache_write - hour, hour);
        };
        match self.ttl {
            CacheTtl::FiveMinutes => (five + rest, hour),
            CacheTtl::OneHour => (five, hour + rest),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn t6_the_split_by_time_to_live_survives_the_final_counts() {
        let mut tally = UsageTally::new(CacheTtl::FiveMinutes);
        tally.merge(&json!({"input_tokens": 3, "cache_creation_input_tokens": 300,
            "cache_read_input_tokens": 50, "output_tokens": 1,
            "cache_creation": {"ephemeral_5m_input_tokens": 100, "ephemeral_1h_input_tokens": 200}}));
        tally.merge(&json!({"input_tokens": 3, "cache_creation_input_tokens": 300,
            "cache_read_input_tokens": null, "output_tokens": 40,
            "server_tool_use": {"web_search_requests": 2}}));
        let expected = Usage {
            input: 3,
            cache_read: 50,
            cache_write_5m: 100,
            cache_write_1h: 200,
            output: 40,
            web_searches: 2,
        };
        assert_eq!(tally.usage(), expected);
    }

    #[test]
    fn t6_writes_without_a_split_are_of_the_requests_kind() {
        let usage = json!({"cache_creation_input_tokens": 9});
        let mut tally = UsageTally::new(CacheTtl::OneHour);
        tally.merge(&usage);
        assert_eq!(tally.usage().cache_write_1h, 9);
        let mut tally = UsageTally::new(CacheTtl::FiveMinutes);
        tally.merge(&usage);
        assert_eq!(tally.usage().cache_write_5m, 9);
    }

    #[test]
    fn s6_counts_that_are_none_are_passed_over() {
        let mut tally = UsageTally::new(CacheTtl::FiveMinutes);
        tally.merge(&json!({"input_tokens": -4, "output_tokens": "many",
            "cache_read_input_tokens": u64::MAX, "cache_creation": 7}));
        assert_eq!(tally.usage(), Usage::default());
    }
}
