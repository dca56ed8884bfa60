//! Grep: lines by a regular expression.

use everfold_kernel::ports::{BoxFuture, GrepFound, GrepMode, GrepQuery};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::input::Input;
use crate::lines::{counted, cut};
use crate::{Access, Refusal, Tool, ToolCall, ToolContext, ToolOutput, ToolSpec};

/// Searches in files.
pub(crate) struct Grep;

impl Tool for Grep {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "Grep".into(),
            description: "Searches files for a regular expression (Rust regex syntax: a \
                brace, bracket or dot that is meant as such needs a backslash). Gives the paths of files with a \
                match, or the matching lines (output_mode content), or counts. Narrow it with \
                path, glob or type. Files that the project ignores are left out, as are \
                binaries. Patterns match within a line. Use this rather than grep or rg in \
                Bash.".into(),
            input_schema: json!({
                "type": "object",
                "properties": {
                    "pattern": { "type": "string", "description": "The regular expression" },
                    "path": {
                        "type": "string",
                        "description": "A file or directory (default: the working directory)"
                    },
                    "glob": {
                        "type": "string",
                        "description": "Only files whose path matches, such as *.{ts,tsx}"
                    },
                    "type": {
                        "type": "string",
                        "description": "Only files of this type, such as rust, py, js"
                    },
                    "output_mode": {
                        "type": "string",
                        "enum": ["content", "files_with_matches", "count"],
                        "description": "What to give (default files_with_matches)"
                    },
                    "-i": { "type": "boolean", "description": "Ignore case" },
                    "-n": {
                        "type": "boolean",
                        "description": "Line numbers; content always has them"
                    },
                    "-A": { "type": "integer", "minimum": 0, "description": "Lines after a match" },
                    "-B": { "type": "integer", "minimum": 0, "description": "Lines before a match" },
                    "-C": { "type": "integer", "minimum": 0, "description": "Lines around a match" },
                    "head_limit": {
                        "type": "integer",
                        "minimum": 1,
                        "description": "Most lines or paths to give"
                    }
                },
                "required": ["pattern"],
                "additionalProperties": false
            }),
        }
    }

    fn access(&self, input: &Value, context: &ToolContext) -> Access {
        parse(input, context).map_or(Access::Nothing, |query| Access::Read(query.root))
    }

    fn run<'a>(
        &'a self,
        call: &'a ToolCall,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, ToolOutput> {
        Box::pin(async move { run(call, context).await.unwrap_or_else(ToolOutput::from) })
    }
}

fn parse(input: &Value, context: &ToolContext) -> Result<GrepQuery, Refusal> {
    let input = Input::of("Grep", input)?;
    let pattern = input.text("pattern")?;
    if pattern.is_empty() {
        return Err(Refusal::new("Grep needs \"pattern\" (a string), and it is empty"));
    }
    let size = |name| -> Result<Option<usize>, Refusal> {
        let number = input.number(name)?;
        Ok(number.map(|number| usize::try_from(number).unwrap_or(usize::MAX)))
    };
    let filter = |name| -> Result<Option<String>, Refusal> {
        let text = input.optional_text(name)?.map(str::trim);
        Ok(text.filter(|text| !text.is_empty()).map(str::to_owned))
    };
    input.flag("-n")?;
    let around = size("-C")?.unwrap_or(0);
    let limit = size("head_limit")?.filter(|limit| *limit > 0);
    Ok(GrepQuery {
        pattern: pattern.to_owned(),
        root: context.absolute(input.optional_text("path")?.unwrap_or_default()),
        glob: filter("glob")?,
        file_type: filter("type")?,
        mode: mode(&input)?,
        case_insensitive: input.flag("-i")?,
        before: size("-B")?.unwrap_or(around),
        after: size("-A")?.unwrap_or(around),
        limit: limit.unwrap_or(context.limits.grep_lines),
        max_file_bytes: context.limits.grep_file_bytes,
    })
}

fn mode(input: &Input<'_>) -> Result<GrepMode, Refusal> {
    match input.optional_text("output_mode")? {
        None | Some("" | "files_with_matches") => Ok(GrepMode::Files),
        Some("content") => Ok(GrepMode::Content),
        Some("count") => Ok(GrepMode::Count),
        Some(_) => Err(input.needs(
            "output_mode",
            "content, files_with_matches or count",
            input.field("output_mode"),
        )),
    }
}

async fn run(call: &ToolCall, context: &ToolContext) -> Result<ToolOutput, Refusal> {
    let query = parse(&call.input, context)?;
    let found = context.world.search.grep(query.clone()).await;
    let found = found.map_err(|error| Refusal::new(error.to_string()))?;
    let max_chars = context.limits.read_line_chars;
    let lines: Vec<String> = found.lines.iter().map(|line| shorten(line, max_chars)).collect();
    let mut text = if lines.is_empty() { nothing(&query) } else { lines.join("\n") };
    text.push_str(&notes(&query, &found));
    let origin = context.origin_of_all(files(&query, &found)).await;
    Ok(ToolOutput::text(origin, text).with_structured(structured(query.mode, &found, &lines)))
}

/// The files that lines are from. In a line of context the path cannot be
/// told from the text; the line that it belongs to names the file.
fn files(query: &GrepQuery, found: &GrepFound) -> BTreeSet<PathBuf> {
    let path = |line: &String| query.root.join(line.split(':').next().unwrap_or_default());
    found.lines.iter().map(path).collect()
}

fn shorten(line: &str, max_chars: usize) -> String {
    match cut(line, max_chars) {
        (line, 0) => line.to_owned(),
        (start, rest) => format!("{start}… [{rest} more characters]"),
    }
}

fn nothing(query: &GrepQuery) -> String {
    let mut text = format!("No matches for {:?} in {}", query.pattern, query.root.display());
    for (what, filter) in [("files", &query.glob), ("type", &query.file_type)] {
        if let Some(filter) = filter {
            text.extend([", ", what, " ", filter]);
        }
    }
    text + "."
}

fn notes(query: &GrepQuery, found: &GrepFound) -> String {
    let what = match query.mode {
        GrepMode::Content => "line",
        GrepMode::Files | GrepMode::Count => "file",
    };
    let more = found.truncated.then(|| {
        format!(
            "\n\n[There is more than these {}. Narrow the search, or give a higher head_limit.]",
            counted(found.lines.len(), what)
        )
    });
    let skipped = (found.skipped > 0).then(|| {
        format!("\n\n[{} passed over: too large or not readable.]", counted(found.skipped, "file"))
    });
    more.unwrap_or_default() + &skipped.unwrap_or_default()
}

fn structured(mode: GrepMode, found: &GrepFound, lines: &[String]) -> Value {
    match mode {
        GrepMode::Files => json!({
            "mode": "files_with_matches",
            "numFiles": found.files,
            "filenames": lines,
        }),
        GrepMode::Content => json!({
            "mode": "content",
            "numFiles": found.files,
            "filenames": [],
            "content": lines.join("\n"),
            "numLines": lines.len(),
        }),
        GrepMode::Count => json!({
            "mode": "count",
            "numFiles": found.files,
            "filenames": [],
            "content": lines.join("\n"),
        }),
    }
}
