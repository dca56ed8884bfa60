//! Whose words a block holds (L5.33).
//!
//! Set where words enter, carried with the record, and never worked out later
//! from a tool's name. What a memory may rest on is decided by it. It is no part
//! of what a provider is sent.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::ops::Range;
use std::str::FromStr;

/// Who wrote words, the most trusted first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Source {
    /// The person, by typing them.
    Person,
    /// Whoever wrote what the person pasted, quoted or piped in.
    Pasted,
    Model,
    /// A file of the working tree, or any other that a tool read.
    Repository,
    /// A program that a tool ran.
    Command,
    /// A page of the web.
    Web,
    /// A server of the Model Context Protocol.
    Mcp,
    Hook,
}

impl Source {
    /// All of them, the most trusted first.
    pub const ALL: [Self; 8] = [
        Self::Person,
        Self::Pasted,
        Self::Model,
        Self::Repository,
        Self::Command,
        Self::Web,
        Self::Mcp,
        Self::Hook,
    ];

    /// The word in files.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Person => "person",
            Self::Pasted => "pasted",
            Self::Model => "model",
            Self::Repository => "repository",
            Self::Command => "command",
            Self::Web => "web",
            Self::Mcp => "mcp",
            Self::Hook => "hook",
        }
    }
}

/// What carried words from their source to here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Carrier {
    /// A memory, written earlier.
    Memory,
    /// A summary of a conversation.
    Summary,
    /// Another agent's report or letter.
    Agent,
}

impl Carrier {
    /// The word in files.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Summary => "summary",
            Self::Agent => "agent",
        }
    }
}

/// Where words came from: their source, and what carried them.
///
/// ```
/// use everfold_kernel::provenance::{Carrier, Provenance, Source};
///
/// let report = Provenance::through(Carrier::Agent, Source::Web);
/// assert_eq!(report.to_string(), "agent:web");
/// assert_eq!("agent:web".parse(), Ok(report));
/// assert!(!report.is_typed());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Provenance {
    /// Who wrote them; where several did, the least trusted.
    pub source: Source,
    /// What carried them; none where they came straight from there.
    pub carrier: Option<Carrier>,
}

impl Provenance {
    /// The person typed it.
    pub const PERSON: Self = Self { source: Source::Person, carrier: None };
    /// A model wrote it.
    pub const MODEL: Self = Self { source: Source::Model, carrier: None };

    /// Straight from a source.
    #[must_use]
    pub fn of(source: Source) -> Self {
        Self { source, carrier: None }
    }

    /// From a source, carried.
    #[must_use]
    pub fn through(carrier: Carrier, source: Source) -> Self {
        Self { source, carrier: Some(carrier) }
    }

    /// Whether the person typed these very words here.
    #[must_use]
    pub fn is_typed(self) -> bool {
        self == Self::PERSON
    }
}

impl From<Source> for Provenance {
    fn from(source: Source) -> Self {
        Self::of(source)
    }
}

impl fmt::Display for Provenance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.carrier {
            Some(carrier) => write!(f, "{}:{}", carrier.as_str(), self.source.as_str()),
            None => f.write_str(self.source.as_str()),
        }
    }
}

/// A word that names no provenance.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} names no provenance")]
pub struct NoProvenance(String);

impl FromStr for Provenance {
    type Err = NoProvenance;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let unknown = || NoProvenance(text.to_owned());
        let (carrier, source) = match text.split_once(':') {
            None => (None, text),
            Some((carrier, source)) => {
                let all = [Carrier::Memory, Carrier::Summary, Carrier::Agent];
                let known = all.into_iter().find(|known| known.as_str() == carrier);
                (Some(known.ok_or_else(unknown)?), source)
            }
        };
        let source = Source::ALL.into_iter().find(|known| known.as_str() == source);
        Ok(Self { source: source.ok_or_else(unknown)?, carrier })
    }
}

impl Serialize for Provenance {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Provenance {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

/// Whose words one block holds, from front to back. A prompt can have typed
/// and pasted parts; any other block has one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlockProvenance {
    /// Parts by the byte that they end before, in order. None: not known.
    parts: Vec<(usize, Provenance)>,
}

impl BlockProvenance {
    pub fn whole(provenance: impl Into<Provenance>) -> Self {
        Self { parts: vec![(usize::MAX, provenance.into())] }
    }

