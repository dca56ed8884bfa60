//! From text to the numbers that a model reads: pieces of words, as a
//! `tokenizer.json` of the BERT family describes it.
//!
//! The text is cleaned and, where the file says so, lower-cased and freed of
//! accents; words are split at spaces and signs, Chinese characters stand
//! alone; each word becomes the longest pieces that the vocabulary has.

use icu_normalizer::DecomposingNormalizerBorrowed;
use serde::Deserialize;
use std::collections::BTreeMap;

/// Most pieces of a text, the two at its ends included.
pub const MOST: usize = 128;

/// A tokenizer that was read.
#[derive(Debug)]
pub struct WordPieces {
    vocabulary: BTreeMap<String, i64>,
    prefix: String,
    word_chars: usize,
    unknown: i64,
    start: i64,
    end: i64,
    lowercase: Case,
    accents: Accents,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Case {
    Lowered,
    Kept,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Accents {
    Stripped,
    Kept,
}

#[derive(Deserialize)]
struct File {
    model: Model,
    #[serde(default)]
    normalizer: Option<Normalizer>,
}

#[derive(Deserialize)]
struct Model {
    #[serde(rename = "type", default)]
    kind: String,
    vocab: BTreeMap<String, i64>,
    #[serde(default = "unknown")]
    unk_token: String,
    #[serde(default = "prefix")]
    continuing_subword_prefix: String,
    #[serde(default = "word_chars")]
    max_input_chars_per_word: usize,
}

#[derive(Deserialize)]
struct Normalizer {
    #[serde(default)]
    lowercase: bool,
    #[serde(default)]
    strip_accents: Option<bool>,
}

fn unknown() -> String {
    "[UNK]".to_owned()
}

fn prefix() -> String {
    "##".to_owned()
}

fn word_chars() -> usize {
    100
}

impl WordPieces {
    /// Reads a `tokenizer.json`.
    ///
    /// # Errors
    /// What is wrong with it, in words.
    pub fn parse(json: &[u8]) -> Result<Self, TokenizerFault> {
        let file: File = serde_json::from_slice(json).map_err(TokenizerFault::NotJson)?;
        let model = file.model;
        if !matches!(model.kind.as_str(), "WordPiece" | "") {
            return Err(TokenizerFault::OtherKind(model.kind));
        }
        let named = |name: &str| {
            let id = model.vocab.get(name).copied();
            id.ok_or_else(|| TokenizerFault::Missing(name.to_owned()))
        };
        let (unknown, start, end) = (named(&model.unk_token)?, named("[CLS]")?, named("[SEP]")?);
        let lowers = file.normalizer.as_ref().is_some_and(|own| own.lowercase);
        let strips = file.normalizer.and_then(|own| own.strip_accents).unwrap_or(lowers);
        Ok(Self {
            unknown,
            start,
            end,
            vocabulary: model.vocab,
            prefix: model.continuing_subword_prefix,
            word_chars: model.max_input_chars_per_word,
            lowercase: if lowers { Case::Lowered } else { Case::Kept },
            accents: if strips { Accents::Stripped } else { Accents::Kept },
        })
    }

    /// What a model reads of a text: at most [`MOST`] numbers.
    #[must_use]
    pub fn encode(&self, text: &str) -> Vec<i64> {
        let mut ids = vec![self.start];
        for word in words(&self.normalised(text)) {
            self.pieces(word, &mut ids);
            if ids.len() >= MOST - 1 {
                break;
            }
        }
        ids.truncate(MOST - 1);
        ids.push(self.end);
        ids
    }

    fn normalised(&self, text: &str) -> String {
        let is_kept = |sign: &char| *sign != '\0' && *sign != '\u{fffd}' && !is_silent(*sign);
        let plain = |sign: char| if sign.is_whitespace() { ' ' } else { sign };
        let mut out: String = text.chars().filter(is_kept).map(plain).collect();
        if self.accents == Accents::Stripped {
            let apart = DecomposingNormalizerBorrowed::new_nfd().normalize(&out).into_owned();
            out = apart.chars().filter(|sign| !is_accent(*sign)).collect();
        }
        match self.lowercase {
            Case::Lowered => out.to_lowercase(),
            Case::Kept => out,
        }
    }

    /// The pieces of a word, the longest first; one that has none is unknown.
    fn pieces(&self, word: &str, out: &mut Vec<i64>) {
        if word.chars().count() > self.word_chars {
            out.push(self.unknown);
            return;
        }
        let mut found = Vec::new();
        let mut rest = word;
        while !rest.is_empty() {
            let ends = rest.char_indices().map(|(at, sign)| at + sign.len_utf8());
            let ends: Vec<usize> = ends.collect();
            let piece = ends.iter().rev().find_map(|end| {
                let (part, behind) = rest.split_at_checked(*end)?;
                let id = if found.is_empty() {
                    self.vocabulary.get(part)
                } else {
                    self.vocabulary.get(&format!("{}{part}", self.prefix))
                };
                Some((*id?, behind))
            });
            let Some((id, behind)) = piece else {
                out.push(self.unknown);
                return;
            };
            found.push(id);
            rest = behind;
        }
        out.extend(found);
    }
}

/// Marks that stand over or under the letter before them.
fn is_accent(sign: char) -> bool {
    matches!(sign, '\u{300}'..='\u{36f}' | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}'
        | '\u{20d0}'..='\u{20ff}' | '\u{fe20}'..='\u{fe2f}')
}

/// Control signs that are no space.
fn is_silent(sign: char) -> bool {
    sign.is_control() && !matches!(sign, '\t' | '\n' | '\r')
}

/// Words, signs and Chinese characters, each for itself.
fn words(text: &str) -> Vec<&str> {
    let mut all = Vec::new();
    for chunk in text.split(' ').filter(|chunk| !chunk.is_empty()) {
        let mut rest = chunk;
        while let Some(first) = rest.chars().next() {
            let end = if stands_alone(first) {
                first.len_utf8()
            } else {
                rest.find(stands_alone).unwrap_or(rest.len())
            };
            let (word, behind) = rest.split_at_checked(end).unwrap_or((rest, ""));
            all.push(word);
            rest = behind;
        }
    }
    all
}

fn stands_alone(sign: char) -> bool {
    let is_chinese = matches!(sign,
        '\u{4e00}'..='\u{9fff}' | '\u{3400}'..='\u{4dbf}' | '\u{20000}'..='\u{2fa1f}'
        | '\u{f900}'..='\u{faff}');
    is_chinese || is_sign(sign)
}

/// ASCII signs, and punctuation of other scripts: what is neither letter nor
/// digit nor joins them.
fn is_sign(sign: char) -> bool {
    sign.is_ascii_punctuation()
        || matches!(sign,
            '\u{a1}' | '\u{a7}' | '\u{ab}' | '\u{b6}' | '\u{b7}' | '\u{bb}' | '\u{bf}'
            | '\u{2010}'..='\u{2027}' | '\u{2030}'..='\u{205e}' | '\u{3001}'..='\u{3003}'
            | '\u{3008}'..='\u{3011}' | '\u{3014}'..='\u{301f}' | '\u{30fb}'
            | '\u{ff01}'..='\u{ff0f}' | '\u{ff1a}'..='\u{ff20}' | '\u{ff3b}'..='\u{ff40}'
            | '\u{ff5b}'..='\u{ff65}' | '\u{60c}' | '\u{61b}' | '\u{61f}' | '\u{964}' | '\u{965}')
}

/// Why a file is no tokenizer.
#[derive(Debug, thiserror::Error)]
pub enum TokenizerFault {
    /// It is not JSON of the form.
    #[error("{0}")]
    NotJson(serde_json::Error),
    /// It is of another kind.
    #[error("it is of the kind {0:?}")]
    OtherKind(String),
    /// A piece that every text needs is missing.
    #[error("its vocabulary has no {0}")]
    Missing(String),
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn tokenizer() -> WordPieces {
        let words = [
            "[PAD]", "[UNK]", "[CLS]", "[SEP]", "deploy", "##ment", "##s", "cafe", ",", "部", "署",
        ];
        let vocab: BTreeMap<&str, usize> =
            words.iter().enumerate().map(|(at, w)| (*w, at)).collect();
        let file = json!({
            "model": {"type": "WordPiece", "vocab": vocab},
            "normalizer": {"type": "BertNormalizer", "lowercase": true, "strip_accents": null},
        });
        WordPieces::parse(file.to_string().as_bytes()).unwrap()
    }

