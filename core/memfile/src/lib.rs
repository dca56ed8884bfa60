//! The memory file format: frontmatter, index, taxonomy, caps, secret screen, drift references.
