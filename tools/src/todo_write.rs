//! TodoWrite: the model's own list of what is to be done.

use everfold_kernel::provenance::Source;
use everfold_kernel::{Class, Classify};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::built_in::BuiltIn;
use crate::failure::Failure;
use crate::input::{self, InputError};
use crate::{ToolCall, ToolContext, ToolOutput};

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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TodoStatus {
    /// Not begun.
    Pending,
    /// Being done.
    InProgress,
    /// Done.
    Completed,
}

const NAME: &str = "TodoWrite";

/// Keeps the to-do list.
pub(crate) struct TodoWrite;

#[derive(Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct Input {
    /// The whole list
    todos: Vec<Item>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
struct Item {
    /// What is to be done: Run the tests
    content: String,
    #[schemars(extend("description" = ""))]
    status: TodoStatus,
    /// The same while it is done: Running the tests
    #[schemars(required)]
    active_form: Option<String>,
}

/// Why the list was not taken.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TodoError {
    #[error("{0}; the list is as it was")]
    Input(#[from] InputError),
}

impl Classify for TodoError {
    fn class(&self) -> Class {
        Class::Refuse
    }
}

impl Failure for TodoError {}

impl BuiltIn for TodoWrite {
    const NAME: &'static str = NAME;
    const ABOUT: &'static str = "\
         Keeps a to-do list that the person can see. Each call gives the whole list anew. Use \
         it for work of several steps: write the steps down, have one in_progress at a time, \
         mark each completed as soon as it is done and not before. Leave it out for small \
         tasks.";
    type Input = Input;
    type Error = TodoError;

    async fn run(call: &ToolCall, context: &ToolContext) -> Result<ToolOutput, TodoError> {
        let todos = parse(&call.input)?;
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
}

fn parse(input: &Value) -> Result<Vec<Todo>, TodoError> {
    let Input { todos } = input::read(NAME, input)?;
    todos.iter().enumerate().map(|(at, item)| todo(at, item)).collect()
}

fn todo(at: usize, item: &Item) -> Result<Todo, TodoError> {
    let content = item.content.trim();
    if content.is_empty() {
        return Err(InputError::empty(&format!("todos[{at}]"), "content").into());
    }
    // Without its own form the content reads well enough.
    let form = item.active_form.as_deref().map(str::trim).filter(|form| !form.is_empty());
    let active_form = form.unwrap_or(content).to_owned();
    Ok(Todo { content: content.to_owned(), status: item.status, active_form })
}
