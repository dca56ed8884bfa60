//! Write: a whole file.
//!
//! A new file can be written at any time. An existing one only by who has seen
//! its current content: otherwise somebody's work would be lost unseen.

use crate::built_in::BuiltIn;
use everfold_kernel::phrase::counted;
use everfold_kernel::ports::{Expect, FileError, FileKind, FileRead};
use everfold_kernel::provenance::Source;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

use crate::file_error::FileToolError;
use crate::input::{self, Filled};
use crate::lines::count;
use crate::patch::{original, structured_patch};
use crate::{Access, ToolCall, ToolContext, ToolOutput};

const NAME: &str = "Write";

/// Writes a file.
pub(crate) struct Write;

#[derive(Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct Input<'a> {
    /// The file, absolute or relative to the working directory
    #[serde(borrow)]
    file_path: Filled<'a>,
    /// The whole content of the file
    content: &'a str,
}

impl BuiltIn for Write {
    const NAME: &'static str = NAME;
    const ABOUT: &'static str = "\
         Writes a whole file, with directories as needed. A new file can be written at once. An \
         existing file is replaced, and only if its current content was read before; to change \
         a part of a file use Edit. The file is written whole or not at all.";
    type Input = Input<'static>;
    type Error = FileToolError;

    fn access(input: &Value, context: &ToolContext) -> Access {
        parse(input, context).map_or(Access::Nothing, |(path, _)| Access::Edit(path))
    }

    async fn run(call: &ToolCall, context: &ToolContext) -> Result<ToolOutput, FileToolError> {
        let (path, new) = parse(&call.input, context)?;
        let resolved = context.world.files.resolve(&path).await;
        let Some(old) = current(context, &path, &resolved).await? else {
            return create(context, &path, resolved, new).await;
        };
        save(context, &path, resolved, new.as_bytes(), Some(&old)).await?;
        let old = String::from_utf8_lossy(&old.bytes);
        let text = format!(
            "Updated {}: {} before, {} now.",
            path.display(),
            counted(count(&old) as u64, "line"),
            counted(count(new) as u64, "line"),
        );
        Ok(ToolOutput::text(Source::Repository, text).with_structured(json!({
            "type": "update",
            "filePath": path.display().to_string(),
            "content": new,
            "originalFile": original(&old),
            "structuredPatch": structured_patch(&old, new),
        })))
    }
}

fn parse<'a>(input: &'a Value, context: &ToolContext) -> Result<(PathBuf, &'a str), FileToolError> {
    let Input { file_path, content } = input::read(NAME, input)?;
    Ok((context.absolute(&file_path), content))
}

/// Makes a file that is not there yet.
pub(crate) async fn create(
    context: &ToolContext,
    path: &Path,
    resolved: PathBuf,
    new: &str,
) -> Result<ToolOutput, FileToolError> {
    save(context, path, resolved, new.as_bytes(), None).await?;
    let lines = counted(count(new) as u64, "line");
    let text = format!("Created {} with {lines}.", path.display());
    Ok(ToolOutput::text(Source::Repository, text).with_structured(json!({
        "type": "create",
        "filePath": path.display().to_string(),
        "content": new,
        "originalFile": null,
        "structuredPatch": [],
    })))
}

/// The file as it is now, if the model has seen it so; none where there is no
/// file.
pub(crate) async fn current(
    context: &ToolContext,
    path: &Path,
    resolved: &Path,
) -> Result<Option<FileRead>, FileToolError> {
    let stat = match context.world.files.stat(resolved).await {
        Ok(stat) => stat,
        Err(FileError::NotFound { .. }) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    if stat.kind != FileKind::File {
        let kind = match stat.kind {
            FileKind::Directory => "a directory",
            _ => "a device, pipe or socket",
        };
        return Err(FileToolError::NoFile { path: path.to_owned(), kind });
    }
    let max = context.limits.read_file_bytes;
    let read = context.world.files.read(resolved, max).await;
    let read = read.map_err(|error| match error {
        FileError::TooLarge { bytes, max, .. } => {
            FileToolError::TooLargeToChange { path: path.to_owned(), bytes, max }
        }
        error => error.into(),
    })?;
    match context.seen(resolved) {
        Some(version) if version == read.version => Ok(Some(read)),
        Some(_) => Err(FileToolError::Changed { path: path.to_owned() }),
        None => Err(FileToolError::Unread { path: path.to_owned() }),
    }
}

/// Writes bytes over what is there, and remembers what it was and what the
/// model now knows.
pub(crate) async fn save(
    context: &ToolContext,
    path: &Path,
    resolved: PathBuf,
    bytes: &[u8],
    old: Option<&FileRead>,
) -> Result<(), FileToolError> {
    if let Some(history) = &context.history {
        history.keep(&resolved, old, Some(bytes)).await;
    }
    let expect = old.map_or(Expect::Absent, |old| Expect::Version(old.version.clone()));
    let written = context.world.files.write(&resolved, bytes, expect).await;
    let version = written.map_err(|error| match error {
        FileError::Changed { .. } => FileToolError::Changed { path: path.to_owned() },
        error => FileToolError::NotWritten(error),
    })?;
    context.saw(resolved, version);
    Ok(())
}
