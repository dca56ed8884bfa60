//! Relative dates become absolute when a memory is saved (L5.6).
//!
//! "by Friday" means nothing a month later. Words that name one day are
//! replaced by it; a week or a month keeps its words, with the day or month
//! behind them. What stands in code is left alone, as is anything that could
//! mean two things.

use jiff::Span;
use jiff::civil::{Date, Weekday};
use regex::{Captures, Regex};
use std::sync::LazyLock;

/// The text with its relative dates made absolute, seen from `today`.
#[must_use]
pub fn absolute(text: &str, today: Date) -> String {
    replaced(text, today, |_| true)
}

/// The same, but for words that may speak of every week: whoever wrote "deploys
/// go out on Thursday" cannot be asked any more.
#[must_use]
pub fn absolute_where_sure(text: &str, today: Date) -> String {
    let habits = ["on ", "after ", "before ", "since "];
    replaced(text, today, |words| !habits.iter().any(|habit| words.starts_with(habit)))
}

fn replaced(text: &str, today: Date, is_wanted: impl Fn(&str) -> bool) -> String {
    let Some(pattern) = PATTERN.as_ref() else {
        return text.to_owned();
    };
    let mut out = String::with_capacity(text.len());
    for (part, kind) in parts(text) {
        match kind {
            Part::Code => out.push_str(part),
            Part::Prose => {
                let resolve = |found: &Captures<'_>| {
                    let Some(words) = found.get(0) else { return String::new() };
                    let whole = words.as_str();
                    // A week or a month that has its day behind it is done.
                    let behind = part.get(words.end()..).unwrap_or_default();
                    let is_open = !behind.starts_with(" (")
                        && !DAYTIMES.iter().any(|time| behind.starts_with(time))
                        && is_wanted(&whole.to_lowercase());
                    let day = is_open.then(|| resolve(whole, today)).flatten();
                    day.unwrap_or_else(|| whole.to_owned())
                };
                out.push_str(&pattern.replace_all(part, resolve));
            }
        }
    }
    out
}

/// "On Thursday mornings" is every week.
const DAYTIMES: &[&str] = &[" mornings", " afternoons", " evenings", " nights"];

// `None` never happens: a test compiles the pattern.
static PATTERN: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let day = "monday|tuesday|wednesday|thursday|friday|saturday|sunday";
    let number = r"\d{1,3}|a|an|one|two|three|four|five|six|seven|eight|nine|ten";
    let unit = "days?|weeks?|months?|years?";
    let pattern = format!(
        r"(?i)\b(?:(?:the )?day (?:after tomorrow|before yesterday)|today|yesterday|tomorrow|tonight|(?:last|next|this) (?:week|month|year|{day})|in (?:{number}) (?:{unit})|(?:{number}) (?:{unit}) ago|(?:by|on|until|before|after|since) (?:{day}))\b"
    );
    Regex::new(&pattern).ok()
});

fn resolve(words: &str, today: Date) -> Option<String> {
    let lower = words.to_lowercase();
    let list: Vec<&str> = lower.split_whitespace().collect();
    let original: Vec<&str> = words.split_whitespace().collect();
    match list.as_slice() {
        ["today" | "tonight"] => Some(today.to_string()),
        ["yesterday"] => shifted(today, Span::new().days(-1)),
        ["tomorrow"] => shifted(today, Span::new().days(1)),
        [.., "day", "after", "tomorrow"] => shifted(today, Span::new().days(2)),
        [.., "day", "before", "yesterday"] => shifted(today, Span::new().days(-2)),
        [which @ ("last" | "next" | "this"), what] => relative(words, which, what, today),
        ["in", count, unit] => {
            shifted(today, span(number(count)?, unit)?).map(|day| format!("on {day}"))
        }
        [count, unit, "ago"] => {
            shifted(today, span(-number(count)?, unit)?).map(|day| format!("on {day}"))
        }
        ["since", day] => Some(format!("{} {}", original.first()?, latest(weekday(day)?, today)?)),
        [_, day] => Some(format!("{} {}", original.first()?, coming(weekday(day)?, today)?)),
        _ => None,
    }
}

/// `last week`, `next month`, `this Friday`.
fn relative(words: &str, which: &str, what: &str, today: Date) -> Option<String> {
    let step: i64 = match which {
        "last" => -1,
        "next" => 1,
        _ => 0,
    };
    match what {
        "week" => {
            let day = today.checked_add(Span::new().weeks(step)).ok()?;
            let since = i64::from(day.weekday().since(Weekday::Monday));
            let monday = day.checked_add(Span::new().days(-since)).ok()?;
            Some(format!("{words} (week of {monday})"))
        }
        "month" => {
            let month = today.checked_add(Span::new().months(step)).ok()?;
            Some(format!("{words} ({:04}-{:02})", month.year(), month.month()))
        }
        "year" => Some(format!(
            "{words} ({:04})",
            today.checked_add(Span::new().years(step)).ok()?.year()
        )),
        day => {
            let day = weekday(day)?;
            let found = match which {
                "last" => latest(day, today)?,
                _ => coming(day, today)?,
            };
            Some(found.to_string())
        }
    }
}

