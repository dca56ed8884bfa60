//! A struct that many features reach into is none of theirs: fields and
//! methods have a limit, over all `impl` blocks of a crate.

use super::Finding;
use crate::rust_code::{Source, line_at, product_sources, until_closed};
use crate::tree::Tree;
use anyhow::Result;
use regex::Regex;

/// The source roots for which this holds: `engine/src`, when its session is
/// log, projections and runtime.
pub(super) const FOLDERS: &[&str] = &["engine/src"];

/// Most fields of a struct.
const FIELDS: usize = 12;
/// Most methods of a struct, those of traits among them.
const METHODS: usize = 30;

/// One struct, and what was counted.
struct Struct<'a> {
    name: String,
    path: &'a str,
    line: usize,
    fields: usize,
    methods: usize,
}

/// Looks at every struct under the roots.
pub(super) fn check(tree: &Tree, roots: &[&str]) -> Result<Vec<Finding>> {
    let sources = product_sources(tree)?;
    let patterns = Patterns::new()?;
    let mut findings = Vec::new();
    for root in roots {
        let inside = |source: &&Source<'_>| {
            source.path.strip_prefix(root).is_some_and(|rest| rest.starts_with('/'))
        };
        let files: Vec<&Source<'_>> = sources.iter().filter(inside).collect();
        let mut structs: Vec<Struct<'_>> =
            files.iter().flat_map(|source| patterns.structs(source)).collect();
        for source in &files {
            patterns.count_methods(source, &mut structs);
        }
        findings.extend(structs.iter().flat_map(Struct::findings));
    }
    Ok(findings)
}

impl Struct<'_> {
    fn findings(&self) -> Vec<Finding> {
        let counted = [(self.fields, FIELDS, "fields"), (self.methods, METHODS, "methods")];
        counted
            .into_iter()
            .filter(|(count, most, _)| count > most)
            .map(|(count, most, what)| {
                let message = format!(
                    "`{}` has {count} {what}, at most {most}; give a feature what is its own",
                    self.name
                );
                Finding::new(self.path, self.line, message)
            })
            .collect()
    }

    /// How near a file is: the folders and the name that it shares.
    fn nearness(&self, path: &str) -> usize {
        let stem = |path: &str| path.trim_end_matches(".rs").to_owned();
        let (own, other) = (stem(self.path), stem(path));
        own.split('/').zip(other.split('/')).take_while(|(one, two)| one == two).count()
    }
}

struct Patterns {
    /// The head of a struct with named fields.
    head: Regex,
    /// The head of an `impl` block, with what it is for.
    block: Regex,
    field: Regex,
    method: Regex,
}

impl Patterns {
    fn new() -> Result<Self> {
        Ok(Self {
            head: Regex::new(r"\bstruct (\w+)[^;{(]*\{")?,
            block: Regex::new(
                r"(?m)^\s*(?:unsafe )?impl\b(?:<[^{]*?>)?\s+(?:[^{;]*?\bfor\s+)?(?:\w+::)*(\w+)[^{;]*\{",
            )?,
            field: Regex::new(r"(?m)^\s*(?:pub(?:\([^)]*\))?\s+)?\w+\s*:[^:]")?,
            method: Regex::new(r"\bfn\s+\w+")?,
        })
    }

    fn structs<'a>(&self, source: &'a Source<'_>) -> Vec<Struct<'a>> {
        let one = |found: regex::Captures<'_>| {
            let (whole, name) = (found.get(0)?, found.get(1)?);
            let body = until_closed(source.code.split_at_checked(whole.end())?.1);
            Some(Struct {
                name: name.as_str().to_owned(),
                path: source.path,
                line: line_at(&source.code, name.start()),
                fields: self.field.find_iter(body).count(),
                methods: 0,
            })
        };
        self.head.captures_iter(&source.code).filter_map(one).collect()
    }

    /// Adds the methods of a file to the structs that they are of. Where two
    /// have a name, the nearest is meant.
    fn count_methods(&self, source: &Source<'_>, structs: &mut [Struct<'_>]) {
        for found in self.block.captures_iter(&source.code) {
            let (Some(whole), Some(name)) = (found.get(0), found.get(1)) else { continue };
            let rest = source.code.split_at_checked(whole.end()).map_or("", |(_, rest)| rest);
            let methods = self.method.find_iter(&outermost(until_closed(rest))).count();
            let owner = structs
                .iter_mut()
                .filter(|one| one.name == name.as_str())
                .max_by_key(|one| one.nearness(source.path));
            if let Some(owner) = owner {
                owner.methods += methods;
            }
        }
    }
}

/// The code of a block without what stands in braces inside of it.
fn outermost(block: &str) -> String {
    let mut depth = 0_usize;
    block
        .chars()
        .filter(|letter| {
            match letter {
                '{' => depth += 1,
                '}' => depth = depth.saturating_sub(1),
                _ => {}
            }
            depth == 0
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::sample;

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let (_folder, tree) = sample(files);
        check(&tree, &["engine/src"]).unwrap().iter().map(ToString::to_string).collect()
    }

    fn fields(name: &str, count: usize) -> String {
        let fields: Vec<String> = (0..count)
            .map(|n| format!("    /// So.\n    pub(crate) f{n}: Map<u8, a::B>,\n"))
            .collect();
        format!("\npub struct {name}<'a, T: Into<u8>> {{\n{}}}\n", fields.concat())
    }

    fn block(head: &str, count: usize) -> String {
        let methods: Vec<String> = (0..count)
            .map(|n| format!("    pub async fn m{n}(&self) {{\n        fn inner() {{}}\n    }}\n"))
            .collect();
        format!("{head} {{\n{}}}\n", methods.concat())
    }

    #[test]
    fn a_struct_within_its_limits_passes() {
        let text = [
            fields("Session", 12),
            block("impl Session<'_, u8>", 20),
            block("impl<'a, T: Into<u8>> fmt::Display for Session<'a, T>", 10),
            block("#[cfg(test)]\nmod tests", 5),
        ]
        .concat();
        let other = fields("Other", 20);
        assert_eq!(
            found(&[("engine/src/session.rs", text.as_str()), ("sdk/src/other.rs", &other)]),
            Vec::<String>::new()
        );
    }

    #[test]
    fn fields_and_methods_are_counted_over_all_files() {
        let text = [fields("Session", 13), block("impl Session<'_, u8>", 20)].concat();
        let more = block("impl<T> crate::session::Session<'_, T>", 11);
        let found =
            found(&[("engine/src/session.rs", text.as_str()), ("engine/src/turn.rs", &more)]);
        assert_eq!(
            found,
            [
                "engine/src/session.rs:2: `Session` has 13 fields, at most 12; give a feature what is its own",
                "engine/src/session.rs:2: `Session` has 31 methods, at most 30; give a feature what is its own",
            ]
        );
    }

    #[test]
    fn methods_go_to_the_nearest_struct_of_a_name() {
        let far = [fields("State", 1), block("impl State<'_, u8>", 30)].concat();
        let near = [fields("State", 1), block("impl State<'_, u8>", 5)].concat();
        let files = [("engine/src/a/x.rs", far.as_str()), ("engine/src/b/x.rs", near.as_str())];
        assert_eq!(found(&files), Vec::<String>::new());
    }
}
