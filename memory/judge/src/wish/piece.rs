//! One piece of what a person typed, cut into sentences.

use super::{bars, explicit, standing};
use crate::phrase::{fold, part};
use crate::sentence::{End, Sentence, sentences};
use std::ops::Range;

/// Sentences that "remember that" may point back to.
const BACK_SENTENCES: usize = 3;

/// A piece with its sentences.
pub(super) struct Piece<'a> {
    pub(super) text: &'a str,
    pub(super) low: String,
    pub(super) sentences: Vec<Sentence>,
}

/// How far what follows belongs to what was found.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    /// A wish takes in rules that follow it.
    Wish,
    /// A rule ends where the next begins.
    Rule,
}

impl<'a> Piece<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        Self { text, low: fold(text), sentences: sentences(text) }
    }

    /// A sentence in lower case.
    pub(super) fn low(&self, at: usize) -> &str {
        self.sentences.get(at).map_or("", |sentence| part(&self.low, sentence.range.clone()))
    }

    /// The text from one sentence up to another.
    pub(super) fn slice(&self, from: usize, to: usize) -> &'a str {
        let start = self.sentences.get(from).map_or(0, |first| first.range.start);
        let end = self.sentences.get(to.saturating_sub(1)).map_or(start, |last| last.range.end);
        part(self.text, start..end)
    }

    /// The sentences after `at` that belong to it.
    pub(super) fn extent(&self, at: usize, how: Extent) -> Range<usize> {
        let Some(own) = self.sentences.get(at) else { return at..at };
        let lists = own.end == End::Colon;
        let mut block = own.block;
        let mut next = at + 1;
        while let Some(sentence) = self.sentences.get(next) {
            let low = self.low(next);
            let near = sentence.block == block || lists && next == at + 1;
            let ends = !near
                || sentence.end == End::Question
                || bars::is_task(low)
                || bars::is_aside(low)
                || explicit::has_cue(low)
                || how == Extent::Rule && standing::is_rule(low)
                // What the person is belongs to another memory than what they do.
                || standing::is_about(low) != standing::is_about(self.low(at));
            if ends {
                break;
            }
            block = sentence.block;
            next += 1;
        }
        at + 1..next
    }

    /// The sentences before `at` that it can point back to.
    pub(super) fn before(&self, at: usize, floor: usize) -> Range<usize> {
        let block = self.sentences.get(at).map(|sentence| sentence.block);
        let mut first = at;
        while first > floor && at - first < BACK_SENTENCES {
            let fits = self.sentences.get(first - 1).is_some_and(|sentence| {
                Some(sentence.block) == block && sentence.end != End::Question
            });
            if !fits || bars::is_task(self.low(first - 1)) {
                break;
            }
            first -= 1;
        }
        first..at
    }

    /// The words of ranges, as the person wrote them, without sentences that
    /// give a secret away; none where nothing is left.
    pub(super) fn compose(&self, ranges: &[Range<usize>]) -> Option<String> {
        let mut body = String::new();
        let mut end = None;
        for range in ranges {
            let words = part(self.text, range.clone());
            if bars::is_secret(words, part(&self.low, range.clone())) {
                end = None;
                continue;
            }
            if !body.is_empty() {
                let gap = end.map_or("", |end| part(self.text, end..range.start));
                let lines = gap.contains('\n') && gap.trim().is_empty();
                body.push_str(if lines { "\n" } else { " " });
            }
            body.push_str(words.trim());
            end = Some(range.end);
        }
        let body = body
            .trim()
            .trim_end_matches(['.', '!', ',', ';', ':', '?', '。', '，', '！', '？'])
            .trim();
        (!body.is_empty()).then(|| super::capitalised(body))
    }
}
