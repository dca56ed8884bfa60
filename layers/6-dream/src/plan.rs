//! What an agent is told before it dreams: the four phases, and what the
//! program has found already (L6.4, L6.8).

use crate::error::Error;
use everfold_kernel::limits::DreamLimits;
use everfold_memory_file::Caps;
use minijinja::{Environment, UndefinedBehavior, context};

const PROMPT: &str = include_str!("prompt.md");

/// What the program has found for the agent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Material {
    pub dir: String,
    /// Where transcripts are; empty where past conversations are not to be
    /// searched.
    pub transcripts: String,
    pub today: String,
    /// Daily logs that nobody has distilled yet.
    pub logs: Vec<String>,
    /// What memories name and is no longer there.
    pub drift: Vec<String>,
    /// Contradictions, near-copies, faults.
    pub seen: Vec<String>,
    /// Memories that were shown and never used.
    pub never_used: Vec<String>,
    /// Lines and bytes of the index.
    pub index: (usize, usize),
}

impl Material {
    /// The directive of a dream.
    ///
    /// # Errors
    /// If the prompt is broken.
    pub fn directive(&self, caps: Caps, limits: &DreamLimits) -> Result<String, Error> {
        let most = limits.findings;
        let list = |items: &[String]| -> String {
            let mut lines: Vec<String> =
                items.iter().take(most).map(|item| format!("- {item}")).collect();
            if items.len() > most {
                lines.push(format!("- and {} more", items.len() - most));
            }
            lines.join("\n")
        };
        let mut environment = Environment::new();
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        let values = context! {
            dir => &self.dir,
            transcripts => &self.transcripts,
            today => &self.today,
            logs => list(&self.logs),
            drift => list(&self.drift),
            seen => list(&self.seen),
            never_used => list(&self.never_used),
            lines => self.index.0,
            bytes => self.index.1,
            line_cap => caps.lines,
            byte_cap => caps.bytes,
            delete_percent => limits.delete_percent,
        };
        let filled = environment.render_str(PROMPT, values);
        filled.map(|text| text.trim().to_owned()).map_err(|source| Error::Prompt { source })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn l6_4_the_prompt_has_four_phases_and_what_was_found() {
        let material = Material {
            dir: "/home/u/memory".into(),
            transcripts: "/home/u/transcripts".into(),
            today: "2026-11-15".into(),
            logs: vec!["logs/2026/11/2026-11-14.md".into()],
            drift: vec!["release.md names src/gone.rs, which is not there".into()],
            seen: (0..5).map(|n| format!("finding {n}")).collect(),
            never_used: vec!["old.md (shown 4 times)".into()],
            index: (180, 9_000),
        };
        let few = DreamLimits { findings: 3, ..DreamLimits::default() };
        let full = material.directive(Caps::default(), &few).unwrap();
        insta::assert_snapshot!(full);
        let bare = Material { dir: "/m".into(), today: "2026-11-15".into(), ..Material::default() };
        let bare = bare.directive(Caps::default(), &DreamLimits::default()).unwrap();
        for word in ["Daily logs", "search the", "no longer there", "never used", "beyond a rule"] {
            assert!(!bare.contains(word), "{word}: {bare}");
        }
        assert_eq!((1..=4).filter(|n| bare.contains(&format!("\n{n}. "))).count(), 4);
    }
}
