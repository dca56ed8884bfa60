//! When a team's memories were consolidated, and by whom (F2, L6.1): one small
//! file beside the memories, on which the members agree.
//!
//! It is only ever changed on the state in which it was read, so that of two
//! members who want to begin one is told that the other did.

use everfold_kernel::ports::{TeamChange, TeamError, TeamHead, TeamPublished, TeamRemote};
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

/// Where it is noted.
const FILE: &str = "everfold-dream.json";
/// Largest note that is read, in bytes.
const FILE_BYTES: u64 = 16 * 1024;
/// Who began longer ago has died: no dream takes as long.
const STALE: SignedDuration = SignedDuration::from_mins(60);
/// Times that are further ahead are wrong, and not a clock that differs a little.
const AHEAD: SignedDuration = SignedDuration::from_mins(10);
/// File systems that know times less exactly round them by less.
const ROUNDED: SignedDuration = SignedDuration::from_secs(2);

/// What the members know of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TeamNights {
    /// The last consolidation.
    #[serde(default)]
    pub last: Option<TeamNight>,
    /// The one that somebody is at.
    #[serde(default)]
    pub now: Option<TeamNight>,
}

/// One consolidation: by whom, and when it was done, or begun.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TeamNight {
    pub by: String,
    pub at: Timestamp,
}

/// What came of beginning one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TeamNightStart {
    /// It is ours until it is ended, or an hour has passed.
    Begun,
    /// Another member is at it.
    Held(TeamNight),
    /// Another member did it meanwhile.
    Done(Timestamp),
}

impl TeamNights {
    /// What is known in a state of the team.
    ///
    /// # Errors
    /// If it is there and cannot be read.
    pub fn read(remote: &dyn TeamRemote, head: &TeamHead) -> Result<Self, TeamError> {
        let Some(file) = head.files.get(FILE).filter(|file| file.bytes <= FILE_BYTES) else {
            return Ok(Self::default());
        };
        let read = remote.contents(std::slice::from_ref(&file.version))?;
        // What nobody can read says nothing, and is written anew.
        let noted = read.first().and_then(|bytes| serde_json::from_slice(bytes).ok());
        Ok(noted.unwrap_or_default())
    }

    /// When memories were consolidated last, on a clock of ours.
    #[must_use]
    pub fn last(&self, now: Timestamp) -> Option<Timestamp> {
        let last = self.last.as_ref()?.at;
        (last.duration_since(now) <= AHEAD).then(|| last.min(now))
    }

    /// Who is at it now.
    #[must_use]
    pub fn holder(&self, now: Timestamp) -> Option<&TeamNight> {
        let held = self.now.as_ref()?;
        let is_over = self.last.as_ref().is_some_and(|last| last.at >= held.at);
        let age = now.duration_since(held.at);
        (!is_over && age <= STALE && age >= -AHEAD).then_some(held)
    }

    /// The change that tells the others of a consolidation here, if they do not
    /// know of it.
    pub(crate) fn news(
        &self,
        own: Option<Timestamp>,
        by: &str,
        now: Timestamp,
    ) -> Option<TeamChange> {
        let own = own.filter(|own| *own <= now)?;
        let is_known = self.last(now).is_some_and(|last| own.duration_since(last) < ROUNDED);
        // The one that they take for ours to be at is over.
        let is_open = self.holder(now).is_some_and(|held| held.by == by && held.at <= own);
        let last = Some(TeamNight { by: by.to_owned(), at: own });
        let held = self.now.clone().filter(|held| held.at > own);
        (!is_known || is_open).then(|| Self { last, now: held }.change()).flatten()
    }

    fn change(&self) -> Option<TeamChange> {
        let mut content = serde_json::to_vec(self).ok()?;
        content.push(b'\n');
        Some(TeamChange { path: FILE.to_owned(), content: Some(content) })
    }
}

/// Says to all that we begin, unless somebody is at it or ended after a time.
///
/// # Errors
/// If the others cannot be reached.
pub fn begin(
    remote: &dyn TeamRemote,
    night: &TeamNight,
    (claim, unless_after): (NightClaim, Option<Timestamp>),
    tries: u32,
) -> Result<TeamNightStart, TeamError> {
    let note = format!("{} begins to dream", night.by);
    let refused = changed(remote, tries, &note, |nights| {
        let last = nights.last(night.at).filter(|last| unless_after.is_some_and(|at| *last > at));
        if let Some(last) = last {
            return Err(TeamNightStart::Done(last));
        }
        match nights.holder(night.at).filter(|_| claim == NightClaim::ByNote) {
            Some(held) => Err(TeamNightStart::Held(held.clone())),
            None => Ok(Some(TeamNights { last: nights.last, now: Some(night.clone()) })),
        }
    })?;
    Ok(refused.unwrap_or(TeamNightStart::Begun))
}

