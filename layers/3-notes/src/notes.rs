//! The notes, section by section.
//!
//! What an agent wrote is read strictly ([`Notes::read`]): the headings and the
//! lines in italics are a frame that it may not touch. What a person did to
//! the file, or to the template since, is taken in ([`Notes::adopt`]): text
//! that belongs to no section any more stays where it stood, so that nothing
//! is lost. Only a line that is a heading of the template counts as one; a
//! comment in a shell command does not.

use crate::clip;
use crate::template::{Section, Template};
use everfold_kernel::record::neutralise;
use everfold_kernel::tokens::estimate_text;
use everfold_kernel::{Limits, Tokens};

/// The notes of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notes<'t> {
    template: &'t Template,
    /// What each section of the template holds, without blank lines around it.
    bodies: Vec<String>,
}

/// What is wrong with notes that an agent wrote.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Flaw {
    /// A heading is gone, changed, twice there or in another place.
    #[error("the heading {0:?} is not where it was")]
    Heading(String),
    /// The line in italics below a heading was changed.
    #[error("the line in italics below {0:?} was changed")]
    About(String),
    /// What stands before the first heading was changed.
    #[error("the text before the first heading was changed")]
    Preface,
}

/// A section that holds more than it may.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Over {
    /// Its name, without marks.
    pub name: String,
    pub tokens: Tokens,
}

impl<'t> Notes<'t> {
    /// Notes in which nothing is said yet.
    #[must_use]
    pub fn blank(template: &'t Template) -> Self {
        let bodies = template.sections.iter().map(|section| section.body.clone()).collect();
        Self { template, bodies }
    }

    /// Reads notes that have to have the frame of the template.
    ///
    /// # Errors
    /// If a heading or a line in italics is not as it was.
    pub fn read(text: &str, template: &'t Template) -> Result<Self, Flaw> {
        let (preface, parts) = split(text, template);
        if preface.trim() != template.preface {
            return Err(Flaw::Preface);
        }
        let mut bodies = Vec::new();
        let mut parts = parts.into_iter();
        for (index, section) in template.sections.iter().enumerate() {
            let Some((_, part)) = parts.next().filter(|(found, _)| *found == index) else {
                return Err(Flaw::Heading(section.heading.clone()));
            };
            let Some(body) = below_about(&part, &section.about) else {
                return Err(Flaw::About(section.heading.clone()));
            };
            bodies.push(body.to_owned());
        }
        match parts.next().and_then(|(index, _)| template.sections.get(index)) {
            Some(again) => Err(Flaw::Heading(again.heading.clone())),
            None => Ok(Self { template, bodies }),
        }
    }

    /// Takes in notes in whatever state they are. No line of content is lost:
    /// what stands in no section of the template becomes part of the section
    /// before it, or of the first one. Tags that would close an envelope are
    /// broken (S4).
    #[must_use]
    pub fn adopt(text: &str, template: &'t Template) -> Self {
        let (preface, parts) = split(&safe(text), template);
        let mut bodies = vec![String::new(); template.sections.len()];
        let mut add = |index: usize, text: &str| {
            if let Some(body) = bodies.get_mut(index).filter(|_| !text.is_empty()) {
                if !body.is_empty() {
                    body.push_str("\n\n");
                }
                body.push_str(text);
            }
        };
        let preface = preface.trim();
        let own = preface.strip_prefix(template.preface.as_str()).unwrap_or(preface);
        add(0, own.trim());
        for (index, part) in parts {
            let about = template.sections.get(index).map_or("", |section| &section.about);
            add(index, below_about(&part, about).unwrap_or_else(|| part.trim()));
        }
        Self { template, bodies }
    }

    /// The file as it is written.
    #[must_use]
    pub fn render(&self) -> String {
        self.render_with(self.bodies.iter().map(String::as_str))
    }

