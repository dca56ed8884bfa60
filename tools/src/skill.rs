//! `Skill`: the model takes up instructions that a person keeps for a kind of
//! task. The tool only asks; the engine brings the text in once all results
//! of the answer are in the log.

use everfold_kernel::provenance::Source;
use everfold_kernel::{Class, Classify};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::built_in::BuiltIn;
use crate::failure::Failure;
use crate::input::{self, Filled, InputError};
use crate::{ToolCall, ToolContext, ToolOutput};

const NAME: &str = "Skill";

/// A skill that is to be taken up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillRequest {
    /// Its name.
    pub name: String,
    /// Its arguments.
    pub args: String,
}

/// Takes up skills.
pub(crate) struct Skill;

#[derive(Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct Input<'a> {
    /// Its name, as it is listed
    #[serde(borrow)]
    skill: Filled<'a>,
    /// Arguments, where it takes some
    args: Option<&'a str>,
}

/// Why a skill is not taken up.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SkillError {
    #[error(transparent)]
    Input(#[from] InputError),
    #[error("unknown skill {name:?}; the skills: {known}")]
    Unknown { name: String, known: String },
}

impl Classify for SkillError {
    fn class(&self) -> Class {
        Class::Refuse
    }
}

impl Failure for SkillError {}

impl BuiltIn for Skill {
    const NAME: &'static str = NAME;
    const ABOUT: &'static str = "\
         Takes up a skill: instructions kept for a kind of task. A reminder lists the skills \
         that there are. When one fits what you are asked to do, take it up before you begin; \
         its text follows, and you work by it.";
    type Input = Input<'static>;
    type Error = SkillError;

    async fn run(call: &ToolCall, context: &ToolContext) -> Result<ToolOutput, SkillError> {
        let Input { skill: name, args } = input::read(NAME, &call.input)?;
        let args = args.unwrap_or_default().to_owned();
        let skill = context.skills.get(&name).filter(|skill| skill.is_for_model());
        let Some(skill) = skill else {
            let known = context.skills.skills().iter().filter(|skill| skill.is_for_model());
            let known: Vec<&str> = known.map(|skill| skill.name.as_str()).collect();
            let known = if known.is_empty() { "there are none".into() } else { known.join(", ") };
            return Err(SkillError::Unknown { name: name.get().to_owned(), known });
        };
        context.request_skill(SkillRequest { name: skill.name.clone(), args });
        Ok(ToolOutput::text(
            Source::Repository,
            format!("The skill {} is taken up; its text follows.", skill.name),
        )
        .with_structured(json!({ "success": true, "commandName": skill.name })))
    }
}
