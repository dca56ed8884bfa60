//! What to say when a file is not there: where it may be instead.
//!
//! Only directories of the session are looked into; a guess must neither walk
//! the whole disk nor tell the names of files elsewhere.

use everfold_kernel::ports::GlobQuery;
use std::path::Path;

use crate::ToolContext;
use crate::file_error::FileToolError;

/// Most names that are offered.
const SUGGESTIONS: usize = 3;

/// How alike two names must be, from 0 to 1.
const ALIKE: f32 = 0.7;

/// The error for a file that does not exist, with names that are near.
pub(crate) async fn missing(context: &ToolContext, path: &Path) -> FileToolError {
    let mut near = same_directory(context, path).await;
    if near.is_empty() {
        near = same_name(context, path).await;
    }
    let path = path.to_owned();
    if near.is_empty() {
        FileToolError::NowhereNear { path, cwd: context.cwd() }
    } else {
        FileToolError::Missing { path, near }
    }
}

/// Names in the same directory that look like this one.
async fn same_directory(context: &ToolContext, path: &Path) -> Vec<String> {
    let (Some(parent), Some(name)) = (path.parent(), file_name(path)) else {
        return Vec::new();
    };
    let found = find(context, parent, "*".to_owned(), context.limits.glob_paths).await;
    let wanted = name.to_lowercase();
    let names: Vec<(String, &String)> = found
        .iter()
        .filter_map(|path| Some((file_name(Path::new(path))?.to_lowercase(), path)))
        .collect();
    let keys: Vec<&str> = names.iter().map(|(key, _)| key.as_str()).collect();
    let close = similar::get_close_matches(wanted.as_str(), &keys, SUGGESTIONS, ALIKE);
    close
        .iter()
        .filter_map(|key| names.iter().find(|(name, _)| name == key))
        .map(|(_, path)| (*path).clone())
        .collect()
}

/// Files of the same name anywhere below the working directory.
async fn same_name(context: &ToolContext, path: &Path) -> Vec<String> {
    match file_name(path) {
        Some(name) if !name.contains(['*', '?', '[', ']', '{', '}', '\\']) => {
            find(context, &context.cwd(), format!("**/{name}"), SUGGESTIONS).await
        }
        _ => Vec::new(),
    }
}

async fn find(context: &ToolContext, root: &Path, pattern: String, limit: usize) -> Vec<String> {
    if !context.roots.iter().any(|allowed| root.starts_with(allowed)) {
        return Vec::new();
    }
    let query = GlobQuery { pattern, root: root.to_owned(), limit, guard: context.guard() };
    // A suggestion that cannot be made is no failure of its own.
    let found = context.world.search.glob(query).await.unwrap_or_default();
    found.paths.iter().map(|path| path.display().to_string()).collect()
}

fn file_name(path: &Path) -> Option<&str> {
    path.file_name()?.to_str()
}