fn shifted(today: Date, span: Span) -> Option<String> {
    today.checked_add(span).ok().map(|day| day.to_string())
}

fn span(count: i64, unit: &str) -> Option<Span> {
    let span = Span::new();
    match unit.trim_end_matches('s') {
        "day" => span.try_days(count).ok(),
        "week" => span.try_weeks(count).ok(),
        "month" => span.try_months(count).ok(),
        "year" => span.try_years(count).ok(),
        _ => None,
    }
}

fn number(word: &str) -> Option<i64> {
    let words = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
    if matches!(word, "a" | "an") {
        return Some(1);
    }
    let named = words.iter().position(|name| *name == word);
    named.and_then(|at| i64::try_from(at + 1).ok()).or_else(|| word.parse().ok())
}

fn weekday(name: &str) -> Option<Weekday> {
    let names = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
    let at = names.iter().position(|day| *day == name)?;
    Weekday::from_monday_zero_offset(i8::try_from(at).ok()?).ok()
}

/// The next such day, not today.
fn coming(day: Weekday, today: Date) -> Option<Date> {
    today.nth_weekday(1, day).ok()
}

/// The last such day, not today.
fn latest(day: Weekday, today: Date) -> Option<Date> {
    today.nth_weekday(-1, day).ok()
}

enum Part {
    Prose,
    Code,
}

/// Prose and code spans, in turn. A fence goes to its end, or to the end of
/// the text.
fn parts(text: &str) -> Vec<(&str, Part)> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find('`') {
        let (before, code) = rest.split_at_checked(start).unwrap_or((rest, ""));
        found.push((before, Part::Prose));
        let ticks = code.len() - code.trim_start_matches('`').len();
        let mark = code.get(..ticks).unwrap_or_default();
        let inner = code.get(ticks..).unwrap_or_default();
        let end = match inner.find(mark) {
            Some(at) => ticks + at + ticks,
            None if ticks >= 3 => code.len(),
            // A lone tick is not code.
            None => {
                found.push((mark, Part::Code));
                rest = inner;
                continue;
            }
        };
        let (span, behind) = code.split_at_checked(end).unwrap_or((code, ""));
        found.push((span, Part::Code));
        rest = behind;
    }
    found.push((rest, Part::Prose));
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;

    /// A Wednesday.
    const TODAY: Date = date(2026, 11, 11);

    #[test]
    fn l5_6_relative_dates_become_absolute() {
        let cases = [
            ("Merged today.", "Merged 2026-11-11."),
            ("Yesterday it broke", "2026-11-10 it broke"),
            ("due tomorrow, please", "due 2026-11-12, please"),
            ("the day after tomorrow", "2026-11-13"),
            ("ship by Friday", "ship by 2026-11-13"),
            ("until Wednesday", "until 2026-11-18"),
            ("broken since Monday", "broken since 2026-11-09"),
            ("last Friday", "2026-11-06"),
            ("next Monday", "2026-11-16"),
            ("in 3 days", "on 2026-11-14"),
            ("in two weeks", "on 2026-11-25"),
            ("10 days ago", "on 2026-11-01"),
            ("a month ago", "on 2026-10-11"),
            ("next week", "next week (week of 2026-11-16)"),
            ("last month", "last month (2026-10)"),
            ("next year", "next year (2027)"),
        ];
        for (text, wanted) in cases {
            assert_eq!(absolute(text, TODAY), wanted, "{text}");
        }
    }

    #[test]
    fn l5_6_other_words_and_code_stay() {
        let same = [
            "Deploys happen on Fridays",
            "the Friday deploy",
            "they go out on Thursday mornings",
            "use `git log --since=yesterday` daily",
            "```\ntomorrow\n```\n",
            "in 1000000 days",
            "a todayish thing; 2026-11-11",
            "within days",
        ];
        for text in same {
            assert_eq!(absolute(text, TODAY), text);
        }
        assert_eq!(absolute("a ` tick, today", TODAY), "a ` tick, 2026-11-11");
    }

    #[test]
    fn l6_9_what_may_be_a_habit_is_left_alone_where_nobody_can_be_asked() {
        let sure = |text| absolute_where_sure(text, TODAY);
        assert_eq!(sure("Deploys go out on Thursday"), "Deploys go out on Thursday");
        assert_eq!(sure("ship by Friday, tomorrow"), "ship by 2026-11-13, 2026-11-12");
        assert_eq!(sure("Since Monday; next Monday"), "Since Monday; 2026-11-16");
    }

    #[test]
    fn l5_6_it_is_done_once() {
        let once = absolute("by Friday, next week, 3 days ago, next month", TODAY);
        assert!(once.ends_with("(2026-12)"));
        assert_eq!(absolute(&once, date(2027, 3, 1)), once);
    }
}