    /// Parts by the byte that they end before, in order.
    #[must_use]
    pub fn parts(parts: impl IntoIterator<Item = (usize, Provenance)>) -> Self {
        let mut own: Vec<(usize, Provenance)> = Vec::new();
        for (end, provenance) in parts {
            match own.last_mut() {
                Some((last, same)) if *same == provenance => *last = (*last).max(end),
                Some((last, _)) if *last >= end => {}
                _ => own.push((end, provenance)),
            }
        }
        Self { parts: own }
    }

    /// A text of so many bytes that is of one provenance, but for some ranges
    /// of it, in order, that are of another.
    #[must_use]
    pub fn marked(
        bytes: usize,
        rest: impl Into<Provenance>,
        ranges: &[Range<usize>],
        own: impl Into<Provenance>,
    ) -> Self {
        let (rest, own) = (rest.into(), own.into());
        let parts = ranges.iter().flat_map(|range| [(range.start, rest), (range.end, own)]);
        let parts = parts.chain([(bytes, rest)]);
        Self::parts(parts.filter(|(end, _)| *end > 0))
    }

    /// Whether nothing is known of it.
    #[must_use]
    pub fn is_unknown(&self) -> bool {
        self.parts.is_empty()
    }

    /// The least trusted of its parts.
    #[must_use]
    pub fn lowest(&self) -> Option<Provenance> {
        self.parts.iter().map(|(_, provenance)| *provenance).max()
    }

    /// The parts of the block's text, each with its provenance. What is not
    /// covered is left out.
    pub fn split<'a>(&'a self, text: &'a str) -> impl Iterator<Item = (Provenance, &'a str)> {
        let mut start = 0;
        self.parts.iter().filter_map(move |(end, provenance)| {
            let end = text.floor_char_boundary((*end).min(text.len()));
            let part = text.get(start..end)?;
            start = end.max(start);
            (!part.is_empty()).then_some((*provenance, part))
        })
    }
}

impl Serialize for BlockProvenance {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.parts.as_slice() {
            [] => serializer.serialize_none(),
            [(_, only)] => only.serialize(serializer),
            parts => parts.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for BlockProvenance {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Form {
            Whole(Provenance),
            Parts(Vec<(usize, Provenance)>),
            Unknown(serde::de::IgnoredAny),
        }
        Ok(match Form::deserialize(deserializer)? {
            Form::Whole(provenance) => Self::whole(provenance),
            Form::Parts(parts) => Self::parts(parts),
            Form::Unknown(_) => Self::default(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn l5_33_a_prompt_has_parts_and_they_come_back_from_a_file() {
        let text = "fix this: é boom";
        let parts = [(9, Provenance::PERSON), (text.len(), Source::Pasted.into())];
        let block = BlockProvenance::parts(parts);
        let split: Vec<_> = block.split(text).map(|(who, part)| (who.to_string(), part)).collect();
        assert_eq!(split, [("person".into(), "fix this:"), ("pasted".into(), " é boom")]);
        let line = serde_json::to_string(&block).unwrap();
        assert_eq!(line, r#"[[9,"person"],[17,"pasted"]]"#);
        assert_eq!(serde_json::from_str::<BlockProvenance>(&line).unwrap(), block);
        assert_eq!(block.lowest(), Some(Source::Pasted.into()));
        for odd in ["null", "7", "\"somebody\"", "[[1,\"nobody\"]]"] {
            assert!(serde_json::from_str::<BlockProvenance>(odd).unwrap().is_unknown(), "{odd}");
        }
    }

    #[test]
    fn l5_33_every_provenance_has_a_name_of_its_own() {
        for source in Source::ALL {
            for carrier in
                [None, Some(Carrier::Memory), Some(Carrier::Summary), Some(Carrier::Agent)]
            {
                let one = Provenance { source, carrier };
                assert_eq!(one.to_string().parse(), Ok(one));
            }
        }
        assert!(Provenance::PERSON.is_typed());
        assert!(!Provenance::through(Carrier::Summary, Source::Person).is_typed());
    }
}
