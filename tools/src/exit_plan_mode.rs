//! `ExitPlanMode`: the plan is put before the person, who decides (Q14).

use crate::built_in::BuiltIn;
use crate::failure::Failure;
use crate::input::{self, InputError};
use crate::{ToolCall, ToolContext, ToolOutput};
use everfold_kernel::ports::{PermissionAnswer, PermissionAsk};
use everfold_kernel::provenance::Source;
use everfold_kernel::{Class, Classify};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use std::path::PathBuf;

const NAME: &str = "ExitPlanMode";

/// Leaves plan mode.
pub(crate) struct ExitPlanMode;

#[derive(Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct Input<'a> {
    /// The plan, if it is not in its file
    #[serde(borrow)]
    plan: Option<&'a str>,
}

/// Why plan mode goes on.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PlanError {
    #[error(transparent)]
    Input(#[from] InputError),
    #[error("{NAME} was refused: this is not plan mode; go on with the work")]
    NotPlanning,
    #[error("there is no plan yet: write it to {} first, then call {NAME} again", path.display())]
    NoPlan { path: PathBuf },
    #[error("The plan was not approved: {reason}. You are still in plan mode.")]
    NotApproved { reason: String },
}

impl Classify for PlanError {
    fn class(&self) -> Class {
        Class::Refuse
    }
}

impl Failure for PlanError {}

impl BuiltIn for ExitPlanMode {
    const NAME: &'static str = NAME;
    const ABOUT: &'static str = "\
         Puts your plan before the person and leaves plan mode if they agree. Only for plan \
         mode, once the plan is in its file; without a plan in the call the file's is shown. If \
         they do not agree, go on planning with what they say.";
    type Input = Input<'static>;
    type Error = PlanError;

    async fn run(call: &ToolCall, context: &ToolContext) -> Result<ToolOutput, PlanError> {
        let input: Input<'_> = input::read(NAME, &call.input)?;
        let given = input.plan.map(str::trim).filter(|plan| !plan.is_empty());
        let Some(path) = context.plan_file() else {
            return Err(PlanError::NotPlanning);
        };
        let plan = if let Some(plan) = given {
            plan.to_owned()
        } else {
            let most = context.limits.read_file_bytes;
            let read = context.world.files.read(&path, most).await;
            let text = read.map(|read| String::from_utf8_lossy(&read.bytes).trim().to_owned());
            text.unwrap_or_default()
        };
        if plan.is_empty() {
            return Err(PlanError::NoPlan { path });
        }
        let ask = PermissionAsk {
            tool: NAME.to_owned(),
            input: json!({ "plan": plan }),
            summary: plan.clone(),
            rule: "leave plan mode, and accept edits from here on".to_owned(),
        };
        let shown = ToolCall { input: ask.input.clone(), ..call.clone() };
        let hooked = match &context.hooks {
            Some(hooks) => hooks.permission(&shown, context).await,
            None => None,
        };
        let (who, answer) = match hooked {
            Some(answer) => ("A hook", answer),
            None => ("The person", context.world.approver.ask(ask).await),
        };
        if let PermissionAnswer::Deny { reason } = answer {
            return Err(PlanError::NotApproved { reason });
        }
        context.leave_plan(&answer);
        let text = format!(
            "{who} approved the plan. You may carry it out now. It stays in {}.",
            path.display()
        );
        Ok(ToolOutput::text(Source::Command, text)
            .with_structured(json!({"plan": plan, "filePath": path})))
    }
}
