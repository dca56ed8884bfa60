//! Instruction files: discovery plan, imports, path globs, provenance.
