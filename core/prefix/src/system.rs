//! The system prompt, in the order that keeps its cache warm (PC2).
//!
//! What stands before the dynamic boundary is the same for everybody: it
//! depends on nothing but this version. What depends on the person, the day or
//! the project stands after it. Sections are composed once a session and kept
//! in the log as part of the prelude (PC3).

use everfold_kernel::SystemBlock;
use everfold_kernel::record::Breakpoint;
use minijinja::{Environment, UndefinedBehavior, Value, context};

/// Says who sends the request; a block of its own, always first.
const ATTRIBUTION: &str = concat!("everfold/", env!("CARGO_PKG_VERSION"));
/// Says through which face the person speaks.
const CLI_PREFIX: &str = "You are running inside the everfold command-line program.";
const INTRODUCTION: &str = include_str!("system/introduction.md");
const SYSTEM: &str = include_str!("system/system.md");
const TASKS: &str = include_str!("system/tasks.md");
const TOOLS: &str = include_str!("system/tools.md");
const MEMORY: &str = include_str!("system/memory.md");
/// How the line of the environment section starts that has the date.
const DATE_LINE: &str = "- Date at the start of the session: ";
const ENVIRONMENT: &str = include_str!("system/environment.md");
/// All that a model with a small window is told (Q16).
const LEAN: &str = include_str!("system/lean.md");
const LEAN_ENVIRONMENT: &str = include_str!("system/lean_environment.md");

/// What the sections after the boundary are made from.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Surroundings {
    /// How much is said.
    pub profile: Profile,
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
    pub model: String,
    /// How answers are written, by setting.
    pub output_style: Option<String>,
    /// The language of answers, by setting.
    pub language: Option<String>,
    /// Text that the person appended.
    pub appended: Option<String>,
    /// Where memories are, if there is a memory (L5.7).
    pub memory: Option<MemorySurroundings>,
    /// What a sub-agent is, in place of what the main thread is told (L7.4).
    pub agent: Option<AgentSurroundings>,
}

/// How much the fixed prompt says (Q16).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Profile {
    #[default]
    Full,
    /// What a model with a small window needs.
    Lean,
}

/// What the prompt of a sub-agent is made from (L7.4).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AgentSurroundings {
    /// What its kind is told.
    pub prompt: String,
    /// What it is told of its memory, if it keeps one (L5.20).
    pub memory: Option<String>,
}

/// What the memory section is made from (L5.8).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MemorySurroundings {
    /// The project's memory directory.
    pub dir: String,
    /// The directory of what holds in every project.
    pub global_dir: Option<String>,
    /// The directory that everybody on the project shares, if there is one (L5.21).
    pub team_dir: Option<String>,
    /// Where past conversations can be searched, if they may be.
    pub transcripts: Option<String>,
    /// More guidelines, by the environment.
    pub guidelines: Option<String>,
    /// How memories are written down.
    pub keeping: Keeping,
}

/// How memories are written down.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keeping {
    /// Each in a file of its own, with a line in the index.
    #[default]
    Topics,
    /// Each in a file of its own; the index is not shown (L5.44).
    TopicsAlone,
    /// As lines of a log for each day, which a dream distils (L5.22).
    DailyLogs,
}

/// A template of ours could not be filled: a defect of this version.
#[derive(Debug, thiserror::Error)]
#[error("the system prompt's section {section} could not be written: {source}")]
pub struct Error {
    section: &'static str,
    source: minijinja::Error,
}

impl everfold_kernel::Classify for Error {
    fn class(&self) -> everfold_kernel::Class {
        everfold_kernel::Class::Bug
    }
}