    #[test]
    fn r14_text_becomes_the_longest_pieces_of_the_vocabulary() {
        let tokens = tokenizer();
        assert_eq!(tokens.encode("Deployments, Café"), [2, 4, 5, 6, 8, 7, 3]);
        assert_eq!(tokens.encode("部署\u{7}deploy"), [2, 9, 10, 4, 3]);
        assert_eq!(tokens.encode("nothing known"), [2, 1, 1, 3]);
        assert_eq!(tokens.encode(""), [2, 3]);
        assert_eq!(tokens.encode(&"deploy ".repeat(500)).len(), MOST);
        assert_eq!(tokens.encode(&"x".repeat(10_000)), [2, 1, 3]);
    }

    #[test]
    fn r14_a_file_that_is_no_tokenizer_says_why() {
        for (bad, why) in [
            (json!({"model": {"type": "BPE", "vocab": {}}}), "BPE"),
            (json!({"model": {"type": "WordPiece", "vocab": {"[UNK]": 0}}}), "[CLS]"),
            (json!([]), "invalid"),
        ] {
            let fault = WordPieces::parse(bad.to_string().as_bytes()).unwrap_err();
            assert!(fault.to_string().contains(why), "{fault}");
        }
        assert!(WordPieces::parse(b"\xff\xfe").is_err());
    }
}
