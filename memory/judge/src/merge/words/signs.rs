//! Scripts that are written without spaces.

use super::{Kind, Word};
use crate::merge::lexicon::{self, Entry};

/// Han and kana: days, runs of katakana, and pairs of Han; hiragana binds
/// words and says little.
pub(super) fn signs(text: &str, at: usize, found: &mut Vec<Word>) {
    let list: Vec<(usize, char)> = text.char_indices().collect();
    let mut push = |from: usize, to: usize, kind: Kind, key: String, negates: bool| {
        let lower = text.get(from..to).unwrap_or_default().to_owned();
        found.push(Word {
            start: at + from,
            end: at + to,
            lower,
            key,
            parts: Vec::new(),
            kind,
            negates,
        });
    };
    let end_of = |index: usize| list.get(index).map_or(text.len(), |(end, _)| *end);
    let mut index = 0;
    while let Some((from, sign)) = list.get(index).copied() {
        let next = list.get(index + 1).map_or(' ', |(_, next)| *next);
        if let Some((day, length)) = day_in_signs(text.get(from..).unwrap_or_default()) {
            push(
                from,
                end_of(index + length),
                Kind::Weekday(day, usize::MAX),
                format!("day {day}"),
                false,
            );
            index += length;
        } else if matches!(sign, '不' | '没' | '别' | '勿' | '未' | '禁') {
            push(from, end_of(index + 1), Kind::Stop, sign.to_string(), true);
            index += 1;
        } else if sign == 'な' && matches!(next, 'い' | 'く')
            || sign == 'ま' && text.get(from..).is_some_and(|t| t.starts_with("ません"))
        {
            push(from, end_of(index + 2), Kind::Stop, "ない".to_owned(), true);
            index += 2;
        } else if is_katakana(sign) {
            let length = list.iter().skip(index).take_while(|(_, c)| is_katakana(*c)).count();
            let run = text.get(from..end_of(index + length)).unwrap_or_default().to_owned();
            let key = concept(&run);
            push(from, end_of(index + length), Kind::Plain, key, false);
            index += length;
        } else if is_han(sign)
            && is_han(next)
            && day_in_signs(text.get(end_of(index + 1)..).unwrap_or_default()).is_none()
        {
            let pair = text.get(from..end_of(index + 2)).unwrap_or_default().to_owned();
            let kind = if lexicon::entry(&pair) == Some(Entry::Generic) {
                Kind::Generic
            } else {
                Kind::Signs
            };
            push(from, end_of(index + 2), kind, concept(&pair), false);
            index += 1;
        } else {
            index += 1;
        }
    }
}

fn concept(run: &str) -> String {
    match lexicon::entry(run) {
        Some(Entry::Concept(concept)) => concept.to_owned(),
        _ => run.to_owned(),
    }
}

/// Han that carries a meaning: not the signs that bind.
fn is_han(sign: char) -> bool {
    matches!(sign, '\u{3400}'..='\u{9fff}') && !"的了在是和里到把被由于向让每更最很再已才又并但而则与及或也都就还从可请我们你他她它这那吧呢吗着过给对为以不没别勿未现".contains(sign)
}

fn is_katakana(sign: char) -> bool {
    matches!(sign, '\u{30a0}'..='\u{30ff}')
}

/// A day of the week at the start of a text, and how many signs it has.
fn day_in_signs(text: &str) -> Option<(usize, usize)> {
    for (before, length) in [("星期", 3), ("礼拜", 3), ("周", 2), ("週", 2)] {
        if let Some(day) = text.strip_prefix(before).and_then(|rest| rest.chars().next()) {
            return "一二三四五六日".chars().position(|d| d == day).map(|day| (day, length));
        }
    }
    let mut signs = text.chars();
    let day = signs.next().and_then(|day| "月火水木金土日".chars().position(|d| d == day))?;
    if signs.next() != Some('曜') {
        return None;
    }
    Some((day, if signs.next() == Some('日') { 3 } else { 2 }))
}
