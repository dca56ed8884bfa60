//! An answer is complete: what the person asked to keep becomes a memory.

use super::Beside;
use super::call::Call;
use super::notes::{Note, Notes};
use super::reply::Reply;
use super::said::news;
use crate::error::Error;
use jiff::Timestamp;

impl Beside {
    pub(super) fn stopped(
        &self,
        call: &Call,
        notes: &mut Notes,
        _now: Timestamp,
    ) -> Result<Reply, Error> {
        let Some(path) = call.transcript() else { return Ok(Reply::nothing()) };
        if let Ok(news) = news(&path, notes.looked, self.limits.hook.transcript_bytes) {
            notes.note(Note::Looked { offset: news.offset });
        }
        Ok(Reply::nothing())
    }
}