    fn render_with<'a>(&self, bodies: impl Iterator<Item = &'a str>) -> String {
        let mut blocks: Vec<String> = Vec::new();
        if !self.template.preface.is_empty() {
            blocks.push(self.template.preface.clone());
        }
        for (section, body) in self.template.sections.iter().zip(bodies) {
            let head = [section.heading.as_str(), section.about.as_str()];
            let head: Vec<&str> = head.into_iter().filter(|line| !line.is_empty()).collect();
            blocks.push(head.join("\n"));
            blocks.extend((!body.is_empty()).then(|| body.to_owned()));
        }
        blocks.join("\n\n") + "\n"
    }

    pub(crate) fn section_names(&self) -> impl Iterator<Item = &'t str> {
        self.template.sections.iter().map(Section::name)
    }

    /// Puts something else into a section.
    pub(crate) fn set(&mut self, name: &str, text: &str) {
        let mut sections = self.template.sections.iter().zip(&mut self.bodies);
        if let Some((_, body)) = sections.find(|(section, _)| section.name() == name) {
            safe(text).trim().clone_into(body);
        }
    }

    /// Whether nothing is in them that the template does not have.
    #[must_use]
    pub fn is_blank(&self) -> bool {
        let mut pairs = self.template.sections.iter().zip(&self.bodies);
        pairs.all(|(section, body)| body.is_empty() || *body == section.body)
    }

    /// What the whole file holds.
    #[must_use]
    pub fn tokens(&self, limits: &Limits) -> Tokens {
        estimate_text(&self.render(), limits)
    }

    /// The sections that hold more than they may, in order (L3.3).
    #[must_use]
    pub fn over_long(&self, limits: &Limits) -> Vec<Over> {
        let most = Tokens(limits.notes.section_tokens);
        let sections = self.template.sections.iter().zip(&self.bodies);
        sections
            .map(|(section, body)| Over {
                name: section.name().to_owned(),
                tokens: estimate_text(body, limits),
            })
            .filter(|over| over.tokens > most)
            .collect()
    }

    /// The notes within their caps, for a conversation that they stand for
    /// (L3.6). Sections that are too long are cut, with a note that names the
    /// file; where the file is too long as a whole, the longest ones are.
    #[must_use]
    pub fn shortened(&self, path: &str, limits: &Limits) -> String {
        let note = format!("[Cut here; the whole section is in {path}]");
        let frame = estimate_text(&self.render_with(self.bodies.iter().map(|_| "")), limits);
        // Blank lines around each body are rounded up with it.
        let sizes: Vec<u64> =
            self.bodies.iter().map(|body| estimate_text(body, limits).0 + 1).collect();
        let room = limits.notes.file_tokens.saturating_sub(frame.0);
        let cap = share(&sizes, room).min(limits.notes.section_tokens);
        let bodies = self.bodies.iter().map(|body| {
            if estimate_text(body, limits).0 <= cap {
                return body.clone();
            }
            let left = cap.saturating_sub(estimate_text(&note, limits).0 + 1);
            let start = clip::tokens(body, left, limits).trim_end();
            if start.is_empty() { note.clone() } else { format!("{start}\n{note}") }
        });
        let bodies: Vec<String> = bodies.collect();
        self.render_with(bodies.iter().map(String::as_str))
    }
}

/// The text with the tags broken by which notes are fenced (S4).
pub(crate) fn safe(text: &str) -> String {
    neutralise(text).replace("</current-notes", "&lt;/current-notes")
}

/// The largest cap with which all sizes together fit the room.
fn share(sizes: &[u64], room: u64) -> u64 {
    let mut sorted = sizes.to_vec();
    sorted.sort_unstable();
    let mut left = room;
    let mut waiting = sorted.len() as u64;
    for size in sorted {
        let each = left / waiting.max(1);
        if size > each {
            return each;
        }
        left -= size;
        waiting -= 1;
    }
    u64::MAX
}

/// The text before the first heading, then each part with its section.
fn split(text: &str, template: &Template) -> (String, Vec<(usize, String)>) {
    let mut preface = String::new();
    let mut parts: Vec<(usize, String)> = Vec::new();
    for line in text.lines() {
        if let Some(index) = template.section_at(line) {
            parts.push((index, String::new()));
            continue;
        }
        let into = parts.last_mut().map_or(&mut preface, |(_, part)| part);
        into.push_str(line);
        into.push('\n');
    }
    (preface, parts)
}

