//! Skills and custom commands, as people have them already: `SKILL.md` in a
//! folder of its own, or a flat Markdown file under `commands/`.
//!
//! The crate reads no files. [`Skill::read`] takes the text of one; a
//! [`Shelf`] holds all that there are, and says what a model is told of them;
//! [`Skill::filled`] is the body with its arguments put in. Nothing here
//! fails: broken frontmatter is read as far as it goes, with a word about it.

mod arguments;
mod shelf;
mod skill;

pub use arguments::{BodyPart, parts};
pub use shelf::Shelf;
pub use skill::{Form, Invocation, Skill, SkillContext, SkillOrigin};