/// Composes the system prompt. A breakpoint closes the part that is the same
/// for everybody, another one the whole.
///
/// # Errors
/// If a template of this version does not fit its values.
pub fn compose(surroundings: &Surroundings) -> Result<Vec<SystemBlock>, Error> {
    let is_lean = surroundings.profile == Profile::Lean;
    let fixed = match &surroundings.agent {
        None if is_lean => LEAN.trim().to_owned(),
        Some(agent) if is_lean => join([LEAN, &agent.prompt]),
        None => join([CLI_PREFIX, INTRODUCTION, SYSTEM, TASKS, TOOLS]),
        Some(agent) => join([CLI_PREFIX, SYSTEM, TOOLS, &agent.prompt]),
    };
    let memory = match &surroundings.agent {
        Some(agent) => agent.memory.clone(),
        None if is_lean => None,
        None => surroundings.memory.as_ref().map(fill_memory).transpose()?,
    };
    let environment =
        if is_lean { fill_lean(surroundings)? } else { fill_environment(surroundings)? };
    let style =
        surroundings.output_style.as_deref().map(|text| format!("# Output style\n\n{text}"));
    let language = surroundings
        .language
        .as_deref()
        .map(|name| format!("# Language\n\nAnswer in {name}, whatever language you are asked in."));
    let dynamic = join(
        [memory.as_deref(), Some(environment.as_str()), style.as_deref(), language.as_deref()]
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

/// Whether a system prompt says that the session started on this day.
#[must_use]
pub fn tells_date(blocks: &[SystemBlock], date: &str) -> bool {
    let line = format!("{DATE_LINE}{date}");
    blocks.iter().any(|block| block.text.lines().any(|own| own == line))
}

fn join<'a>(sections: impl IntoIterator<Item = &'a str>) -> String {
    let sections: Vec<&str> =
        sections.into_iter().map(str::trim).filter(|section| !section.is_empty()).collect();
    sections.join("\n\n")
}

fn fill_environment(values: &Surroundings) -> Result<String, Error> {
    let values = context! {
        cwd => values.cwd.clone(),
        extra_directories => values.extra_directories.clone(),
        git => values.git.clone(),
        platform => values.platform.clone(),
        date => values.date.clone(),
        model => values.model.clone(),
    };
    fill("environment", ENVIRONMENT, values)
}

fn fill_lean(values: &Surroundings) -> Result<String, Error> {
    let values = context! {
        cwd => values.cwd.clone(),
        extra_directories => values.extra_directories.clone(),
        date => values.date.clone(),
        memory_dir => values.memory.as_ref().map(|memory| memory.dir.clone()),
    };
    fill("lean_environment", LEAN_ENVIRONMENT, values)
}

fn fill_memory(values: &MemorySurroundings) -> Result<String, Error> {
    let values = context! {
        dir => values.dir.clone(),
        global_dir => values.global_dir.clone(),
        team_dir => values.team_dir.clone(),
        transcripts => values.transcripts.clone(),
        guidelines => values.guidelines.clone(),
        daily_logs => values.keeping == Keeping::DailyLogs,
        with_index => values.keeping != Keeping::TopicsAlone,
    };
    fill("memory", MEMORY, values)
}

fn fill(section: &'static str, template: &str, values: Value) -> Result<String, Error> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
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

    fn with_memory(memory: MemorySurroundings) -> Vec<SystemBlock> {
        compose(&Surroundings { memory: Some(memory), ..surroundings("/home/ada/engine") }).unwrap()
    }

    #[test]
    fn pc2_the_memory_section_stands_after_the_boundary_and_before_the_environment() {
        let memory = MemorySurroundings { dir: "/m".into(), ..MemorySurroundings::default() };
        let (with, without) = (with_memory(memory), compose(&surroundings("/x")).unwrap());
        assert_eq!(with[..2], without[..2]);
        assert!(with[2].text.starts_with("# Memory\n"));
        assert!(with[2].text.contains("\n\n# Environment\n"));
        assert!(!without[2].text.contains("# Memory"));
    }

    #[test]
    fn l5_8_the_memory_section_reads_so() {
        let blocks = with_memory(MemorySurroundings {
            dir: "/home/ada/.everfold/projects/engine/memory".into(),
            global_dir: Some("/home/ada/.everfold/memory".into()),
            team_dir: None,
            transcripts: Some("/home/ada/.everfold/projects/engine".into()),
            guidelines: Some("Write memories in French.".into()),
            keeping: Keeping::Topics,
        });
        let section = blocks[2].text.split("\n\n# Environment").next().unwrap();
        insta::assert_snapshot!(section);
    }

    #[test]
    fn l5_21_with_a_team_every_type_has_a_scope() {
        let alone = MemorySurroundings { dir: "/m".into(), ..MemorySurroundings::default() };
        let team = MemorySurroundings { team_dir: Some("/m/team".into()), ..alone.clone() };
        let text = |memory| with_memory(memory)[2].text.clone();
        let (with, without) = (text(team), text(alone));
        let scopes: Vec<&str> = with.lines().filter(|line| line.starts_with("- Scope:")).collect();
        insta::assert_snapshot!(scopes.join("\n"));
        assert!(with.contains("`/m/team`") && with.contains("Nothing sensitive"));
        assert!(!without.contains("Scope") && !without.contains("team"));
    }

    #[test]
    fn l5_22_with_daily_logs_the_path_has_a_pattern_and_no_date() {
        let blocks = with_memory(MemorySurroundings {
            dir: "/m".into(),
            keeping: Keeping::DailyLogs,
            ..MemorySurroundings::default()
        });
        let section = blocks[2].text.split("\n\n# Environment").next().unwrap();
        let how = section.split("## How to save").nth(1).unwrap();
        insta::assert_snapshot!(how.split("## When to look").next().unwrap());
        assert!(!section.contains("2026-11-15") && !section.contains("Two steps"));
    }

    #[test]
    fn l5_44_without_the_index_saving_is_one_step() {
        let blocks = with_memory(MemorySurroundings {
            dir: "/m".into(),
            keeping: Keeping::TopicsAlone,
            ..MemorySurroundings::default()
        });
        let section = blocks[2].text.split("\n\n# Environment").next().unwrap();
        assert!(!section.contains("Two steps") && !section.contains("Then add one line"));
        assert!(!section.contains("MEMORY.md"), "{section}");
        assert!(section.contains("type: user, feedback, project or reference"));
    }

    #[test]
    fn l5_22_the_day_of_the_start_is_found_in_the_prompt() {
        let blocks = compose(&surroundings("/x")).unwrap();
        assert!(tells_date(&blocks, "2026-11-15") && !tells_date(&blocks, "2026-11-1"));
    }

    #[test]
    fn l5_8_what_is_switched_off_leaves_no_trace() {
        let blocks =
            with_memory(MemorySurroundings { dir: "/m".into(), ..MemorySurroundings::default() });
        for part in ["Past conversations", "every project goes", "{{", "{%"] {
            assert!(!blocks[2].text.contains(part), "{part}");
        }
    }
}
