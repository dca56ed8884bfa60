//! `cargo run --release -p everfold-bench -- [all|start|resume|hook|memory|recall|keeping|adding|projection|layers|screen|replay|marathon|peers|fleet] [--write]`
//!
//! Measures what the goals name and prints tables; with `--write` the tables
//! that were measured are renewed in `docs/BENCHMARKS.md`. Start and memory
//! are measured on the `everfold` program that stands beside this one.

mod drive;
mod fleet_model;
mod hook;
mod machine;
mod marathon;
mod memory;
mod memory_keep;
mod page;
mod peers;
mod process;
mod projection;
mod recall;
mod replay;
mod resume;
mod screen;
mod start;
mod table;

use anyhow::{Result, bail};
use std::io::Write;
use std::time::Instant;
use table::Section;

/// Takes the figures of one section.
type Measure = fn() -> Result<Section>;

/// What can be measured, in the order of the page.
const ALL: [(&str, Measure); 14] = [
    ("start", start::measure),
    ("resume", resume::measure),
    ("hook", hook::measure),
    ("memory", memory::measure),
    ("recall", recall::measure),
    ("keeping", memory_keep::measure),
    ("adding", memory_keep::measure_add),
    ("projection", projection::measure),
    ("layers", projection::measure_layers),
    ("screen", screen::measure),
    ("replay", replay::measure),
    ("marathon", marathon::measure),
    ("peers", peers::measure),
    ("fleet", || Ok(fleet_model::measure())),
];

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        // What this program starts itself as.
        ["nothing"] => return Ok(()),
        ["connect", address] => return start::connect(address),
        ["recall-once", home, project] => return recall::look(home, project),
        ["drive", url, home, project] => return drive::run(url, home, project),
        _ => {}
    }
    let write = words.contains(&"--write");
    let chosen: Vec<&str> = words.into_iter().filter(|word| *word != "--write").collect();
    if let Some(unknown) = chosen.iter().find(|word| **word != "all" && !is_known(word)) {
        let names: Vec<&str> = ALL.iter().map(|(name, _)| *name).collect();
        bail!("there is no benchmark {unknown:?}; there are all, {}", names.join(", "));
    }
    let everything = chosen.is_empty() || chosen.contains(&"all");
    let machine = machine::describe();
    let mut out = std::io::stdout().lock();
    writeln!(out, "{machine}")?;
    let (mut sections, mut failed) = (Vec::new(), Vec::new());
    for (name, measure) in ALL {
        if everything || chosen.contains(&name) {
            let began = Instant::now();
            // One that fails costs none of the others.
            match measure() {
                Ok(section) => {
                    writeln!(out, "\n{section}")?;
                    sections.push(section);
                }
                Err(error) => {
                    writeln!(out, "\n{name} failed: {error:#}\n")?;
                    failed.push(name);
                }
            }
            writeln!(out, "({name}: {} s)", began.elapsed().as_secs())?;
        }
    }
    if write {
        let path = page::renew(&machine, &sections)?;
        writeln!(out, "\nwritten to {}", path.display())?;
    }
    if failed.is_empty() { Ok(()) } else { bail!("failed: {}", failed.join(", ")) }
}

fn is_known(word: &str) -> bool {
    ALL.iter().any(|(name, _)| *name == word)
}
