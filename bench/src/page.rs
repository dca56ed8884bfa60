//! `docs/BENCHMARKS.md`: the sections that were measured are renewed, the
//! others stay as they are.

use crate::table::Section;
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};

const TITLE: &str = "# Benchmarks";
const ORDER: [&str; 15] = [
    "Start",
    "Hooks",
    "Memory",
    "Recall",
    "Projection",
    "Layers 1 and 2",
    "Screen",
    "Replay",
    "Search",
    "Sessions",
    "Marathon",
    "Peers",
    "Team",
    "Fleet",
    "Fleet, modelled",
];

const ABOUT: &str = "\
What the goals of the issues come to on one machine. No test asserts a time: this page is renewed by hand.

```
cargo build --release -p everfold-cli
cargo run --release -p everfold-bench -- all --write
```

`start`, `hook`, `memory`, `recall`, `projection`, `layers`, `screen`, `replay`, `marathon`, `peers` and `fleet` in place of `all` run one \
part, and without `--write` the tables are only printed. `peers` installs other programs from their registries into a \
folder of their own outside of the tree. Search and sessions are measured by hand, team and fleet by `cargo xtask soak`. `cargo bench -p everfold-bench` runs the small ones under divan. The parts are in `bench/src/`. \
Other work on the machine makes times longer, never shorter, so a goal counts as met by the best of many runs (by the \
median for the start); where median and worst are far off, the machine was busy. The facts below are those of the last run.
";

/// Writes the page, and says where it is.
pub(crate) fn renew(machine: &str, sections: &[Section]) -> Result<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/BENCHMARKS.md");
    let old = std::fs::read_to_string(&path).unwrap_or_default();
    let text = page(&old, machine, sections);
    std::fs::write(&path, text).with_context(|| format!("failed to write {}", path.display()))?;
    path.canonicalize().context("the page vanished")
}

fn page(old: &str, machine: &str, sections: &[Section]) -> String {
    let mut parts = vec![format!("{TITLE}\n\n{ABOUT}\n{machine}\n")];
    for title in ORDER {
        let fresh = sections.iter().find(|section| section.title == title);
        parts.extend(fresh.map(ToString::to_string).or_else(|| kept(old, title)));
    }
    parts.join("\n")
}

/// A section of the page as it is, from its heading to the next one.
fn kept(old: &str, title: &str) -> Option<String> {
    let heading = format!("\n## {title}\n");
    let (_, after) = old.split_once(&heading)?;
    let body = after.split("\n## ").next()?;
    Some(format!("## {title}\n{}\n", body.trim_end()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Table;

    #[test]
    fn sections_that_were_not_measured_stay() {
        let section =
            |title| Section { title, goal: "fast.", table: Table::new(&["a"]), notes: "n".into() };
        let first = page("", "- machine", &[section("Start"), section("Memory")]);
        let second = page(&first, "- machine", &[section("Memory")]);
        assert_eq!(first, second);
        assert!(page(&first, "- machine", &[]).contains("## Start"));
    }
}
