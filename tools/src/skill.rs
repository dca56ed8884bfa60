//! `Skill`: the model takes up instructions that a person keeps for a kind of
//! task. The tool only asks; the engine brings the text in once all results
//! of the answer are in the log.

use everfold_kernel::ports::BoxFuture;
use everfold_kernel::provenance::Source;
use serde_json::{Value, json};

use crate::input::Input;
use crate::{Access, Refusal, Tool, ToolCall, ToolContext, ToolOutput, ToolSpec};

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

impl Tool for Skill {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: NAME.into(),
            description:
                "Takes up a skill: instructions kept for a kind of task. A reminder lists \
                the skills that there are. When one fits what you are asked to do, take it up \
                before you begin; its text follows, and you work by it."
                    .into(),
            input_schema: json!({
                "type": "object",
                "properties": {
                    "skill": { "type": "string", "description": "Its name, as it is listed" },
                    "args": { "type": "string", "description": "Arguments, where it takes some" }
                },
                "required": ["skill"],
                "additionalProperties": false
            }),
        }
    }

    fn access(&self, _: &Value, _: &ToolContext) -> Access {
        Access::Nothing
    }

    fn run<'a>(
        &'a self,
        call: &'a ToolCall,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, ToolOutput> {
        Box::pin(async move { run(call, context).unwrap_or_else(ToolOutput::from) })
    }
}

fn run(call: &ToolCall, context: &ToolContext) -> Result<ToolOutput, Refusal> {
    let input = Input::of(NAME, &call.input)?;
    let name = input.filled_text("skill")?;
    let args = input.optional_text("args")?.unwrap_or_default().to_owned();
    let skill = context.skills.get(name).filter(|skill| skill.is_for_model());
    let Some(skill) = skill else {
        let known = context.skills.skills().iter().filter(|skill| skill.is_for_model());
        let known: Vec<&str> = known.map(|skill| skill.name.as_str()).collect();
        let known = if known.is_empty() { "there are none".into() } else { known.join(", ") };
        return Err(Refusal::new(format!("there is no skill {name:?}; the skills: {known}")));
    };
    context.request_skill(SkillRequest { name: skill.name.clone(), args });
    Ok(ToolOutput::text(
        Source::Repository,
        format!("The skill {} is taken up; its text follows.", skill.name),
    )
    .with_structured(json!({ "success": true, "commandName": skill.name })))
}
