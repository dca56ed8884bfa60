//! Numbers, sizes and times as people read them, wherever they are shown.

use jiff::Timestamp;

/// A number with its thousands parted.
#[must_use]
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let count = digits.len();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (count - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// So many of a thing, as people say it: `1 request`, `2,000 memories`.
#[must_use]
pub fn counted(count: u64, thing: &str) -> String {
    let things = match thing.strip_suffix('y') {
        _ if count == 1 => thing.to_owned(),
        Some(stem) if !stem.ends_with(['a', 'e', 'o', 'u']) => format!("{stem}ies"),
        _ => format!("{thing}s"),
    };
    format!("{} {things}", grouped(count))
}

/// Bytes as people say them.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "one digit after the point is shown")]
pub fn size(bytes: u64) -> String {
    const STEP: u64 = 1_000;
    match bytes {
        0..STEP => format!("{bytes} B"),
        STEP..1_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}

/// How long ago something was, in a few letters.
#[must_use]
pub fn age(then: Timestamp, now: Timestamp) -> String {
    const MINUTE: i64 = 60;
    const HOUR: i64 = 60 * MINUTE;
    const DAY: i64 = 24 * HOUR;
    let seconds = now.as_second().saturating_sub(then.as_second()).max(0);
    match seconds {
        0..MINUTE => "now".to_owned(),
        MINUTE..HOUR => format!("{}m", seconds / MINUTE),
        HOUR..DAY => format!("{}h", seconds / HOUR),
        _ => format!("{}d", seconds / DAY),
    }
}

/// A text in one line, at most so many characters of it.
#[must_use]
pub fn cut(text: &str, most: usize) -> String {
    // A long text is not gone through to its end for a few characters of it.
    let flat = text.chars().map(|letter| if letter.is_control() { ' ' } else { letter });
    let mut short: String = flat.take(most.saturating_add(1)).collect();
    if short.chars().count() <= most {
        return short;
    }
    short = short.chars().take(most.saturating_sub(1)).collect();
    short.push('…');
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_as_people_write_them() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(counted(1, "request"), "1 request");
        assert_eq!(counted(0, "memory"), "0 memories");
        assert_eq!(counted(30, "day"), "30 days");
        assert_eq!(counted(2_000, "request"), "2,000 requests");
        assert_eq!(size(999), "999 B");
        assert_eq!(size(1_500), "1.5 kB");
        assert_eq!((cut("abc", 3), cut("ab\ncd", 4)), ("abc".to_owned(), "ab …".to_owned()));
    }

    #[test]
    fn q4_ages_are_short_and_never_negative() {
        let at = |seconds| Timestamp::from_second(seconds).unwrap();
        assert_eq!(age(at(100), at(90)), "now");
        assert_eq!(age(at(0), at(61)), "1m");
        assert_eq!(age(at(0), at(7_200)), "2h");
        assert_eq!(age(at(0), at(3 * 86_400)), "3d");
    }
}
