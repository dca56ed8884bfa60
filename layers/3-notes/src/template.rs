//! The sections of the notes: headings, each with a line that says what
//! belongs there (L3.1).

const BUILT_IN: &str = include_str!("template.md");

/// What the notes of a session look like before anything is in them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Template {
    /// What stands before the first heading.
    pub(crate) preface: String,
    pub(crate) sections: Vec<Section>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Section {
    /// The heading, with its marks.
    pub(crate) heading: String,
    /// The line in italics; empty where there is none.
    pub(crate) about: String,
    /// What stands in the section from the start.
    pub(crate) body: String,
}

impl Section {
    /// The heading without its marks.
    pub(crate) fn name(&self) -> &str {
        self.heading.trim_start_matches('#').trim()
    }
}

/// Why a person's template cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unusable {
    #[error("it has no headings; start each section with a line such as \"# Current State\"")]
    NoHeading,
    /// Two sections could not be told apart.
    #[error("the heading {0:?} is there twice; give each section a name of its own")]
    Twice(String),
}

impl Template {
    /// The ten sections that there are unless a person has a template of their own.
    #[must_use]
    pub fn built_in() -> Self {
        Self::parse(BUILT_IN).unwrap_or_default()
    }

    /// Reads a template. Headings are lines that start with `#`; a line in
    /// italics right after one belongs to it.
    ///
    /// # Errors
    /// If there are no headings, or one is there twice.
    pub fn parse(text: &str) -> Result<Self, Unusable> {
        let mut template = Self::default();
        let mut body = String::new();
        for line in text.lines() {
            if is_heading(line) {
                let heading = line.trim_end().to_owned();
                if template.sections.iter().any(|section| section.heading == heading) {
                    return Err(Unusable::Twice(heading));
                }
                template.close(&body);
                body.clear();
                let (about, own) = (String::new(), String::new());
                template.sections.push(Section { heading, about, body: own });
            } else {
                body.push_str(line);
                body.push('\n');
            }
        }
        template.close(&body);
        if template.sections.is_empty() { Err(Unusable::NoHeading) } else { Ok(template) }
    }

    /// Gives what stood before the next heading to the section that it is in.
    fn close(&mut self, text: &str) {
        let text = text.trim();
        let Some(section) = self.sections.last_mut() else {
            text.clone_into(&mut self.preface);
            return;
        };
        let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
        if is_italic(first) {
            first.trim_end().clone_into(&mut section.about);
            rest.trim().clone_into(&mut section.body);
        } else {
            text.clone_into(&mut section.body);
        }
    }

    /// The headings, in order, with their marks.
    pub fn headings(&self) -> impl Iterator<Item = &str> {
        self.sections.iter().map(|section| section.heading.as_str())
    }

    /// Which section starts with this line.
    pub(crate) fn section_at(&self, line: &str) -> Option<usize> {
        let line = line.trim_end();
        self.sections.iter().position(|section| section.heading == line)
    }
}

/// One to six number signs and a space, as Markdown has it.
fn is_heading(line: &str) -> bool {
    let name = line.trim_start_matches('#');
    let marks = line.len() - name.len();
    (1..=6).contains(&marks) && name.starts_with(' ') && !name.trim().is_empty()
}

fn is_italic(line: &str) -> bool {
    let line = line.trim();
    let within = |mark: char| {
        line.strip_prefix(mark).and_then(|rest| rest.strip_suffix(mark)).is_some_and(|text| {
            !text.trim().is_empty() && !text.starts_with(mark) && !text.ends_with(mark)
        })
    };
    within('_') || within('*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn l3_1_ten_sections_each_with_a_line_in_italics() {
        let template = Template::built_in();
        let headings: Vec<&str> = template.headings().collect();
        assert_eq!(
            headings,
            [
                "# Session Title",
                "# Current State",
                "# Task specification",
                "# Files and Functions",
                "# Workflow",
                "# Errors & Corrections",
                "# Codebase and System Documentation",
                "# Learnings",
                "# Key results",
                "# Worklog",
            ]
        );
        assert!(template.sections.iter().all(|section| is_italic(&section.about)));
        assert!(template.sections.iter().all(|section| section.body.is_empty()));
    }

    #[test]
    fn l3_5_a_persons_template_is_taken_as_it_is() {
        let text =
            "For me.\n\n## One\n*what goes here*\n- start\n\n# Two\n**bold** text\n#no heading\n";
        let template = Template::parse(text).unwrap();
        assert_eq!(template.preface, "For me.");
        let [one, two] = template.sections.as_slice() else { panic!("{template:?}") };
        assert_eq!((one.heading.as_str(), one.about.as_str()), ("## One", "*what goes here*"));
        assert_eq!(one.body, "- start");
        assert_eq!((two.about.as_str(), two.body.as_str()), ("", "**bold** text\n#no heading"));
    }

    #[test]
    fn l3_5_a_template_that_cannot_be_used_says_why() {
        assert_eq!(Template::parse("just text"), Err(Unusable::NoHeading));
        assert_eq!(Template::parse("# A\n# A \n"), Err(Unusable::Twice("# A".into())));
    }
}
