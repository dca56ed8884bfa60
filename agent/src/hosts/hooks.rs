//! Hooks of other agents: what Everfold does beside Claude Code, and beside the
//! agents that took over its format (X1).
//!
//! A host starts a process for each event and hands it JSON; what comes back
//! is JSON or nothing. There is no daemon: what has to be known from one event
//! to the next is a file of lines for each session. A [`HostCall`] is
//! what a host says, [`HostService::answer`] does what the event asks for, and a
//! [`HostReply`] is what the host gets.
//!
//! Answering blocks, needs no model and no network, and is quick: the host
//! waits for it. What takes longer is left to a worker ([`HostService::left`]), one
//! for each session, which may ask a model ([`crate::Agent::review_host`]).

mod cache_break;
mod call;
mod compact;
mod end;
mod exchange;
mod failure;
mod host_transcript;
mod notes;
mod prompt;
mod reply;
mod review;
mod start;
mod stop;
mod tool;

pub use call::{HostCall, HostCallError, HostEvent};
pub use end::Work;
pub use reply::HostReply;

use crate::error::Error;
use crate::hosts::{HostKind, HostService};
use everfold_disk::atomic::{self, FileReaders};
use everfold_memory_store::StoreScope;
use jiff::Timestamp;
use notes::{Note, Notes};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Where the files of all sessions are, under the home.
pub(crate) const DIR: &str = "beside";
/// Where it is noted which hosts called, in that folder.
const HOSTS: &str = "hosts";

pub(crate) use host_transcript::persons_words;

/// What the person typed in a project lately, newest first, as hooks noted it.
pub(crate) fn prompts_of(home: &Path, project: &Path, most: usize) -> Vec<String> {
    notes::prompts_of(&home.join(DIR), project, most)
}

/// The session in which a message of a project is being answered, as hooks
/// noted it.
pub(crate) fn answering(home: &Path, project: &Path) -> Option<String> {
    notes::answering(&home.join(DIR), project)
}

impl HostService {
    /// Does what an event asks for.
    ///
    /// # Errors
    /// If memories cannot be read or written. The host goes on without.
    pub fn answer(&self, call: &HostCall, now: Timestamp) -> Result<HostReply, Error> {
        let host = call.host(self.claude.as_ref());
        if let Some(host) = host {
            self.note_seen(host);
        }
        let mut notes = Notes::open(&self.notes_dir(), call.session());
        match call.event {
            // Gemini CLI puts this in front of the person's first message, and leaves
            // messages that begin with it out when the session goes on later.
            HostEvent::SessionStart if host == Some(HostKind::Gemini) => {
                notes.note(Note::Begun { source: call.text("source").to_owned() });
                Ok(HostReply::nothing())
            }
            HostEvent::SessionStart => {
                self.session_start(call, call.text("source"), &mut notes, now)
            }
            HostEvent::UserPromptSubmit => self.prompt(call, &mut notes, now),
            HostEvent::PostToolUse => self.tool_used(call, &mut notes),
            HostEvent::PostToolUseFailure => self.tool_failed(call, &mut notes),
            HostEvent::PreCompact => self.before_summary(call, &mut notes),
            HostEvent::PostCompact => Ok(self.after_summary(call, &mut notes)),
            HostEvent::Stop | HostEvent::SubagentStop => self.stopped(call, &mut notes),
            HostEvent::SessionEnd => Ok(end::ended(call, &mut notes)),
            HostEvent::Other => Ok(HostReply::nothing()),
        }
    }

    /// When a host last called a hook, by the minute or so (X10).
    #[must_use]
    pub fn last_seen_in(&self, host: HostKind) -> Option<SystemTime> {
        self.seen_in(host).metadata().and_then(|about| about.modified()).ok()
    }

    fn seen_in(&self, host: HostKind) -> PathBuf {
        self.notes_dir().join(HOSTS).join(host.as_str())
    }

    fn note_seen(&self, host: HostKind) {
        let every = Duration::from_secs(self.limits.beside.seen_every_s);
        let ago = self.last_seen_in(host).and_then(|at| at.elapsed().ok());
        if ago.is_none_or(|ago| ago >= every) {
            // Nobody but the doctor asks for it.
            let _ = atomic::write(&self.seen_in(host), b"", FileReaders::Private);
        }
    }

    fn notes_dir(&self) -> PathBuf {
        self.home.join(DIR)
    }

    /// Whether the host has the same memory directory, and so shows its index
    /// itself (X5).
    fn is_shared(&self, call: &HostCall) -> bool {
        // The transcript of a new session is named before it is there.
        let is_claude = call.host(self.claude.as_ref()) == Some(HostKind::Claude);
        is_claude
            && self.claude.as_ref().is_some_and(|claude| {
                let dir = self.memories.dir(StoreScope::Project);
                tool::real(&dir).starts_with(tool::real(claude)) || dir.starts_with(claude)
            })
    }
}
