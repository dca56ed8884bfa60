//! What belongs to one machine stays on it: paths of a work folder or of an
//! administrator's home, and the hosts from which packages came.
//!
//! The patterns are put together from parts, so that this file is clean too.

use super::Finding;
use crate::tree::Tree;
use anyhow::Result;
use regex::Regex;

/// What a lock file may name as the source of a package.
const PUBLIC_INDEX: &str = concat!("registry+https://github.com/rust-lang/crates", ".io-index");

/// Looks at every text file.
pub(super) fn check(tree: &Tree) -> Result<Vec<Finding>> {
    let path = Regex::new(concat!(r"(?:^|[^\w.~>}\])/-])(/(?:wo", r"rk|ro", r"ot)/[\w.-]+)"))?;
    let host = Regex::new(concat!(
        r"\b(?:index|static)\.crates\.",
        r"io\b|spar",
        r"se\+https?:|\breplace-",
        r"with\s*="
    ))?;
    let source = Regex::new(r#"^source = "([^"]+)""#)?;
    let mut findings = Vec::new();
    for (file, text) in tree.files() {
        for (index, line) in text.lines().enumerate() {
            let mut add = |message: String| findings.push(Finding::new(file, index + 1, message));
            if let Some(found) = path.captures(line).and_then(|found| found.get(1)) {
                add(format!("`{}` is a path of one machine", found.as_str()));
            }
            if let Some(found) = host.find(line) {
                add(format!("`{}` is the registry of one machine", found.as_str()));
            }
            if !file.ends_with("Cargo.lock") {
                continue;
            }
            let from = source.captures(line).and_then(|found| found.get(1));
            if let Some(from) = from.filter(|from| from.as_str() != PUBLIC_INDEX) {
                add(format!("`{}` is not the public index", from.as_str()));
            }
        }
    }
    Ok(findings)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::sample;

    #[test]
    fn public_names_and_relative_paths_pass() {
        let lock = format!("source = \"{PUBLIC_INDEX}\"\n");
        let text = concat!("see docs/wo", "rk/x and ~/ro", "ot/x and <home>/wo", "rk/x\n");
        let (_folder, tree) = sample(&[("Cargo.lock", &lock), ("a.md", text)]);
        assert_eq!(check(&tree).unwrap(), []);
    }

    #[test]
    fn machine_paths_and_registries_are_found() {
        let text = concat!("\"/wo", "rk/main\"\n=/ro", "ot/.cargo\nhttps://index.crates.", "io/\n");
        let config = concat!("replace-", "with = \"mirror\"\n");
        let (_folder, tree) = sample(&[
            ("a.rs", text),
            (".cargo/config.toml", config),
            ("Cargo.lock", "source = \"registry+https://mirror.example/index\"\n"),
        ]);
        assert_eq!(check(&tree).unwrap().len(), 5);
    }
}
