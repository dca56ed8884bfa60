//! `ExitPlanMode`: the plan is put before the person, who decides (Q14).

use crate::input::Input;
use crate::{Access, Refusal, Tool, ToolCall, ToolContext, ToolOutput, ToolSpec};
use everfold_kernel::ports::{BoxFuture, PermissionAnswer, PermissionAsk};
use everfold_kernel::provenance::Source;
use serde_json::{Value, json};

const NAME: &str = "ExitPlanMode";

/// Leaves plan mode.
pub(crate) struct ExitPlanMode;

impl Tool for ExitPlanMode {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: NAME.into(),
            description: "Puts your plan before the person and leaves plan mode if they agree. \
                Only for plan mode, once the plan is in its file; without a plan in the call the \
                file's is shown. If they do not agree, go on planning with what they say."
                .into(),
            input_schema: json!({
                "type": "object",
                "properties": {
                    "plan": {
                        "type": "string",
                        "description": "The plan, if it is not in its file"
                    }
                },
                "additionalProperties": false
            }),
        }
    }

    fn access(&self, _input: &Value, _context: &ToolContext) -> Access {
        Access::Nothing
    }

    fn run<'a>(
        &'a self,
        call: &'a ToolCall,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, ToolOutput> {
        Box::pin(async move { run(call, context).await.unwrap_or_else(ToolOutput::from) })
    }
}

async fn run(call: &ToolCall, context: &ToolContext) -> Result<ToolOutput, Refusal> {
    let input = Input::of(NAME, &call.input)?;
    let given = input.optional_text("plan")?.map(str::trim).filter(|plan| !plan.is_empty());
    let Some(path) = context.plan_file() else {
        return Err(Refusal::new(
            "ExitPlanMode was refused: this is not plan mode; go on with the work",
        ));
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
        let path = path.display();
        return Err(Refusal::new(format!(
            "there is no plan yet: write it to {path} first, then call ExitPlanMode again"
        )));
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
        return Err(Refusal::new(format!(
            "The plan was not approved: {reason}. You are still in plan mode."
        )));
    }
    context.leave_plan(&answer);
    let text = format!(
        "{who} approved the plan. You may carry it out now. It stays in {}.",
        path.display()
    );
    Ok(ToolOutput::text(Source::Command, text)
        .with_structured(json!({"plan": plan, "filePath": path})))
}
