//! Around a summary of the host's: what the person said and the summary lost
//! is kept, and comes back at the start that follows (L4).

use super::call::HostCall;
use super::host_transcript::persons_words;
use super::notes::{Note, Notes};
use super::reply::HostReply;
use crate::error::Error;
use crate::hosts::HostService;
use std::collections::BTreeSet;

/// Shorter words say little about whether a summary has a message.
const WORD_CHARS: usize = 4;

impl HostService {
    /// Before a summary: memories are written now, as the words they rest on
    /// are about to go; and the person's own words are kept.
    pub(super) fn before_summary(
        &self,
        call: &HostCall,
        notes: &mut Notes,
    ) -> Result<HostReply, Error> {
        if let Some(path) = call.transcript() {
            let said = persons_words(&path, self.limits.beside.transcript_bytes);
            let words = self.newest(said);
            // Some hosts say this before every request.
            if words != notes.kept {
                notes.note(Note::Kept { words });
            }
        }
        self.stopped(call, notes)
    }

    /// After it: what the summary has need not be kept.
    pub(super) fn after_summary(&self, call: &HostCall, notes: &mut Notes) -> HostReply {
        let summary = words(call.text("compact_summary"));
        if !summary.is_empty() {
            let least = self.limits.beside.kept_percent;
            let lost = |message: &String| {
                let own = words(message);
                let there = own.intersection(&summary).count();
                there * 100 < own.len() * least
            };
            let kept = notes.kept.iter().filter(|message| lost(message)).cloned().collect();
            notes.note(Note::Kept { words: kept });
        }
        HostReply::nothing()
    }

    /// The newest messages that fit, in their order.
    fn newest(&self, said: Vec<String>) -> Vec<String> {
        let limits = &self.limits.beside;
        let mut left = limits.kept_chars;
        let mut kept: Vec<String> = Vec::new();
        for message in said.into_iter().rev() {
            let length = message.chars().count();
            // A long paste is no instruction.
            if length > limits.kept_message_chars || kept.contains(&message) {
                continue;
            }
            if length > left {
                break;
            }
            left -= length;
            kept.push(message);
        }
        kept.reverse();
        kept
    }
}

fn words(text: &str) -> BTreeSet<String> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| word.chars().count() >= WORD_CHARS)
        .map(str::to_lowercase)
        .collect()
}
