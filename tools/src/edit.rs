//! Edit: a replacement of exact text in a file.
//!
//! The text must occur once, or be replaced everywhere. Models write `\n`
//! whatever the file has, so a file with `\r\n` is matched and kept that way;
//! a byte order mark is kept too. A text with `\r` in it is taken literally.

mod hint;

use everfold_kernel::ports::BoxFuture;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::path::{Path, PathBuf};

use crate::input::Input;
use crate::lines::{count, counted, push_numbered, without_ending};
use crate::near::missing;
use crate::patch::{original, structured_patch};
use crate::write::{create, current, save};
use crate::{Access, Refusal, Tool, ToolCall, ToolContext, ToolOutput, ToolSpec};

/// Lines shown before and after a change.
const SNIPPET_LINES: usize = 3;

/// Most lines of a snippet.
const SNIPPET_MAX_LINES: usize = 40;

/// Edits a file.
pub(crate) struct Edit;

struct Arguments<'a> {
    path: PathBuf,
    old: &'a str,
    new: &'a str,
    everywhere: bool,
}

impl Tool for Edit {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "Edit".into(),
            description: "Replaces exact text in a file that was read before. old_string must \
                be in the file exactly once, with its white space, without line numbers; take \
                more lines around it to make it unique, or set replace_all to replace every \
                occurrence. An empty new_string deletes the text. An empty old_string with a \
                path where no file is creates that file. If the file changed since it was \
                read, it must be read again."
                .into(),
            input_schema: json!({
                "type": "object",
                "properties": {
                    "file_path": {
                        "type": "string",
                        "description": "The file, absolute or relative to the working directory"
                    },
                    "old_string": { "type": "string", "description": "The text to replace" },
                    "new_string": { "type": "string", "description": "The text to put there" },
                    "replace_all": {
                        "type": "boolean",
                        "description": "Replace every occurrence (default false)"
                    }
                },
                "required": ["file_path", "old_string", "new_string"],
                "additionalProperties": false
            }),
        }
    }

    fn access(&self, input: &Value, context: &ToolContext) -> Access {
        parse(input, context).map_or(Access::Nothing, |arguments| Access::Edit(arguments.path))
    }

    fn run<'a>(
        &'a self,
        call: &'a ToolCall,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, ToolOutput> {
        Box::pin(async move { run(call, context).await.unwrap_or_else(ToolOutput::from) })
    }
}

fn parse<'a>(input: &'a Value, context: &ToolContext) -> Result<Arguments<'a>, Refusal> {
    let input = Input::of("Edit", input)?;
    let arguments = Arguments {
        path: context.absolute(input.filled_text("file_path")?),
        old: input.text("old_string")?,
        new: input.text("new_string")?,
        everywhere: input.flag("replace_all")?,
    };
    if arguments.old == arguments.new {
        return Err(Refusal::new(
            "old_string and new_string are the same, so there is nothing to change",
        ));
    }
    Ok(arguments)
}

async fn run(call: &ToolCall, context: &ToolContext) -> Result<ToolOutput, Refusal> {
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
    let text = std::str::from_utf8(&read.bytes).map_err(|_| not_utf8(path))?;
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
        counted(change.count, "occurrence"),
        if change.count == 1 { "The place" } else { "The first place" },
        snippet(&change, context.limits.read_line_chars),
    );
    Ok(ToolOutput::text(origin, note).with_structured(structured(&arguments, body, &change.text)))
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

fn replace(arguments: &Arguments<'_>, body: &str) -> Result<Change, Refusal> {
    let path = arguments.path.display();
    if arguments.old.is_empty() && !body.is_empty() {
        return Err(Refusal::new(format!(
            "old_string is empty but {path} has content; give the text to replace, \
             or use Write to replace the whole file"
        )));
    }
    let (old, new) = endings(body, arguments.old, arguments.new);
    let Some(at) = body.find(old.as_ref()) else {
        let hint = hint::not_found(body, arguments.old);
        return Err(Refusal::new(format!("old_string is not in {path}; {hint}")));
    };
    let count_found = body.matches(old.as_ref()).count();
    // Looking from both ends also finds occurrences that overlap.
    if !arguments.everywhere && body.rfind(old.as_ref()) != Some(at) {
        return Err(Refusal::new(format!(
            "old_string occurs {} times in {path}; take more lines around the one you mean, \
             or set replace_all to change them all",
            count_found.max(2)
        )));
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

fn not_utf8(path: &Path) -> Refusal {
    Refusal::new(format!(
        "{} is not UTF-8, and editing it as text would damage it; use Bash with a program \
         such as iconv or sed",
        path.display()
    ))
}
