//! "By Friday" means nothing a month later (L5.6): where the day of writing is
//! known, relative dates become absolute.

use super::{Tidied, day_of};
use crate::topics;
use everfold_kernel::ports::Stored;
use everfold_memory_judge::dates::absolute_file;
use jiff::civil::date;

pub(super) fn make_absolute(stored: &Stored, done: &mut Tidied) {
    let mut changed = Vec::new();
    for (path, text) in topics(&done.texts) {
        match day_of(path, text, stored) {
            Some(day) => {
                let new = absolute_file(text, day);
                if new != text {
                    changed.push((path.to_owned(), new, day));
                }
            }
            // Whatever the day, the words would change.
            None if absolute_file(text, date(2000, 1, 1)) != text => {
                done.seen.push(format!("{path} has a relative date whose day is unknown"));
            }
            None => {}
        }
    }
    for (path, text, day) in changed {
        done.reasons.add(&path, &format!("relative dates became absolute, as of {day}"));
        done.texts.insert(path, text);
    }
}
