//! The system prompt, in the order that keeps its cache warm (PC2).
//!
//! What stands before the dynamic boundary is the same for everybody: it
//! depends on nothing but this version. What depends on the person, the day or
//! the project stands after it. Sections are composed once a session and kept
//! in the log as part of the prelude (PC3).

use minijinja::{Environment, UndefinedBehavior, context};
use mnemon_kernel::SystemBlock;
use mnemon_kernel::record::Breakpoint;

/// Says who sends the request; a block of its own, always first.
const ATTRIBUTION: &str = concat!("mnemon/", env!("CARGO_PKG_VERSION"));
/// Says through which face the person speaks.
const CLI_PREFIX: &str = "You are running inside the mnemon command-line program.";
const INTRODUCTION: &str = include_str!("system/introduction.md");
const SYSTEM: &str = include_str!("system/system.md");
const TASKS: &str = include_str!("system/tasks.md");
const TOOLS: &str = include_str!("system/tools.md");
const ENVIRONMENT: &str = include_str!("system/environment.md");

/// What the sections after the boundary are made from.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Surroundings {
    /// Where the session was started.
    pub cwd: String,
    /// Further directories that tools may touch.
    pub extra_directories: Vec<String>,
    /// `no`, or the branch.
    pub git: String,
    /// Operating system and architecture.
    pub platform: String,
    /// The day on which the session started.
    pub date: String,
    /// The model.
    pub model: String,
    /// How answers are written, by setting.
    pub output_style: Option<String>,
    /// The language of answers, by setting.
    pub language: Option<String>,
    /// Text that the person appended.
    pub appended: Option<String>,
}

/// A template of ours could not be filled: a defect of this version.
#[derive(Debug, thiserror::Error)]
#[error("the system prompt's section {section} could not be written: {source}")]
pub struct Error {
    section: &'static str,
    source: minijinja::Error,
}

impl mnemon_kernel::Classify for Error {
    fn class(&self) -> mnemon_kernel::Class {
        mnemon_kernel::Class::Bug
    }
}

/// Composes the system prompt. A breakpoint closes the part that is the same
/// for everybody, another one the whole.
///
/// # Errors
/// If a template of this version does not fit its values.
pub fn compose(surroundings: &Surroundings) -> Result<Vec<SystemBlock>, Error> {
    let fixed = join([CLI_PREFIX, INTRODUCTION, SYSTEM, TASKS, TOOLS]);
    let environment = fill("environment", ENVIRONMENT, surroundings)?;
    let style =
        surroundings.output_style.as_deref().map(|text| format!("# Output style\n\n{text}"));
    let language = surroundings
        .language
        .as_deref()
        .map(|name| format!("# Language\n\nAnswer in {name}, whatever language you are asked in."));
    let dynamic = join(
        [Some(environment.as_str()), style.as_deref(), language.as_deref()]
            .into_iter()
            .chain([surroundings.appended.as_deref()])
            .flatten(),
    );
    Ok(vec![
        SystemBlock { text: ATTRIBUTION.to_owned(), breakpoint: Breakpoint::None },
        SystemBlock { text: fixed, breakpoint: Breakpoint::Here },
        SystemBlock { text: dynamic, breakpoint: Breakpoint::Here },
    ])
}

fn join<'a>(sections: impl IntoIterator<Item = &'a str>) -> String {
    let sections: Vec<&str> =
        sections.into_iter().map(str::trim).filter(|section| !section.is_empty()).collect();
    sections.join("\n\n")
}

fn fill(section: &'static str, template: &str, values: &Surroundings) -> Result<String, Error> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    let values = context! {
        cwd => values.cwd.clone(),
        extra_directories => values.extra_directories.clone(),
        git => values.git.clone(),
        platform => values.platform.clone(),
        date => values.date.clone(),
        model => values.model.clone(),
    };
    environment.render_str(template, values).map_err(|source| Error { section, source })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn surroundings(cwd: &str) -> Surroundings {
        Surroundings {
            cwd: cwd.into(),
            git: "yes, branch main".into(),
            platform: "linux x86_64".into(),
            date: "2026-11-15".into(),
            model: "claude-sonnet-5-5".into(),
            language: Some("German".into()),
            appended: Some("Always say please.".into()),
            ..Surroundings::default()
        }
    }

    #[test]
    fn pc2_sections_in_order() {
        let blocks = compose(&surroundings("/home/ada/engine")).unwrap();
        let text: Vec<String> = blocks
            .iter()
            .map(|block| format!("[{:?}]\n{}", block.breakpoint, block.text))
            .collect();
        insta::assert_snapshot!(text.join("\n\n").replace(env!("CARGO_PKG_VERSION"), "VERSION"));
    }

    #[test]
    fn pc2_nothing_before_the_boundary_depends_on_the_person() {
        let one = compose(&surroundings("/home/ada")).unwrap();
        let two =
            compose(&Surroundings { date: "2030-01-01".into(), ..surroundings("/srv/x") }).unwrap();
        assert_eq!(one[..2], two[..2]);
        assert_ne!(one[2], two[2]);
        assert_eq!(one[1].breakpoint, Breakpoint::Here);
    }
}
