//! Which day, week or month is meant, and how it is put.

use super::guard::Reading;
use super::lexicon::{Hit, Tongue};
use super::phrase::{Mark, Meaning};
use jiff::Span;
use jiff::civil::{Date, Weekday};

/// A weekday of this week that is nearer than this is not the "next" one: who
/// says "next Thursday" on a Tuesday means the one of next week, or would have
/// said "on Thursday". From Friday on, the coming Thursday is in next week
/// anyway.
const MAX_NEAR_DAYS: i32 = 3;

/// The place of years in a table's `units`.
const YEAR: i16 = 4;

/// The words that take the place of the hit. `None` where there is no such day.
pub(super) fn resolved(hit: &Hit<'_>, reading: &Reading<'_>, today: Date) -> Option<String> {
    let tongue = reading.lexicon.tongues.get(hit.phrase.tongue)?;
    let (value, prefix) = value(hit, reading, tongue, today)?;
    let kept = hit.kept.map(|(first, end)| reading.words(first, end)).unwrap_or_default();
    let wording = hit.phrase.wording;
    let is_period = matches!(hit.phrase.meaning, Meaning::Month(_) | Meaning::Year(_));
    let is_led = is_period && kept.is_empty() && wording.ends_with(" {}");
    if is_led && reading.follows(hit, Mark::Preposition) {
        return Some(value);
    }
    if !wording.is_empty() {
        return Some(capital(hit, reading, &wording.replace('$', kept).replace("{}", &value)));
    }
    if !kept.is_empty() {
        return Some(format!("{kept} {value}"));
    }
    if prefix.is_empty() || reading.follows(hit, Mark::Preposition) {
        return Some(value);
    }
    Some(capital(hit, reading, &format!("{prefix} {value}")))
}

/// A sentence goes on beginning with a capital.
fn capital(hit: &Hit<'_>, reading: &Reading<'_>, words: &str) -> String {
    let mut signs = words.chars();
    match signs.next() {
        Some(first) if reading.is_capital(hit.first) && !words.starts_with('$') => {
            first.to_uppercase().chain(signs).collect()
        }
        _ => words.to_owned(),
    }
}

/// What takes the place of the words, and what stands before it.
fn value(
    hit: &Hit<'_>,
    reading: &Reading<'_>,
    tongue: &Tongue,
    today: Date,
) -> Option<(String, &'static str)> {
    let framed = |frame: &str, date: Date| match hit.phrase.wording {
        "" => frame.replace("{}", &date.to_string()),
        _ => date.to_string(),
    };
    match hit.phrase.meaning {
        Meaning::In => Some((shifted(hit, today, 1)?.to_string(), tongue.on)),
        Meaning::Ago if hit.unit == Some(YEAR) => {
            Some((format!("{:04}", shifted(hit, today, -1)?.year()), tongue.during))
        }
        Meaning::Ago => Some((shifted(hit, today, -1)?.to_string(), tongue.on)),
        Meaning::Week(step) => Some((framed(tongue.week, monday(today, step)?), "")),
        Meaning::Weekend(step) => {
            Some((framed(tongue.weekend, plus_days(monday(today, step)?, 5)?), ""))
        }
        Meaning::Month(step) => Some((named(month(today, step)?), tongue.during)),
        Meaning::Year(step) => {
            let year = i32::from(today.year()) + i32::from(step);
            Some((format!("{year:04}"), tongue.during))
        }
        Meaning::Quarter(step) => {
            let there = month(today, step.checked_mul(3)?)?;
            Some((format!("{:04}-Q{}", there.year(), (there.month() - 1) / 3 + 1), tongue.during))
        }
        Meaning::NextNamed => {
            let there = first_of(today.year(), hit.month?)?;
            let year = i16::from(there.month() <= today.month());
            Some((named(first_of(today.year().checked_add(year)?, hit.month?)?), tongue.during))
        }
        Meaning::LastNamed => {
            let there = first_of(today.year(), hit.month?)?;
            let year = i16::from(there.month() >= today.month());
            Some((named(first_of(today.year().checked_sub(year)?, hit.month?)?), tongue.during))
        }
        _ => Some((day(hit, reading, today)?.to_string(), "")),
    }
}

