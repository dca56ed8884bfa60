//! Every layer crate has the same shape, so that who knows one knows all.

use super::Finding;
use crate::tree::Tree;
use std::collections::BTreeSet;

/// What each has.
const SHAPE: &[&str] = &["README.md", "src/policy.rs", "src/plan.rs", "src/apply.rs"];

/// Looks at every folder under `layers`.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let layers: BTreeSet<&str> = tree
        .files()
        .filter_map(|(path, _)| path.strip_suffix("/Cargo.toml"))
        .filter(|folder| folder.starts_with("layers/"))
        .collect();
    layers
        .iter()
        .flat_map(|layer| SHAPE.iter().map(move |part| format!("{layer}/{part}")))
        .filter(|path| !tree.exists(path))
        .map(|path| Finding::new(&path, 1, "is missing; every layer has it"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::sample;

    #[test]
    fn a_layer_without_its_parts_is_found() {
        let whole = [
            ("layers/1-offload/Cargo.toml", ""),
            ("layers/1-offload/README.md", ""),
            ("layers/1-offload/src/policy.rs", ""),
            ("layers/1-offload/src/plan.rs", ""),
            ("layers/1-offload/src/apply.rs", ""),
        ];
        let (_folder, tree) = sample(&whole);
        assert!(check(&tree).is_empty());
        let (_folder, tree) = sample(&whole[..4]);
        assert_eq!(
            check(&tree)[0].to_string(),
            "layers/1-offload/src/apply.rs:1: is missing; every layer has it"
        );
    }
}
