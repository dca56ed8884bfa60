//! "By Friday" means nothing a month later (L5.6): where the day of writing is
//! known, relative dates become absolute.

use super::{Tidied, day_of};
use crate::topics;
use everfold_kernel::ports::Stored;
use everfold_memory_file::Memory;
use everfold_memory_file::frontmatter::{Key, Value, set};
use everfold_memory_judge::dates::absolute;
use jiff::civil::{Date, date};

pub(super) fn make_absolute(stored: &Stored, done: &mut Tidied) {
    let mut changed = Vec::new();
    for (path, text) in topics(&done.texts) {
        match day_of(path, text, stored) {
            Some(day) => {
                let new = dated(text, day);
                if new != text {
                    changed.push((path.to_owned(), new, day));
                }
            }
            // Whatever the day, the words would change.
            None if dated(text, date(2000, 1, 1)) != text => {
                done.seen.push(format!("{path} has a relative date, and its day is not known"));
            }
            None => {}
        }
    }
    for (path, text, day) in changed {
        done.reasons.add(&path, &format!("relative dates became absolute, seen from {day}"));
        done.texts.insert(path, text);
    }
}

/// A file with its relative dates made absolute, in its body and in the
/// description that recall reads.
fn dated(text: &str, day: Date) -> String {
    let memory = Memory::parse(text);
    let start = text.len() - memory.body.len();
    let head = text.get(..start).unwrap_or_default();
    let file = format!("{head}{}", absolute(memory.body, day));
    let Some(description) = memory.front.description.filter(|_| memory.fault.is_none()) else {
        return file;
    };
    let new = absolute(&description, day);
    if new == description {
        return file;
    }
    set(&file, Key::Top("description"), &Value::Text(new)).unwrap_or(file)
}
