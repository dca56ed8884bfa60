//! Edit: a replacement of exact text in a file.
//!
//! The text must occur once, or be replaced everywhere. Models write `\n`
//! whatever the file has, so a file with `\r\n` is matched and kept that way;
//! a byte order mark is kept too. A text with `\r` in it is taken literally.

mod hint;

use crate::built_in::BuiltIn;
use everfold_kernel::phrase::counted;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::path::PathBuf;

use crate::file_error::FileToolError;
use crate::input::{self, Filled};
use crate::lines::{count, push_numbered, without_ending};
use crate::near::missing;
use crate::patch::{original, structured_patch};
use crate::write::{create, current, save};
use crate::{Access, ToolCall, ToolContext, ToolOutput};

const NAME: &str = "Edit";

/// Lines shown before and after a change.
const SNIPPET_LINES: usize = 3;

/// Most lines of a snippet.
const SNIPPET_MAX_LINES: usize = 40;

/// Edits a file.
pub(crate) struct Edit;

#[derive(Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct Input<'a> {
    /// The file, absolute or relative to the working directory
    #[serde(borrow)]
    file_path: Filled<'a>,
    /// The text to replace
    old_string: &'a str,
    /// The text to put there
    new_string: &'a str,
    /// Replace every occurrence (default false)
    replace_all: Option<bool>,
}

struct Arguments<'a> {
    path: PathBuf,
    old: &'a str,
    new: &'a str,
    everywhere: bool,
}

impl BuiltIn for Edit {
    const NAME: &'static str = NAME;
    const ABOUT: &'static str = "\
         Replaces exact text in a file that was read before. old_string must be in the file \
         exactly once, with its white space, without line numbers; take more lines to make it \
         unique, or set replace_all. An empty old_string with a path where no file is creates \
         that file.";
    type Input = Input<'static>;
    type Error = FileToolError;

    fn access(input: &Value, context: &ToolContext) -> Access {
        parse(input, context).map_or(Access::Nothing, |arguments| Access::Edit(arguments.path))
    }

    async fn run(call: &ToolCall, context: &ToolContext) -> Result<ToolOutput, FileToolError> {
        let arguments = parse(&call.input, context)?;
        let path = &arguments.path;
        let resolved = context.world.files.resolve(path).await;
        let Some(read) = current(context, path, &resolved).await? else {
            if arguments.old.is_empty() {
                let made = create(context, path, resolved, arguments.new).await?;
                return Ok(made.with_structured(structured(&arguments, "", arguments.new)));
            }
            return Err(missing(context, path).await);
        };
        let text = std::str::from_utf8(&read.bytes)
            .map_err(|_| FileToolError::NotUtf8 { path: path.clone() })?;
        let (mark, body) = match text.strip_prefix('\u{feff}') {
            Some(body) => ("\u{feff}", body),
            None => ("", text),
        };
        let change = replace(&arguments, body)?;
        let bytes = format!("{mark}{}", change.text);
        let origin = context.origin(&resolved).await;
        save(context, path, resolved, bytes.as_bytes(), Some(&read)).await?;
        let note = format!(
            "Updated {}: {} replaced. {} now:\n{}",
            path.display(),
            counted(change.count as u64, "occurrence"),
            if change.count == 1 { "The place" } else { "The first place" },
            snippet(&change, context.limits.read_line_chars),
        );
        Ok(ToolOutput::text(origin, note).with_structured(structured(
            &arguments,
            body,
            &change.text,
        )))
    }
}

fn parse<'a>(input: &'a Value, context: &ToolContext) -> Result<Arguments<'a>, FileToolError> {
    let Input { file_path, old_string: old, new_string: new, replace_all } =
        input::read(NAME, input)?;
    if old == new {
        return Err(FileToolError::NoChange);
    }
    let (path, everywhere) = (context.absolute(&file_path), replace_all.unwrap_or_default());
    Ok(Arguments { path, old, new, everywhere })
}

/// A text after the replacement.
struct Change {
    text: String,
    count: usize,
    /// The lines of the first replacement: how many come before it, and how
    /// many it touches.
    first_line: usize,
    lines: usize,
}

fn replace(arguments: &Arguments<'_>, body: &str) -> Result<Change, FileToolError> {
    let path = || arguments.path.clone();
    if arguments.old.is_empty() && !body.is_empty() {
        return Err(FileToolError::NothingToReplace { path: path() });
    }
    let (old, new) = endings(body, arguments.old, arguments.new);
    let Some(at) = body.find(old.as_ref()) else {
        let hint = hint::not_found(body, arguments.old);
        return Err(FileToolError::NotFound { path: path(), hint });
    };
    let count_found = body.matches(old.as_ref()).count();
    // Looking from both ends also finds occurrences that overlap.
    if !arguments.everywhere && body.rfind(old.as_ref()) != Some(at) {
        return Err(FileToolError::Ambiguous { path: path(), times: count_found.max(2) });
    }
    let text = body.replace(old.as_ref(), &new);
    let before = body.get(..at).unwrap_or_default();
    Ok(Change {
        text,
        count: count_found,
        first_line: before.matches('\n').count(),
        lines: count(&new).max(1),
    })
}

/// The two texts with the line endings of the file.
fn endings<'a>(body: &str, old: &'a str, new: &'a str) -> (Cow<'a, str>, Cow<'a, str>) {
    let as_given = (Cow::Borrowed(old), Cow::Borrowed(new));
    let windows = body.matches("\r\n").count();
    if windows == 0 || old.contains('\r') || new.contains('\r') {
        return as_given;
    }
    // In a file with both endings only a text that is not there as given
    // is looked for with the other one.
    if body.matches('\n').count() > windows && body.contains(old) {
        return as_given;
    }
    (old.replace('\n', "\r\n").into(), new.replace('\n', "\r\n").into())
}

fn snippet(change: &Change, line_chars: usize) -> String {
    let skipped = change.first_line.saturating_sub(SNIPPET_LINES);
    let around = change.first_line.saturating_sub(skipped).saturating_add(SNIPPET_LINES);
    let wanted = change.lines.saturating_add(around).min(SNIPPET_MAX_LINES);
    let mut out = String::new();
    let lines = change.text.split_inclusive('\n').map(without_ending);
    for (index, line) in lines.enumerate().skip(skipped).take(wanted) {
        let number = u64::try_from(index).unwrap_or(u64::MAX).saturating_add(1);
        push_numbered(&mut out, number, line, line_chars);
    }
    if out.is_empty() {
        out.push_str("(the file is empty)");
    }
    out
}

fn structured(arguments: &Arguments<'_>, before: &str, after: &str) -> Value {
    json!({
        "filePath": arguments.path.display().to_string(),
        "oldString": arguments.old,
        "newString": arguments.new,
        "originalFile": original(before),
        "structuredPatch": structured_patch(before, after),
        "userModified": false,
        "replaceAll": arguments.everywhere,
    })
}
