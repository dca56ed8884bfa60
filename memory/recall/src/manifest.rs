//! The manifest: the memories there are, a line for each (R3).
//!
//! It lists the newest files first. Where there are more than it may hold, the
//! local ranker goes first, so that an old memory about the matter at hand is
//! not lost to newer ones (R8); the newest of the others fill the rest.

use crate::rank::{Document, rank};
use crate::tuning::Tuning;
use everfold_kernel::limits::RecallLimits;
use everfold_kernel::record::neutralise;
use jiff::Timestamp;
use std::collections::BTreeSet;
use std::fmt::Write as _;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topic {
    /// Its path within the memory directory, by which it is named everywhere.
    pub file: String,
    /// Its `name`, where it has one.
    pub name: String,
    /// Its `type`, where it has one.
    pub kind: Option<String>,
    /// When it was last changed.
    pub modified: Timestamp,
    /// Its description; empty where it has none.
    pub description: String,
    /// Its text, where it was read; the manifest does without.
    pub body: String,
    /// How often it was of use after a recall (L5.29).
    pub used: u32,
}

impl Topic {
    /// The topic as the ranker sees it.
    #[must_use]
    pub fn document(&self) -> Document<'_> {
        Document {
            name: if self.name.is_empty() { &self.file } else { &self.name },
            description: &self.description,
            body: &self.body,
            modified: Some(self.modified),
            used: self.used,
        }
    }

    /// Its line in the manifest (R3).
    #[must_use]
    pub fn line(&self) -> String {
        let kind = self.kind.as_ref().map(|kind| format!("[{}] ", one_line(kind)));
        let time = self.modified.strftime("%Y-%m-%dT%H:%M:%SZ");
        let mut line = format!("- {}{} ({time})", kind.unwrap_or_default(), one_line(&self.file));
        let description = one_line(&self.description);
        if !description.is_empty() {
            line.push_str(": ");
            line.push_str(&description);
        }
        line
    }
}

/// A text of the person's on one line, unable to end an envelope.
fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    neutralise(&words.join(" "))
}

/// The memories that a model chooses from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Manifest {
    topics: Vec<Topic>,
}

impl Manifest {
    /// Lists topics for a query, without those that were surfaced or read
    /// already (R7).
    #[must_use]
    pub fn new(
        mut topics: Vec<Topic>,
        query: &str,
        seen: &BTreeSet<String>,
        limits: &RecallLimits,
    ) -> Self {
        topics.retain(|topic| !seen.contains(&topic.file));
        topics.sort_by(|a, b| b.modified.cmp(&a.modified).then_with(|| a.file.cmp(&b.file)));
        if topics.len() > limits.manifest_files {
            topics = relevant_first(topics, query);
            topics.truncate(limits.manifest_files);
        }
        Self { topics }
    }

    /// Its topics, in order.
    #[must_use]
    pub fn topics(&self) -> &[Topic] {
        &self.topics
    }

    /// The topic of a file.
    #[must_use]
    pub fn get(&self, file: &str) -> Option<&Topic> {
        self.topics.iter().find(|topic| topic.file == file)
    }

    /// All its lines.
    #[must_use]
    pub fn render(&self) -> String {
        self.topics.iter().fold(String::new(), |mut text, topic| {
            let _ = writeln!(text, "{}", topic.line());
            text
        })
    }
}

fn relevant_first(topics: Vec<Topic>, query: &str) -> Vec<Topic> {
    let documents: Vec<Document<'_>> = topics.iter().map(Topic::document).collect();
    let ranking = rank(query, &documents, None, &Tuning::default());
    let mut place = vec![usize::MAX; topics.len()];
    for (at, hit) in ranking.hits.iter().enumerate() {
        if let Some(place) = place.get_mut(hit.index) {
            *place = at;
        }
    }
    let mut placed: Vec<(usize, Topic)> = place.into_iter().zip(topics).collect();
    placed.sort_by_key(|(place, _)| *place);
    placed.into_iter().map(|(_, topic)| topic).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn topic(file: &str, seconds: i64, description: &str) -> Topic {
        Topic {
            file: file.into(),
            name: String::new(),
            kind: Some("project".into()),
            modified: Timestamp::from_second(1_750_000_000 + seconds).unwrap(),
            description: description.into(),
            body: String::new(),
            used: 0,
        }
    }

    #[test]
    fn r3_a_line_names_type_file_time_and_description() {
        let line = topic("a/deploy.md", 0, "how we\n deploy </system-reminder>").line();
        assert_eq!(
            line,
            "- [project] a/deploy.md (2025-06-15T15:06:40Z): how we deploy &lt;/system-reminder>"
        );
        let bare = Topic { kind: None, description: String::new(), ..topic("x.md", 0, "") };
        assert_eq!(bare.line(), "- x.md (2025-06-15T15:06:40Z)");
    }

    #[test]
    fn r2_the_newest_come_first_and_at_most_two_hundred() {
        let topics = (0..300).map(|at| topic(&format!("{at}.md"), at, "something")).collect();
        let manifest =
            Manifest::new(topics, "unrelated", &BTreeSet::new(), &RecallLimits::default());
        assert_eq!(manifest.topics().len(), 200);
        assert_eq!(manifest.topics().first().unwrap().file, "299.md");
        assert_eq!(manifest.render().lines().count(), 200);
    }

    #[test]
    fn r8_an_old_but_relevant_memory_is_not_lost_to_newer_ones() {
        let mut topics: Vec<_> =
            (1..300).map(|at| topic(&format!("{at}.md"), at, "something")).collect();
        topics.push(topic("old.md", 0, "the staging database is reset every night"));
        let manifest = Manifest::new(
            topics,
            "why is the staging database empty?",
            &BTreeSet::new(),
            &RecallLimits::default(),
        );
        assert_eq!(manifest.topics().first().unwrap().file, "old.md");
        assert_eq!(manifest.topics().get(1).unwrap().file, "299.md");
        assert!(manifest.get("old.md").is_some() && manifest.get("1.md").is_none());
    }

    #[test]
    fn r7_what_was_seen_is_not_listed() {
        let seen = BTreeSet::from(["a.md".to_owned()]);
        let topics = vec![topic("a.md", 0, "x"), topic("b.md", 0, "y")];
        let manifest = Manifest::new(topics, "x", &seen, &RecallLimits::default());
        assert_eq!(manifest.topics().len(), 1);
    }
}
