//! Read: a page of a text file with line numbers, a picture, a PDF.
//!
//! The content of a file is given as it is; only line endings, a byte order
//! mark and the far end of overlong lines are left out. A page never exceeds
//! its budget of tokens, and always holds at least one line, so that reading
//! on from page to page comes to the end of any file.

pub mod media;

use crate::built_in::BuiltIn;
use everfold_kernel::ports::{FileError, FileKind, FileStat, LinesRead};
use everfold_kernel::provenance::Source;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

use crate::file_error::FileToolError;
use crate::input::{self, Filled};
use crate::lines::{push_numbered, without_ending};
use crate::near::missing;
use crate::{Access, ToolCall, ToolContext, ToolOutput};

const NAME: &str = "Read";

/// Bytes that the number of a line and its ends take at least.
const LINE_BYTES: u64 = 8;

/// Reads a file.
pub struct Read;

#[derive(Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct Input<'a> {
    /// The file, absolute or relative to the working directory
    #[serde(borrow)]
    file_path: Filled<'a>,
    /// The first line, counted from 1
    #[schemars(range(min = 1))]
    offset: Option<u64>,
    /// How many lines
    #[schemars(range(min = 1))]
    limit: Option<u64>,
}

struct Arguments {
    path: PathBuf,
    offset: Option<u64>,
    limit: Option<u64>,
}

impl BuiltIn for Read {
    const NAME: &'static str = NAME;
    const ABOUT: &'static str = "\
         Reads a file, with line numbers (number, tab, line), a long one in pages: the note at \
         the end tells the next offset. Very long lines are cut. Pictures and PDFs are shown as \
         such. A file must be read before Edit changes it or Write replaces it.";
    type Input = Input<'static>;
    type Error = FileToolError;

    fn access(input: &Value, context: &ToolContext) -> Access {
        parse(input, context).map_or(Access::Nothing, |arguments| Access::Read(arguments.path))
    }

    async fn run(call: &ToolCall, context: &ToolContext) -> Result<ToolOutput, FileToolError> {
        let arguments = parse(&call.input, context)?;
        let path = &arguments.path;
        let stat = match context.world.files.stat(path).await {
            Ok(stat) => stat,
            Err(FileError::NotFound { .. }) => return Err(missing(context, path).await),
            Err(error) => return Err(error.into()),
        };
        check_kind(path, &stat)?;
        let resolved = context.world.files.resolve(path).await;
        if stat.bytes == 0 {
            return empty(context, path, resolved).await;
        }
        if media::by_name(path)
            && let Some(output) = media::read(context, path, &resolved, &stat).await?
        {
            return Ok(output);
        }
        page(context, &arguments, resolved, &stat).await
    }
}

fn parse(input: &Value, context: &ToolContext) -> Result<Arguments, FileToolError> {
    let Input { file_path, offset, limit } = input::read(NAME, input)?;
    let limit = limit.filter(|limit| *limit > 0);
    Ok(Arguments { path: context.absolute(&file_path), offset, limit })
}

fn check_kind(path: &Path, stat: &FileStat) -> Result<(), FileToolError> {
    let path = path.to_owned();
    match stat.kind {
        FileKind::File => Ok(()),
        FileKind::Directory => Err(FileToolError::Directory { path }),
        FileKind::Special => Err(FileToolError::Endless { path }),
    }
}

async fn empty(
    context: &ToolContext,
    path: &Path,
    resolved: PathBuf,
) -> Result<ToolOutput, FileToolError> {
    let max = context.limits.read_file_bytes;
    let read = context.world.files.read(&resolved, max).await;
    context.saw(resolved, read?.version);
    let text = format!("{} exists and is empty.", path.display());
    Ok(ToolOutput::text(Source::Repository, text).with_structured(structured(path, "", 0, 1, 0)))
}

async fn page(
    context: &ToolContext,
    arguments: &Arguments,
    resolved: PathBuf,
    stat: &FileStat,
) -> Result<ToolOutput, FileToolError> {
    let (path, limits) = (&arguments.path, &context.limits);
    let budget = limits.read_result_tokens.saturating_mul(limits.bytes_per_token_text);
    let asked_part = arguments.offset.is_some() || arguments.limit.is_some();
    if stat.bytes > limits.read_file_bytes && !asked_part {
        return Err(FileToolError::TooLarge { path: path.clone(), bytes: stat.bytes });
    }
    // No file has more lines than this, and sums of it do not overflow.
    let first = arguments.offset.unwrap_or(1).clamp(1, u64::from(u32::MAX));
    let fitting = budget.div_euclid(LINE_BYTES).saturating_add(1);
    let count = arguments.limit.unwrap_or(limits.read_lines).min(fitting);
    let read = context
        .world
        .files
        .read_lines(&resolved, first, count, limits.read_file_bytes)
        .await
        .map_err(|error| match error {
            FileError::TooLarge { bytes, .. } => {
                FileToolError::TooLarge { path: path.clone(), bytes }
            }
            error => error.into(),
        })?;
    if read.binary {
        return Err(FileToolError::Binary { path: path.clone(), bytes: stat.bytes });
    }
    if read.lines == 0 {
        let (path, lines) = (path.clone(), read.total_lines);
        return Err(FileToolError::PastEnd { path, lines, offset: first });
    }
    let origin = context.origin(&resolved).await;
    context.saw(resolved, read.version.clone());
    Ok(render(context, path, first, &read, budget).by(origin))
}

fn render(
    context: &ToolContext,
    path: &Path,
    first: u64,
    read: &LinesRead,
    budget: u64,
) -> ToolOutput {
    let text = String::from_utf8_lossy(&read.bytes);
    // The mark is at the start of a file only.
    let text = if first == 1 { text.strip_prefix('\u{feff}').unwrap_or(&text) } else { &text };
    // A file of nothing but the mark still has one line.
    let text = if text.is_empty() { "\n" } else { text };
    let (mut numbered, mut plain) = (String::new(), String::new());
    let mut next = first;
    for line in text.split_inclusive('\n').map(without_ending) {
        let before = numbered.len();
        push_numbered(&mut numbered, next, line, context.limits.read_line_chars);
        if next > first && u64::try_from(numbered.len()).unwrap_or(u64::MAX) > budget {
            numbered.truncate(before);
            break;
        }
        if next > first {
            plain.push('\n');
        }
        plain.push_str(line);
        next = next.saturating_add(1);
    }
    let note = if next <= read.total_lines {
        format!(
            "\n\n[Lines {first} to {} of {}. Read on with offset {next}.]",
            next.saturating_sub(1),
            read.total_lines,
        )
    } else {
        String::new()
    };
    let shown = next.saturating_sub(first);
    ToolOutput::text(Source::Repository, numbered + &note).with_structured(structured(
        path,
        &plain,
        shown,
        first,
        read.total_lines,
    ))
}

fn structured(path: &Path, content: &str, lines: u64, first: u64, total: u64) -> Value {
    json!({"type": "text", "file": {
        "filePath": path.display().to_string(),
        "content": content,
        "numLines": lines,
        "startLine": first,
        "totalLines": total,
    }})
}
