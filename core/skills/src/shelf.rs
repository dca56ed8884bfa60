//! All skills together.

use crate::skill::Skill;
use everfold_kernel::limits::SkillLimits;

/// The skills that there are; of two with one name the first counts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shelf {
    skills: Vec<Skill>,
    /// What could not be taken up, for `doctor`.
    pub problems: Vec<String>,
}

impl Shelf {
    /// A shelf of these, the more important first.
    #[must_use]
    pub fn new(found: Vec<Skill>, mut problems: Vec<String>) -> Self {
        let mut skills: Vec<Skill> = Vec::new();
        for skill in found {
            let path = skill.path.display();
            problems.extend(skill.faults.iter().map(|fault| format!("{path}: {fault}")));
            match skills.iter().find(|known| known.name == skill.name) {
                Some(known) => problems
                    .push(format!("{path} is not used: {} has its name", known.path.display())),
                None => skills.push(skill),
            }
        }
        Self { skills, problems }
    }

    #[must_use]
    pub fn skills(&self) -> &[Skill] {
        &self.skills
    }

    /// The skill of this name, with or without its slash.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Skill> {
        let name = name.trim().trim_start_matches('/');
        self.skills.iter().find(|skill| skill.name == name)
    }

    /// Whether the model has any.
    #[must_use]
    pub fn has_for_model(&self) -> bool {
        self.skills.iter().any(Skill::is_for_model)
    }

    /// What a model is told of them: a line each, within the budget. Where
    /// there are too many, descriptions get shorter, the same for all; names
    /// stay.
    #[must_use]
    pub fn listing(&self, limits: &SkillLimits) -> Option<String> {
        let told = |skill: &&Skill| skill.is_for_model() && skill.paths.is_empty();
        let skills: Vec<&Skill> = self.skills.iter().filter(told).collect();
        if skills.is_empty() {
            return None;
        }
        let lines = |most: usize| {
            let lines = skills.iter().map(|skill| match cut(&skill.description, most) {
                text if text.is_empty() => format!("- {}", skill.name),
                text => format!("- {}: {text}", skill.name),
            });
            lines.collect::<Vec<_>>().join("\n")
        };
        let mut most = limits.description_chars;
        loop {
            let text = lines(most);
            if most == 0 || text.chars().count() <= limits.listing_chars {
                return Some(text);
            }
            most = most * 3 / 4;
        }
    }
}

fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    match most.checked_sub(1) {
        None | Some(0) => String::new(),
        Some(room) => text.chars().take(room).chain(['…']).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::skill::{Form, SkillOrigin};

    fn skill(name: &str, description: &str) -> Skill {
        let text = format!("---\nname: {name}\ndescription: {description}\n---\nbody");
        Skill::read(
            &text,
            name,
            format!("/s/{name}/SKILL.md").into(),
            SkillOrigin::Own,
            Form::Folder,
        )
    }

    #[test]
    fn q5_the_listing_keeps_its_budget_and_every_name() {
        let limits = SkillLimits::default();
        let many = (0..300).map(|n| skill(&format!("skill-{n}"), &"word ".repeat(500))).collect();
        let shelf = Shelf::new(many, Vec::new());
        let text = shelf.listing(&limits).unwrap();
        assert!(text.chars().count() <= limits.listing_chars);
        assert_eq!(text.lines().count(), 300);
        let one = Shelf::new(vec![skill("a", &"x".repeat(2_000))], Vec::new());
        assert_eq!(one.listing(&limits).unwrap().chars().count(), 1_536 + "- a: ".len());
        assert_eq!(Shelf::default().listing(&limits), None);
    }

    #[test]
    fn q5_of_two_with_one_name_the_first_counts() {
        let mut second = skill("a", "second");
        second.path = "/r/a/SKILL.md".into();
        let shelf = Shelf::new(vec![skill("a", "first"), second], Vec::new());
        assert_eq!(shelf.get("/a").unwrap().description, "first");
        assert!(shelf.problems[0].contains("/r/a/SKILL.md is not used"));
    }
}