/// The day of a phrase that names one.
fn day(hit: &Hit<'_>, reading: &Reading<'_>, today: Date) -> Option<Date> {
    let coming = || today.nth_weekday(1, weekday(hit)?).ok();
    match hit.phrase.meaning {
        Meaning::Day(step) => plus_days(today, i32::from(step)),
        Meaning::Next => next(weekday(hit)?, today),
        Meaning::This if today.weekday() == weekday(hit)? => Some(today),
        Meaning::This | Meaning::Coming | Meaning::Due | Meaning::On => coming(),
        Meaning::Nearest => {
            let coming = coming()?;
            let is_tomorrow = (coming - today).get_days() == 1;
            if is_tomorrow { plus_days(coming, 7) } else { Some(coming) }
        }
        Meaning::Last | Meaning::Since => today.nth_weekday(-1, weekday(hit)?).ok(),
        Meaning::InWeek(step) => {
            let days = weekday(hit)?.to_monday_zero_offset();
            plus_days(monday(today, step)?, i32::from(days))
        }
        Meaning::FromDay => shifted(hit, coming()?, 1),
        Meaning::NthOf(step) => day_of(month(today, step)?, hit.nth?),
        Meaning::Nth | Meaning::OnNth => nth(today, hit.nth?),
        Meaning::MonthDay => {
            let number = hit.month.or(hit.number)?;
            yearly(today, reading.is_past(hit), |year| day_of(first_of(year, number)?, hit.nth?))
        }
        Meaning::EndOfNamed => {
            let number = hit.month.or(hit.number)?;
            let last = |year| Some(first_of(year, number)?.last_of_month());
            yearly(today, reading.is_past(hit), last)
        }
        Meaning::EndOfMonth(step) => Some(month(today, step)?.last_of_month()),
        Meaning::AtEndOfMonth => Some(today.last_of_month()),
        Meaning::EndOfYear(step) => Date::new(today.year().checked_add(step)?, 12, 31).ok(),
        Meaning::EndOfWeek(step) => {
            let monday = monday(today, step)?;
            let friday = plus_days(monday, 4)?;
            if friday < today { plus_days(monday, 6) } else { Some(friday) }
        }
        _ => None,
    }
}

fn weekday(hit: &Hit<'_>) -> Option<Weekday> {
    Weekday::from_monday_one_offset(i8::try_from(hit.day?).ok()?).ok()
}

fn next(day: Weekday, today: Date) -> Option<Date> {
    let coming = today.nth_weekday(1, day).ok()?;
    let days = (coming - today).get_days();
    let is_this_week = monday(coming, 0) == monday(today, 0);
    if is_this_week && days <= MAX_NEAR_DAYS { plus_days(coming, 7) } else { Some(coming) }
}

fn plus_days(date: Date, days: i32) -> Option<Date> {
    date.checked_add(Span::new().try_days(days).ok()?).ok()
}

/// The Monday of a week.
fn monday(date: Date, step: i16) -> Option<Date> {
    let since = i32::from(date.weekday().to_monday_zero_offset());
    plus_days(date, i32::from(step) * 7 - since)
}

/// The first day of a month.
fn month(date: Date, step: i16) -> Option<Date> {
    date.first_of_month().checked_add(Span::new().try_months(step).ok()?).ok()
}

fn named(month: Date) -> String {
    format!("{:04}-{:02}", month.year(), month.month())
}

fn first_of(year: i16, month: i16) -> Option<Date> {
    Date::new(year, i8::try_from(month).ok()?, 1).ok()
}

fn day_of(month: Date, day: i16) -> Option<Date> {
    Date::new(month.year(), month.month(), i8::try_from(day).ok()?).ok()
}

/// The coming such day of a month, today included; a month may lack it.
fn nth(today: Date, day: i16) -> Option<Date> {
    (0..3).filter_map(|step| day_of(month(today, step)?, day)).find(|date| *date >= today)
}

/// The coming such day of a year, or the latest where it has happened. The 29th
/// of February may be years away.
fn yearly(today: Date, is_past: bool, day: impl Fn(i16) -> Option<Date>) -> Option<Date> {
    (0..9).find_map(|step: i16| {
        let step = if is_past { -step } else { step };
        let date = day(today.year().checked_add(step)?)?;
        (if is_past { date <= today } else { date >= today }).then_some(date)
    })
}

fn shifted(hit: &Hit<'_>, from: Date, sign: i64) -> Option<Date> {
    let count = i64::from(hit.number.unwrap_or(1)) * sign;
    let span = match hit.unit? {
        1 => Span::new().try_days(count),
        2 => Span::new().try_weeks(count),
        3 => Span::new().try_months(count),
        _ => Span::new().try_years(count),
    };
    from.checked_add(span.ok()?).ok()
}
