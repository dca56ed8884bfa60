//! Files by the shape of their path.

use crate::tree::{Found, Guarded, Stop, existing, files};
use everfold_kernel::ports::{GlobFound, GlobQuery, SearchError};
use globset::{GlobBuilder, GlobMatcher};
use std::cmp::Reverse;
use std::path::{Path, PathBuf};

/// Finds files, newest first, and by path where they are as old.
pub(crate) fn find(query: &GlobQuery, stop: &Stop) -> Result<GlobFound, SearchError> {
    let (root, pattern) = anchored(&query.root, &query.pattern);
    let matcher = compiled(&query.pattern, &pattern)?;
    let root = existing(&root)?;
    let guarded = Guarded::new(&query.guard, &root);
    let (mut found, mut barred) = (Vec::new(), 0);
    for step in files(&root, stop) {
        let Found::File(entry) = step else { continue };
        let inside = entry.path().strip_prefix(&root);
        if !inside.is_ok_and(|inside| matcher.is_match(inside)) {
            continue;
        }
        if guarded.bars(entry.path()) {
            barred += 1;
            continue;
        }
        let modified = entry.metadata().ok().and_then(|about| about.modified().ok());
        found.push((Reverse(modified), entry.into_path()));
    }
    found.sort();
    let total = found.len();
    let paths = found.into_iter().map(|(_, path)| path).take(query.limit);
    Ok(GlobFound { paths: paths.collect(), total, barred })
}

fn compiled(given: &str, pattern: &str) -> Result<GlobMatcher, SearchError> {
    GlobBuilder::new(pattern)
        .literal_separator(true)
        .build()
        .map(|glob| glob.compile_matcher())
        .map_err(|error| SearchError::Pattern {
            pattern: given.to_owned(),
            message: error.kind().to_string(),
        })
}

/// Where to look, and the pattern from there. An absolute pattern brings its
/// own root, as far as its parts are plain names, and `../x` goes up.
fn anchored(root: &Path, pattern: &str) -> (PathBuf, String) {
    let mut at = root.to_path_buf();
    if Path::new(pattern).has_root() {
        at = PathBuf::from("/");
    }
    let mut parts: Vec<&str> = pattern.split('/').collect();
    let last = parts.pop().unwrap_or_default();
    let mut rest = Vec::new();
    for part in parts {
        match part {
            "" | "." if rest.is_empty() => {}
            ".." if rest.is_empty() => {
                at.pop();
            }
            // Below a given root even plain names stay in the pattern: what
            // the ignore files hide is hidden only where the walk meets it.
            part if rest.is_empty() && Path::new(pattern).has_root() && is_plain(part) => {
                at.push(part);
            }
            part => rest.push(part),
        }
    }
    rest.push(last);
    (at, rest.join("/"))
}

fn is_plain(part: &str) -> bool {
    !part.contains(['*', '?', '[', ']', '{', '}', '\\', '!'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn q5_patterns_find_their_root() {
        let at = |pattern: &str| anchored(Path::new("/r/s"), pattern);
        let is = |root: &str, pattern: &str| (PathBuf::from(root), pattern.to_owned());
        assert_eq!(at("*.rs"), is("/r/s", "*.rs"));
        assert_eq!(at("src/**/*.rs"), is("/r/s", "src/**/*.rs"));
        assert_eq!(at("./a"), is("/r/s", "a"));
        assert_eq!(at("../t/*"), is("/r", "t/*"));
        assert_eq!(at("/x/y/*.rs"), is("/x/y", "*.rs"));
        assert_eq!(at("/x/{a,b}/c"), is("/x", "{a,b}/c"));
        assert_eq!(at("/*"), is("/", "*"));
    }
}
