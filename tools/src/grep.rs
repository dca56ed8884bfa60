//! Grep: lines by a regular expression.

use crate::built_in::BuiltIn;
use everfold_kernel::phrase::counted;
use everfold_kernel::ports::{GrepFound, GrepMode, GrepQuery};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::input::{self, InputError};
use crate::lines::{cut, left_out};
use crate::search_error::SearchToolError;
use crate::{Access, ToolCall, ToolContext, ToolOutput};

const NAME: &str = "Grep";

/// Searches in files.
pub(crate) struct Grep;

#[derive(Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct Input<'a> {
    /// The regular expression
    pattern: &'a str,
    /// A file or directory (default: the working directory)
    path: Option<&'a str>,
    /// Only files whose path matches, such as *.{ts,tsx}
    glob: Option<&'a str>,
    /// Only files of this type, such as rust, py, js
    r#type: Option<&'a str>,
    #[schemars(description = "What to give (default files_with_matches)")]
    output_mode: Option<Mode>,
    /// Ignore case
    #[serde(rename = "-i")]
    ignore_case: Option<bool>,
    /// Line numbers; content always has them
    #[serde(rename = "-n")]
    _numbers: Option<bool>,
    /// Lines after a match
    #[serde(rename = "-A")]
    after: Option<u64>,
    /// Lines before a match
    #[serde(rename = "-B")]
    before: Option<u64>,
    /// Lines around a match
    #[serde(rename = "-C")]
    around: Option<u64>,
    /// Most lines or paths to give
    #[schemars(range(min = 1))]
    head_limit: Option<u64>,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Mode {
    Content,
    FilesWithMatches,
    Count,
}

impl BuiltIn for Grep {
    const NAME: &'static str = NAME;
    const ABOUT: &'static str = "\
         Searches files for a regular expression (Rust syntax: a brace, bracket or dot meant as \
         such needs a backslash; it matches within a line). Gives paths of files, matching \
         lines (output_mode content) or counts. Ignored files and binaries are left out. Use \
         this rather than grep in Bash.";
    type Input = Input<'static>;
    type Error = SearchToolError;

    fn access(input: &Value, context: &ToolContext) -> Access {
        parse(input, context).map_or(Access::Nothing, |query| Access::Read(query.root))
    }

    async fn run(call: &ToolCall, context: &ToolContext) -> Result<ToolOutput, SearchToolError> {
        let query = parse(&call.input, context)?;
        let found = context.world.search.grep(query.clone()).await?;
        let max_chars = context.limits.read_line_chars;
        let lines: Vec<String> = found.lines.iter().map(|line| shorten(line, max_chars)).collect();
        let mut text = if lines.is_empty() { nothing(&query) } else { lines.join("\n") };
        text.push_str(&notes(&query, &found));
        let origin = context.origin_of_all(files(&query, &found)).await;
        Ok(ToolOutput::text(origin, text).with_structured(structured(query.mode, &found, &lines)))
    }
}

fn parse(input: &Value, context: &ToolContext) -> Result<GrepQuery, SearchToolError> {
    let input: Input<'_> = input::read(NAME, input)?;
    if input.pattern.is_empty() {
        return Err(InputError::empty(NAME, "pattern").into());
    }
    let size = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    let filter = |text: Option<&str>| {
        let text = text.map(str::trim).filter(|text| !text.is_empty());
        text.map(str::to_owned)
    };
    let limit = input.head_limit.map(size).filter(|limit| *limit > 0);
    Ok(GrepQuery {
        pattern: input.pattern.to_owned(),
        root: context.absolute(input.path.unwrap_or_default()),
        glob: filter(input.glob),
        file_type: filter(input.r#type),
        mode: match input.output_mode {
            Some(Mode::Content) => GrepMode::Content,
            Some(Mode::Count) => GrepMode::Count,
            Some(Mode::FilesWithMatches) | None => GrepMode::Files,
        },
        case_insensitive: input.ignore_case.unwrap_or_default(),
        before: input.before.or(input.around).map_or(0, size),
        after: input.after.or(input.around).map_or(0, size),
        limit: limit.unwrap_or(context.limits.grep_lines),
        max_file_bytes: context.limits.grep_file_bytes,
        guard: context.guard(),
    })
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
            counted(found.lines.len() as u64, what)
        )
    });
    let skipped = (found.skipped > 0).then(|| {
        format!(
            "\n\n[{} passed over: too large or not readable.]",
            counted(found.skipped as u64, "file")
        )
    });
    more.unwrap_or_default() + &skipped.unwrap_or_default() + &left_out(found.barred)
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
