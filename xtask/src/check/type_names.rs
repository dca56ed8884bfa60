//! A public type has its name alone, so that a reader need not open the import
//! to know which one is meant.

use super::Finding;
use crate::exceptions::{ENGINE_TODO, SharedName, is_engine};
use crate::rust_code::{Source, line_at, product_sources};
use crate::tree::Tree;
use anyhow::Result;
use regex::Regex;
use std::collections::BTreeMap;

/// Where a type is defined.
type Places<'a> = Vec<(&'a str, usize)>;

/// Looks at every definition of a public type.
pub(super) fn check(tree: &Tree, shared: &[SharedName]) -> Result<Vec<Finding>> {
    let sources = product_sources(tree)?;
    let defined = definitions(&sources)?;
    let mut findings = Vec::new();
    for (name, places) in defined.iter().filter(|(_, places)| places.len() > 1) {
        let in_engine = places.iter().any(|(path, _)| is_engine(path));
        let is_later = in_engine && ENGINE_TODO.types.contains(&name.as_str());
        if is_later || shared.iter().any(|one| one.name == name) {
            continue;
        }
        findings.extend(places.iter().map(|(path, line)| {
            let others: Vec<&str> =
                places.iter().map(|(other, _)| *other).filter(|other| other != path).collect();
            let others = if others.is_empty() { "this file".to_owned() } else { others.join(", ") };
            let message =
                format!("`{name}` is also in {others}; give it a name that tells it apart");
            Finding::new(path, *line, message)
        }));
    }
    Ok(findings)
}

fn definitions<'a>(sources: &'a [Source<'_>]) -> Result<BTreeMap<String, Places<'a>>> {
    let pattern = Regex::new(r"(?m)^\s*pub (?:unsafe )?(?:struct|enum|trait|type|union) (\w+)")?;
    let mut defined: BTreeMap<String, Places<'a>> = BTreeMap::new();
    for source in sources {
        for name in pattern.captures_iter(&source.code).filter_map(|found| found.get(1)) {
            let place = (source.path, line_at(&source.code, name.start()));
            defined.entry(name.as_str().to_owned()).or_default().push(place);
        }
    }
    Ok(defined)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::sample;

    fn found(files: &[(&str, &str)], shared: &[SharedName]) -> Vec<String> {
        let (_folder, tree) = sample(files);
        check(&tree, shared).unwrap().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_name_that_is_there_twice_is_found_in_both_places() {
        let files = [
            ("core/a/src/x.rs", "\npub struct Place;\n"),
            ("core/b/src/y.rs", "pub enum Place {\n    Here,\n}\n"),
        ];
        let found = found(&files, &[]);
        assert_eq!(found.len(), 2, "{found:#?}");
        assert!(found[0].starts_with("core/a/src/x.rs:2: `Place` is also in core/b/src/y.rs"));
        assert!(found[1].starts_with("core/b/src/y.rs:1: "));
    }

    #[test]
    fn private_types_tests_and_comments_do_not_count() {
        let files = [
            ("core/a/src/x.rs", "pub struct Place;\n"),
            ("core/a/src/y.rs", "pub(crate) struct Place;\n// pub struct Place;\n"),
            ("core/a/src/z.rs", "#[cfg(test)]\nmod tests {\n    pub struct Place;\n}\n"),
            ("core/a/tests/it/main.rs", "pub struct Place;\n"),
            ("core/b/src/w.rs", "trait T {\n    type Place;\n}\n"),
        ];
        assert_eq!(found(&files, &[]), Vec::<String>::new());
    }

    #[test]
    fn a_shape_may_repeat_its_names() {
        let shared = [SharedName { name: "Error", reason: "one for each crate" }];
        let files = [
            ("core/a/src/x.rs", "pub enum Error {}\n"),
            ("core/b/src/x.rs", "pub enum Error {}\n"),
        ];
        assert_eq!(found(&files, &shared), Vec::<String>::new());
        assert_eq!(found(&files, &[]).len(), 2);
    }
}
