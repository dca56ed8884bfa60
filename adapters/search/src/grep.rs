//! Lines by a regular expression.

use crate::tree::{Found, Guarded, Stop, existing, files};
use everfold_kernel::ports::{GrepFound, GrepMode, GrepQuery, SearchError};
use grep_matcher::LineTerminator;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder};
use ignore::overrides::{Override, OverrideBuilder};
use ignore::types::{Types, TypesBuilder};
use matches::Matches;
use std::path::Path;

mod matches;

/// Finds lines, in the order of the paths.
pub(crate) fn search(query: &GrepQuery, stop: &Stop) -> Result<GrepFound, SearchError> {
    let mut hunt = Hunt {
        matcher: matcher(query)?,
        searcher: searcher(query),
        query,
        stop,
        found: GrepFound::default(),
    };
    let root = existing(&query.root)?;
    let guarded = Guarded::new(&query.guard, &root);
    if !root.is_dir() && guarded.bars(&root) {
        hunt.found.barred = 1;
        return Ok(hunt.found);
    }
    if !root.is_dir() {
        // What was named is searched, whatever the filters say.
        let bytes = root.metadata().map_or(u64::MAX, |about| about.len());
        hunt.file(&root, bytes);
        return Ok(hunt.found);
    }
    let filter = Filter::new(query, &root)?;
    for step in files(&root, stop) {
        match step {
            Found::File(entry) if filter.admits(entry.path()) && guarded.bars(entry.path()) => {
                hunt.found.barred += 1;
            }
            Found::File(entry) if filter.admits(entry.path()) => {
                let bytes = entry.metadata().map_or(u64::MAX, |about| about.len());
                hunt.file(entry.path(), bytes);
            }
            Found::File(_) => {}
            Found::Unreadable => hunt.found.skipped += 1,
        }
        if hunt.found.truncated {
            break;
        }
    }
    Ok(hunt.found)
}

/// Which files are looked at.
struct Filter {
    glob: Override,
    types: Types,
}

impl Filter {
    fn new(query: &GrepQuery, root: &Path) -> Result<Self, SearchError> {
        let mut glob = OverrideBuilder::new(root);
        let mut types = TypesBuilder::new();
        if let Some(pattern) = &query.glob {
            glob.add(pattern).map_err(|error| bad(pattern, &error))?;
        }
        if let Some(name) = &query.file_type {
            types.add_defaults().select(name);
        }
        Ok(Self {
            glob: glob
                .build()
                .map_err(|error| bad(query.glob.as_deref().unwrap_or_default(), &error))?,
            types: types.build().map_err(|_| SearchError::FileType {
                name: query.file_type.clone().unwrap_or_default(),
            })?,
        })
    }

    fn admits(&self, path: &Path) -> bool {
        !self.glob.matched(path, false).is_ignore() && !self.types.matched(path, false).is_ignore()
    }
}

fn bad(pattern: &str, error: &dyn std::error::Error) -> SearchError {
    SearchError::Pattern { pattern: pattern.to_owned(), message: error.to_string() }
}

fn matcher(query: &GrepQuery) -> Result<RegexMatcher, SearchError> {
    RegexMatcherBuilder::new()
        .case_insensitive(query.case_insensitive)
        .multi_line(true)
        .crlf(true)
        .build(&query.pattern)
        .map_err(|error| bad(&query.pattern, &error))
}

fn searcher(query: &GrepQuery) -> Searcher {
    let (before, after) = match query.mode {
        GrepMode::Content => (query.before, query.after),
        GrepMode::Files | GrepMode::Count => (0, 0),
    };
    SearcherBuilder::new()
        .line_terminator(LineTerminator::crlf())
        .binary_detection(BinaryDetection::quit(0))
        .before_context(before)
        .after_context(after)
        .build()
}

/// A search under way.
struct Hunt<'a> {
    matcher: RegexMatcher,
    searcher: Searcher,
    query: &'a GrepQuery,
    stop: &'a Stop,
    found: GrepFound,
}

impl Hunt<'_> {
    fn file(&mut self, path: &Path, bytes: u64) {
        // A pipe or a device has no end to read to.
        if bytes > self.query.max_file_bytes || !path.is_file() {
            self.found.skipped += 1;
            return;
        }
        // One more than fits tells whether there was more.
        let room = self.query.limit.saturating_sub(self.found.lines.len());
        let mut matches = Matches::new(path, self.query.mode, room.saturating_add(1), self.stop);
        let searched = self.searcher.search_path(&self.matcher, path, &mut matches);
        if searched.is_err() {
            self.found.skipped += 1;
        } else if !matches.binary && matches.count > 0 {
            self.take(path, matches);
        }
    }

    fn take(&mut self, path: &Path, matches: Matches<'_>) {
        let lines = &mut self.found.lines;
        match self.query.mode {
            GrepMode::Content => {
                let groups = self.query.before + self.query.after > 0;
                if groups && !lines.is_empty() {
                    lines.push("--".to_owned());
                }
                lines.extend(matches.lines);
            }
            GrepMode::Files => lines.push(path.display().to_string()),
            GrepMode::Count => lines.push(format!("{}:{}", path.display(), matches.count)),
        }
        self.found.files += 1;
        if lines.len() > self.query.limit {
            lines.truncate(self.query.limit);
            while lines.pop_if(|last| last == "--").is_some() {}
            self.found.truncated = true;
        }
    }
}
