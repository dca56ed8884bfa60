//! Glob: files by the pattern of their path.
//!
//! A pattern cannot lead out of the directory that the call names, because
//! that directory is what permission is decided by: an absolute pattern moves
//! it, `..` is refused.

use crate::built_in::BuiltIn;
use everfold_kernel::phrase::counted;
use everfold_kernel::ports::GlobQuery;
use everfold_kernel::provenance::Source;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::{Component, Path, PathBuf};

use crate::input::{self, Filled};
use crate::lines::left_out;
use crate::search_error::SearchToolError;
use crate::{Access, ToolCall, ToolContext, ToolOutput};

const NAME: &str = "Glob";

/// Finds files.
pub(crate) struct Glob;

#[derive(Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct Input<'a> {
    /// The pattern; * stays within a directory, ** does not
    #[serde(borrow)]
    pattern: Filled<'a>,
    /// The directory to look in (default: the working directory)
    path: Option<&'a str>,
}

impl BuiltIn for Glob {
    const NAME: &'static str = NAME;
    const ABOUT: &'static str = "\
         Finds files by a pattern of their path, such as **/*.rs or src/*/mod.ts; the newest \
         come first. Files that the project ignores are left out. Use it to find files by name; \
         to find them by content use Grep.";
    type Input = Input<'static>;
    type Error = SearchToolError;

    fn access(input: &Value, context: &ToolContext) -> Access {
        parse(input, context).map_or(Access::Nothing, |query| Access::Read(query.root))
    }

    async fn run(call: &ToolCall, context: &ToolContext) -> Result<ToolOutput, SearchToolError> {
        let query = parse(&call.input, context)?;
        let (pattern, root) = (query.pattern.clone(), query.root.clone());
        let started = context.world.clock.now();
        let found = context.world.search.glob(query).await?;
        let duration = context.world.clock.now().duration_since(started);
        let names: Vec<String> =
            found.paths.iter().map(|path| path.display().to_string()).collect();
        let truncated = found.total > names.len();
        let mut text = if names.is_empty() {
            format!("No files match {pattern} in {}.", root.display())
        } else if truncated {
            format!(
                "{}\n\n[{} of {}. Narrow the pattern to see the others.]",
                names.join("\n"),
                names.len(),
                counted(found.total as u64, "file"),
            )
        } else {
            names.join("\n")
        };
        text.push_str(&left_out(found.barred));
        Ok(ToolOutput::text(Source::Repository, text).with_structured(json!({
            "numFiles": names.len(),
            "filenames": names,
            "truncated": truncated,
            "durationMs": u64::try_from(duration.as_millis()).unwrap_or(0),
        })))
    }
}

fn parse(input: &Value, context: &ToolContext) -> Result<GlobQuery, SearchToolError> {
    let Input { pattern, path } = input::read(NAME, input)?;
    let (root, pattern) = split(context.absolute(path.unwrap_or_default()), pattern.trim());
    if Path::new(&pattern).components().any(|part| part == Component::ParentDir) {
        return Err(SearchToolError::LeadsOut);
    }
    Ok(GlobQuery { pattern, root, limit: context.limits.glob_paths, guard: context.guard() })
}

/// The directory and the rest of a pattern; an absolute pattern brings its own
/// directory, as far as it has no wildcards.
fn split(root: PathBuf, pattern: &str) -> (PathBuf, String) {
    let path = Path::new(pattern);
    if !path.is_absolute() {
        return (root, pattern.trim_start_matches("./").to_owned());
    }
    let is_plain =
        |part: &Component<'_>| !part.as_os_str().to_string_lossy().contains(['*', '?', '[', '{']);
    // The last part is what is looked for, even where it is a plain name.
    let parents = path.components().count().saturating_sub(1);
    let base: PathBuf = path.components().take(parents).take_while(is_plain).collect();
    let rest = path.strip_prefix(&base).unwrap_or(path);
    let rest = rest.to_string_lossy().into_owned();
    (base, rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn q5_an_absolute_pattern_brings_its_own_directory() {
        let split = |pattern| split(PathBuf::from("/here"), pattern);
        assert_eq!(split("./**/*.rs"), ("/here".into(), "**/*.rs".into()));
        assert_eq!(split("/a/b/**/*.rs"), ("/a/b".into(), "**/*.rs".into()));
        assert_eq!(split("/a/b/c.rs"), ("/a/b".into(), "c.rs".into()));
        assert_eq!(split("/{a,b}/c"), ("/".into(), "{a,b}/c".into()));
    }
}
