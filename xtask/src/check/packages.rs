//! Every crate that people get can be packaged (K3): it says what it is, and
//! names the version of each of ours that it needs. What is not shipped says so.

use super::Finding;
use crate::tree::Tree;
use anyhow::{Context, Result};
use cargo_metadata::{DependencyKind, MetadataCommand, Package};

/// Looks at the manifest of every crate of the workspace.
pub(super) fn check(tree: &Tree) -> Result<Vec<Finding>> {
    let metadata = MetadataCommand::new()
        .manifest_path(tree.root().join("Cargo.toml"))
        .no_deps()
        .exec()
        .context("failed to read the manifests")?;
    let is_shipped = |own: &&&Package| own.publish.as_ref().is_none_or(|at| !at.is_empty());
    let shipped: Vec<&Package> = metadata.workspace_packages();
    let findings = shipped.iter().filter(is_shipped).flat_map(|package| {
        let path = package.manifest_path.strip_prefix(&metadata.workspace_root);
        let path = path.map_or_else(|_| package.manifest_path.to_string(), ToString::to_string);
        missing(package).into_iter().map(move |message| Finding::new(&path, 1, message))
    });
    Ok(findings.collect())
}

/// What a package does not say.
fn missing(package: &Package) -> Vec<String> {
    let fields = [
        ("description", package.description.is_some()),
        ("license", package.license.is_some()),
        ("readme", package.readme.is_some()),
        ("rust-version", package.rust_version.is_some()),
        ("keywords", !package.keywords.is_empty()),
        ("categories", !package.categories.is_empty()),
    ];
    let unsaid = fields.into_iter().filter(|(_, is_said)| !is_said);
    let unsaid = unsaid.map(|(name, _)| format!("say its {name}, or publish = false"));
    let needed = package.dependencies.iter().filter(|own| own.kind != DependencyKind::Development);
    let loose = needed.filter(|own| own.path.is_some() && own.req.comparators.is_empty());
    let loose = loose.map(|own| format!("name the version of {} that it needs", own.name));
    unsaid.chain(loose).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::sample;

    #[test]
    fn k3_a_crate_that_cannot_be_packaged_is_found() {
        let shipped = "[package]\nname = \"a\"\nversion = \"0.1.0\"\ndescription = \"x\"\n\
                       license = \"MIT\"\nreadme = \"a.md\"\nrust-version = \"1.95\"\n\
                       keywords = [\"a\"]\n[dependencies]\nb = { path = \"../b\" }\n";
        let own = "[package]\nname = \"b\"\nversion = \"0.1.0\"\npublish = false\n";
        let (_folder, tree) = sample(&[
            ("Cargo.toml", "[workspace]\nresolver = \"3\"\nmembers = [\"a\", \"b\"]\n"),
            ("a/Cargo.toml", shipped),
            ("a/src/lib.rs", ""),
            ("b/Cargo.toml", own),
            ("b/src/lib.rs", ""),
        ]);
        let found: Vec<String> = check(&tree).unwrap().iter().map(ToString::to_string).collect();
        assert_eq!(
            found,
            [
                "a/Cargo.toml:1: say its categories, or publish = false",
                "a/Cargo.toml:1: name the version of b that it needs",
            ]
        );
    }
}
