//! From what a person types to a memory: a file name, a slug, or a beginning
//! that only one memory has.

use super::Bench;
use crate::args::memory::Tier;
use crate::failure::{Refusal, Usage};
use anyhow::Result;
use everfold_memory_file::slug::slugify;
use everfold_memory_store::Store;
use everfold_memory_store::store::TopicHead;

/// How many of several that are meant are named.
const NAMED: usize = 5;

/// A memory that was meant.
pub(super) struct Meant {
    pub(super) tier: Tier,
    pub(super) store: Store,
    pub(super) topic: TopicHead,
}

impl Bench<'_> {
    /// The memory of a name.
    pub(super) fn find(&self, name: &str, scope: Option<Tier>) -> Result<Meant> {
        find_among(name, self.stores(scope)?)
    }

    /// The memory of a name that is not there yet.
    pub(super) fn find_outside(&self, name: &str, there: Tier) -> Result<Meant> {
        let mut stores = self.stores(None)?;
        stores.retain(|(tier, _)| *tier != there);
        find_among(name, stores)
    }
}

fn find_among(name: &str, stores: Vec<(Tier, Store)>) -> Result<Meant> {
    let mut all = Vec::new();
    for (tier, store) in &stores {
        let tier = *tier;
        all.extend(store.scan(usize::MAX)?.into_iter().map(|topic| (tier, topic)));
    }
    let (tier, topic) = choose(name, all)?;
    let mut stores = stores.into_iter();
    let store = stores.find(|(other, _)| *other == tier).map(|(_, store)| store);
    let store = store.ok_or_else(|| not_there(name))?;
    Ok(Meant { tier, store, topic })
}

fn choose(name: &str, all: Vec<(Tier, TopicHead)>) -> Result<(Tier, TopicHead)> {
    let paths: Vec<(&str, Option<&str>)> =
        all.iter().map(|(_, topic)| (topic.path.as_str(), topic.front.name.as_deref())).collect();
    let meant = meant(name, &paths);
    let several: Vec<String> = meant
        .iter()
        .filter_map(|at| all.get(*at))
        .map(|(tier, topic)| format!("{} ({})", topic.path, tier.as_str()))
        .collect();
    match meant.as_slice() {
        [at] => {
            let found = all.into_iter().nth(*at);
            found.ok_or_else(|| not_there(name))
        }
        [] => Err(not_there(name)),
        _ => {
            let shown: Vec<&str> = several.iter().take(NAMED).map(String::as_str).collect();
            let more = if several.len() > NAMED { ", …" } else { "" };
            let message =
                format!("{name:?} matches {} memories: {}{more}", several.len(), shown.join(", "));
            Err(Usage::new(message, "give more of the name, or add --scope").into())
        }
    }
}

fn not_there(name: &str) -> anyhow::Error {
    let hint = "`everfold memory list` lists them";
    Refusal::new(format!("no memory {name:?}"), hint).into()
}

/// A way to compare a path and a title with what was typed.
type Way<'a> = &'a dyn Fn(&str, Option<&str>) -> bool;

/// The positions of those that a name can mean: by the first of these ways
/// that finds any.
fn meant(name: &str, all: &[(&str, Option<&str>)]) -> Vec<usize> {
    let slug = slugify(name);
    let lower = name.to_lowercase();
    let stem = |path: &str| path.strip_suffix(".md").unwrap_or(path).to_lowercase();
    let file = |path: &str| {
        let stem = stem(path);
        stem.rsplit('/').next().unwrap_or_default().to_owned()
    };
    let ways: [Way<'_>; 5] = [
        &|path, _| path == name,
        &|path, _| stem(path) == stem(name),
        &|path, _| file(path) == stem(name) || file(path) == slug,
        &|_, title| title.is_some_and(|title| title.eq_ignore_ascii_case(name)),
        &|path, title| {
            !lower.is_empty()
                && (stem(path).starts_with(&lower)
                    || file(path).starts_with(&lower)
                    || title.is_some_and(|title| title.to_lowercase().starts_with(&lower)))
        },
    ];
    let by = |way: Way<'_>| -> Vec<usize> {
        let found = all.iter().enumerate().filter(|(_, (path, title))| way(path, *title));
        found.map(|(at, _)| at).collect()
    };
    ways.into_iter().map(by).find(|found| !found.is_empty()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c2_names_are_files_slugs_titles_or_beginnings() {
        let all = [
            ("feedback_tests.md", Some("Tests")),
            ("feedback_tests_db.md", None),
            ("db/time-outs.md", Some("Time outs of the database")),
            ("deploy-day.md", Some("Deploy day")),
        ];
        let one = |name: &str| meant(name, &all);
        assert_eq!(one("feedback_tests.md"), [0]);
        assert_eq!(one("feedback_tests"), [0], "a whole name is not a beginning");
        assert_eq!(one("feedback"), [0, 1]);
        assert_eq!(one("time-outs"), [2]);
        assert_eq!(one("db/time-outs.md"), [2]);
        assert_eq!(one("Deploy day"), [3]);
        assert_eq!(one("tests"), [0]);
        assert_eq!(one("dep"), [3]);
        assert!(one("nothing").is_empty() && one("").is_empty());
    }
}