/// By what it is decided who begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NightClaim {
    /// Whoever notes it first.
    ByNote,
    /// The servers have said so; the note only tells of it.
    ByLease,
}

/// Says to all that nothing came of it.
///
/// # Errors
/// If the others cannot be reached; then it is over after an hour.
pub fn give_up(remote: &dyn TeamRemote, night: &TeamNight, tries: u32) -> Result<(), TeamError> {
    let note = format!("{} ends a dream of which nothing came", night.by);
    changed(remote, tries, &note, |nights| {
        let is_ours = nights.now.as_ref() == Some(night);
        Ok::<_, TeamNightStart>(is_ours.then_some(TeamNights { now: None, ..nights }))
    })?;
    Ok(())
}

/// Changes the note as it is; says why not, where that is not wanted.
fn changed(
    remote: &dyn TeamRemote,
    tries: u32,
    note: &str,
    change: impl Fn(TeamNights) -> Result<Option<TeamNights>, TeamNightStart>,
) -> Result<Option<TeamNightStart>, TeamError> {
    for _ in 0..tries.max(1) {
        let head = remote.newest()?;
        let changed = match change(TeamNights::read(remote, &head)?) {
            Ok(changed) => changed,
            Err(no) => return Ok(Some(no)),
        };
        let Some(change) = changed.and_then(|nights| nights.change()) else { return Ok(None) };
        if let TeamPublished::Done(_) = remote.publish(&head, &[change], note)? {
            return Ok(None);
        }
    }
    let message = format!("others pushed first, {tries} times in a row");
    Err(TeamError::Unreachable { place: "the team".to_owned(), message })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(minutes: i64) -> Timestamp {
        Timestamp::from_second(1_790_000_000 + minutes * 60).unwrap()
    }

    fn night(minutes: i64) -> TeamNight {
        TeamNight { by: "ada@x".into(), at: at(minutes) }
    }

    #[test]
    fn f1_who_began_long_ago_or_ended_is_at_it_no_more() {
        let held = |last, now| TeamNights { last, now: Some(now) };
        assert!(held(None, night(0)).holder(at(59)).is_some());
        assert!(held(None, night(0)).holder(at(61)).is_none(), "it died");
        assert!(held(Some(night(20)), night(0)).holder(at(30)).is_none(), "it was done");
        assert!(held(Some(night(-5)), night(0)).holder(at(30)).is_some());
        assert!(held(None, night(5)).holder(at(0)).is_some(), "clocks differ a little");
        assert!(held(None, night(60)).holder(at(0)).is_none(), "nobody begins in the future");
    }

    #[test]
    fn f1_a_time_in_the_future_is_no_last_time() {
        let nights = |minutes| TeamNights { last: Some(night(minutes)), now: None };
        assert_eq!(nights(-60).last(at(0)), Some(at(-60)));
        assert_eq!(nights(2).last(at(0)), Some(at(0)));
        assert_eq!(nights(600).last(at(0)), None);
        // A sane one takes its place, and is told once.
        assert!(nights(600).news(Some(at(-1)), "b", at(0)).is_some());
        assert!(nights(-60).news(Some(at(-60)), "b", at(0)).is_none());
        assert!(nights(-60).news(Some(at(-90)), "b", at(0)).is_none());
        assert!(nights(-60).news(None, "b", at(0)).is_none());
        // Two within a moment: the second is told, too.
        let second = TeamNight { by: "b".into(), at: at(-2) };
        let nights = TeamNights { last: Some(night(-2)), now: Some(second) };
        assert_eq!(nights.holder(at(0)), None);
        let later = Timestamp::from_second(at(-2).as_second() + 1).unwrap();
        let nights = TeamNights { now: Some(TeamNight { by: "b".into(), at: later }), ..nights };
        assert!(nights.holder(at(0)).is_some());
        assert!(nights.news(Some(later), "b", at(0)).is_some());
        assert!(nights.news(Some(later), "c", at(0)).is_none());
    }
}
