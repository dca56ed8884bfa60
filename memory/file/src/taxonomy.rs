//! The four types of memories, and what each of them is for (L5.4).
//!
//! The meanings are data, so that prompts, help and checks say the same.

use serde::{Deserialize, Serialize};

/// What a memory is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MemoryType {
    User,
    Feedback,
    /// What is going on.
    Project,
    Reference,
}

/// Who a memory is for, where a team shares some (L5.21).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// Always the person's own.
    Private,
    /// The person's own, unless it is a rule of the whole project.
    PrivateUnlessRule,
    /// Rather the team's.
    LeansTeam,
    /// Mostly the team's.
    UsuallyTeam,
}

/// What a type means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Meaning {
    pub holds: &'static str,
    pub saved_when: &'static str,
    pub used_for: &'static str,
    /// What does not belong in it, or what to mind.
    pub mind: &'static str,
    /// Parts that its body has, besides the statement itself.
    pub parts: &'static [&'static str],
    pub sharing: Sharing,
}

/// The part of a body that says why.
pub const WHY: &str = "**Why:**";
/// The part of a body that says when it applies, and how.
pub const HOW_TO_APPLY: &str = "**How to apply:**";

impl MemoryType {
    pub const ALL: [Self; 4] = [Self::User, Self::Feedback, Self::Project, Self::Reference];

    /// The word in files.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Feedback => "feedback",
            Self::Project => "project",
            Self::Reference => "reference",
        }
    }

    /// The type of this name; `None` for any other word.
    #[must_use]
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| name.trim().eq_ignore_ascii_case(kind.as_str()))
    }

    #[must_use]
    pub fn meaning(self) -> Meaning {
        match self {
            Self::User => Meaning {
                holds: "who the person is: role, goals, responsibilities, knowledge, preferences",
                saved_when: "something about the person becomes known",
                used_for: "fitting explanations and help to the person",
                mind: "never a judgement of the person, and nothing that does not help them",
                parts: &[],
                sharing: Sharing::Private,
            },
            Self::Feedback => Meaning {
                holds: "how the person wants the work done: what to avoid and what to keep doing",
                saved_when: "the person corrects an approach, or confirms one that was not obvious",
                used_for: "not having to be told the same thing twice",
                mind: "save what was confirmed as well as what was corrected: from corrections alone one grows timid",
                parts: &[WHY, HOW_TO_APPLY],
                sharing: Sharing::PrivateUnlessRule,
            },
            Self::Project => Meaning {
                holds: "who does what, why and by when; decisions, incidents and deadlines that code and history do not show",
                saved_when: "one learns what is going on around the work",
                used_for: "understanding what a request is really about",
                mind: "it ages fast; its Why tells whether it still holds; dates are absolute",
                parts: &[WHY, HOW_TO_APPLY],
                sharing: Sharing::LeansTeam,
            },
            Self::Reference => Meaning {
                holds: "where things live in outside systems: trackers, dashboards, channels",
                saved_when: "an outside place and its purpose become known",
                used_for: "knowing where to look",
                mind: "the place and what is found there, not a copy of it",
                parts: &[],
                sharing: Sharing::UsuallyTeam,
            },
        }
    }

    /// The parts that a body of this type should have and does not.
    #[must_use]
    pub fn missing_parts(self, body: &str) -> Vec<&'static str> {
        let squeezed = |text: &str| -> String {
            text.chars()
                .filter(|c| !matches!(c, '*' | '_' | ' '))
                .flat_map(char::to_lowercase)
                .collect()
        };
        let lines: Vec<String> = body.lines().map(squeezed).collect();
        let lower = body.to_lowercase();
        // At the start of a line, or in bold within one: short memories are
        // often a single line.
        let has = |part: &str| {
            let starts =
                |line: &String| line.trim_start_matches(['-', '#']).starts_with(&squeezed(part));
            lower.contains(&part.to_lowercase()) || lines.iter().any(starts)
        };
        self.meaning().parts.iter().copied().filter(|part| !has(part)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn l5_4_only_four_types_are_known() {
        assert_eq!(MemoryType::by_name(" Feedback "), Some(MemoryType::Feedback));
        assert_eq!(MemoryType::by_name("note"), None);
        for kind in MemoryType::ALL {
            assert_eq!(MemoryType::by_name(kind.as_str()), Some(kind));
        }
    }

    #[test]
    fn l5_4_feedback_says_why_and_how_to_apply() {
        let feedback = MemoryType::Feedback;
        assert_eq!(feedback.missing_parts("Do x."), [WHY, HOW_TO_APPLY]);
        assert_eq!(feedback.missing_parts("Do x.\n\n**Why:** y\n"), [HOW_TO_APPLY]);
        assert!(feedback.missing_parts("Do x.\n**Why**: y\n- How to apply: z").is_empty());
        assert!(feedback.missing_parts("Do x. **Why:** y. **How to apply:** z.").is_empty());
        assert_eq!(feedback.missing_parts("Nobody knows why: it is so."), [WHY, HOW_TO_APPLY]);
        assert!(MemoryType::User.missing_parts("x").is_empty());
    }

    #[test]
    fn l5_21_what_is_about_the_person_is_private() {
        assert_eq!(MemoryType::User.meaning().sharing, Sharing::Private);
        assert_eq!(MemoryType::Reference.meaning().sharing, Sharing::UsuallyTeam);
    }
}