/// What stands below the line in italics; none where that line is not there.
fn below_about<'a>(part: &'a str, about: &str) -> Option<&'a str> {
    if about.is_empty() {
        return Some(part.trim());
    }
    let (first, rest) = part.trim_start().split_once('\n')?;
    (first.trim_end() == about).then(|| rest.trim())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn template() -> Template {
        Template::parse("# A\n_about a_\n# B\n_about b_\n# C\n").unwrap()
    }

    fn notes(template: &Template, bodies: [&str; 3]) -> String {
        let bodies = bodies.map(str::to_owned).to_vec();
        Notes { template, bodies }.render()
    }

    #[test]
    fn l3_1_a_changed_heading_or_italic_line_is_found() {
        let own = template();
        let good = notes(&own, ["one", "# two\ntext", ""]);
        assert!(Notes::read(&good, &own).is_ok());
        let heading = |name: &str| Err(Flaw::Heading(name.to_owned()));
        for (bad, flaw) in [
            (good.replace("# B", "# Bee"), heading("# B")),
            (good.replace("# C", ""), heading("# C")),
            (format!("{good}# A\n_about a_\n"), heading("# A")),
            (notes(&own, ["# C", "", ""]), Err(Flaw::About("# A".into()))),
            (good.replace("_about b_", "_about bee_"), Err(Flaw::About("# B".into()))),
            (good.replace("_about b_\n", ""), Err(Flaw::About("# B".into()))),
            (format!("Hello.\n{good}"), Err(Flaw::Preface)),
            (String::new(), heading("# A")),
        ] {
            let found = Notes::read(&bad, &own).map(|_| ());
            if flaw == Err(Flaw::About("# A".into())) {
                assert!(found.is_err(), "{bad}");
            } else {
                assert_eq!(found, flaw, "{bad}");
            }
        }
    }

    #[test]
    fn l3_5_what_a_person_did_to_the_file_is_taken_in() {
        let own = template();
        let broken = "Mine.\n# B\n_about b_\nsecond\n# Renamed\ntext\n# A\nno italics\n# B\nagain";
        let taken = Notes::adopt(broken, &own);
        assert_eq!(taken.bodies, ["Mine.\n\nno italics", "second\n# Renamed\ntext\n\nagain", ""]);
        let other = Template::parse("# B\n_about b_\n# New\n_n_\n").unwrap();
        let moved = Notes::adopt(&taken.render(), &other);
        assert!(moved.bodies[0].contains("Mine.") && moved.bodies[0].contains("again"));
    }

    #[test]
    fn l3_7_notes_without_content_are_blank() {
        let own = Template::parse("Pre.\n# A\n_about a_\n- start\n").unwrap();
        assert!(Notes::blank(&own).is_blank());
        let text = Notes::blank(&own).render();
        assert!(Notes::read(&text, &own).unwrap().is_blank());
        assert!(!Notes::adopt(&format!("{text}more"), &own).is_blank());
        assert!(Notes::adopt("", &own).is_blank());
    }

    #[test]
    fn l3_3_sections_over_their_cap_are_named() {
        let own = template();
        let limits = Limits::default();
        let text = notes(&own, ["x", &"long ".repeat(2_000), &"y".repeat(8_000)]);
        let over = Notes::read(&text, &own).unwrap().over_long(&limits);
        assert_eq!(over, [Over { name: "B".into(), tokens: Tokens(2_500) }]);
    }

    fn body() -> impl Strategy<Value = String> {
        let line = prop_oneof![
            "[a-zé漢 ]{0,40}",
            Just("# B".to_owned()),
            Just("# other".to_owned()),
            Just("_about b_".to_owned()),
            Just(String::new()),
            "[a-z ]{200,400}",
        ];
        prop::collection::vec(line, 0..30).prop_map(|lines| lines.join("\n"))
    }

    proptest! {
        #[test]
        fn l3_1_what_is_read_is_written_the_same(bodies in prop::collection::vec(body(), 3)) {
            let own = template();
            let text = Notes { template: &own, bodies }.render();
            if let Ok(read) = Notes::read(&text, &own) {
                prop_assert_eq!(Notes::read(&read.render(), &own), Ok(read.clone()));
                prop_assert_eq!(Notes::adopt(&read.render(), &own), read);
            }
        }

        #[test]
        fn l3_5_adopting_loses_no_line_and_fits_the_frame(
            text in prop::collection::vec(body(), 0..5).prop_map(|parts| parts.join("\n# A\n")),
        ) {
            let own = template();
            let taken = Notes::adopt(&text, &own);
            prop_assert_eq!(Notes::read(&taken.render(), &own), Ok(taken.clone()));
            let kept = taken.render();
            for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
                prop_assert!(kept.contains(line), "{line:?} is lost");
            }
        }

        #[test]
        fn l3_6_shortened_notes_keep_to_every_cap(
            bodies in prop::collection::vec(body(), 3), file in 200_u64..3_000, section in 60_u64..1_500,
        ) {
            let own = template();
            let mut limits = Limits::default();
            limits.notes.file_tokens = file;
            limits.notes.section_tokens = section;
            let notes = Notes::adopt(&Notes { template: &own, bodies }.render(), &own);
            let short = notes.shortened("/s/summary.md", &limits);
            prop_assert!(estimate_text(&short, &limits).0 <= file, "{}", short.len());
            let again = Notes::read(&short, &own).unwrap();
            prop_assert!(again.over_long(&limits).is_empty());
            for (before, after) in notes.bodies.iter().zip(&again.bodies) {
                let start = after.split("[Cut here").next().unwrap().trim_end();
                prop_assert!(before == after || (before.starts_with(start) && after.contains("/s/summary.md")));
            }
            if notes.over_long(&limits).is_empty() && notes.tokens(&limits).0 + 8 <= file {
                prop_assert_eq!(short, notes.render());
            }
        }
    }
}
