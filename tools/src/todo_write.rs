//! TodoWrite: the model's own list of what is to be done.

use everfold_kernel::ports::BoxFuture;
use everfold_kernel::provenance::Source;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::borrow::Cow;

use crate::input::Input;
use crate::{Access, Refusal, Tool, ToolCall, ToolContext, ToolOutput, ToolSpec};

/// One thing to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Todo {
    /// What is to be done.
    pub content: String,
    /// How far it is.
    pub status: TodoStatus,
    /// The same, as it reads while it is being done.
    pub active_form: String,
}

/// How far a thing to do is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TodoStatus {
    /// Not begun.
    Pending,
    /// Being done.
    InProgress,
    /// Done.
    Completed,
}

/// Keeps the to-do list.
pub(crate) struct TodoWrite;

impl Tool for TodoWrite {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "TodoWrite".into(),
            description: "Keeps a to-do list that the person can see. Each call gives the whole \
                list anew. Use it for work of several steps: write the steps down, have one \
                in_progress at a time, mark each completed as soon as it is done and not \
                before. Leave it out for small tasks."
                .into(),
            input_schema: json!({
                "type": "object",
                "properties": {
                    "todos": {
                        "type": "array",
                        "description": "The whole list",
                        "items": {
                            "type": "object",
                            "properties": {
                                "content": {
                                    "type": "string",
                                    "description": "What is to be done: Run the tests"
                                },
                                "status": {
                                    "type": "string",
                                    "enum": ["pending", "in_progress", "completed"]
                                },
                                "activeForm": {
                                    "type": "string",
                                    "description": "The same while it is done: Running the tests"
                                }
                            },
                            "required": ["content", "status", "activeForm"],
                            "additionalProperties": false
                        }
                    }
                },
                "required": ["todos"],
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
        Box::pin(async move { run(&call.input, context).unwrap_or_else(ToolOutput::from) })
    }
}

fn run(input: &Value, context: &ToolContext) -> Result<ToolOutput, Refusal> {
    let todos = parse(input)?;
    let number = |status| todos.iter().filter(|todo| todo.status == status).count();
    let text = format!(
        "The list is kept: {} in progress, {} pending, {} completed.",
        number(TodoStatus::InProgress),
        number(TodoStatus::Pending),
        number(TodoStatus::Completed),
    );
    let old = context.set_todos(todos.clone());
    Ok(ToolOutput::text(Source::Command, text)
        .with_structured(json!({"oldTodos": old, "newTodos": todos})))
}

fn parse(input: &Value) -> Result<Vec<Todo>, Refusal> {
    let input = Input::of("TodoWrite", input)?;
    let what = "a list of objects with content, status and activeForm";
    let value = input.field("todos").ok_or_else(|| input.needs("todos", what, None))?;
    // Some models send the list as a text of JSON.
    let parsed = value.as_str().and_then(|text| serde_json::from_str(text).ok());
    let list = parsed.map_or(Cow::Borrowed(value), Cow::<Value>::Owned);
    let Some(items) = list.as_array() else {
        return Err(input.needs("todos", what, Some(value)));
    };
    items.iter().enumerate().map(|(index, item)| todo(index, item)).collect()
}

fn todo(index: usize, item: &Value) -> Result<Todo, Refusal> {
    let wrong = |what: &str| Refusal::new(format!("todos[{index}] {what}; the list is as it was"));
    let text = |name: &str| item.get(name).and_then(Value::as_str).map(str::trim);
    let content = text("content")
        .filter(|content| !content.is_empty())
        .ok_or_else(|| wrong("needs \"content\" (a string that says something)"))?;
    let status = item.get("status").cloned().unwrap_or_default();
    let status = serde_json::from_value(status)
        .map_err(|_| wrong("needs \"status\" (pending, in_progress or completed)"))?;
    // Without its own form the content reads well enough.
    let active_form = text("activeForm").filter(|form| !form.is_empty()).unwrap_or(content);
    Ok(Todo { content: content.to_owned(), status, active_form: active_form.to_owned() })
}
