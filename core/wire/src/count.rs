//! Counts of tokens in JSON that a server wrote.

use serde_json::Value;

/// No real count comes near this; sums of a few stay far from overflow.
const LARGEST: u64 = 1 << 40;

/// The count under a key; what is not a plausible count is none.
pub(crate) fn count(value: &Value, key: &str) -> Option<u64> {
    value.get(key).and_then(Value::as_u64).filter(|count| *count <= LARGEST)
}
