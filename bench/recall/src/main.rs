//! How well recall finds, and when it is silent (R12, R13).
//!
//! `cargo run --release -p everfold-bench-recall [DATA]` prints recall at 5 on
//! every set, with and without each part, and what the gate lets through.
//! `--only SET` measures one set. `--features FILE` writes what the gate sees, for
//! `fit.py`. With the feature `tract`, `--model MODEL.onnx TOKENIZER.json` measures
//! with a sentence model besides; its vectors are cached in the folder for temporary
//! files. The data is not part of the repository; without it the command says where
//! it looked.

#![allow(clippy::print_stdout, reason = "a program that prints tables")]

mod gate;
mod model;
mod order;
mod sets;

use anyhow::{Context as _, Result};
use std::path::PathBuf;

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let (mut data, mut features, mut only) = (default_path(), None, None);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--model" => {
                let [model, tokenizer] = [arguments.next(), arguments.next()];
                let (model, tokenizer) = model.zip(tokenizer).context("--model names two files")?;
                model::open(model.as_ref(), tokenizer.as_ref())?;
            }
            "--only" => only = arguments.next(),
            "--features" => features = arguments.next().map(PathBuf::from),
            _ => data = PathBuf::from(argument),
        }
    }
    if !data.exists() {
        println!("no data at {}: pass the path of a folder like shared/data", data.display());
        return Ok(());
    }
    let mut sets = sets::load(&data)?;
    sets.retain(|set| only.as_ref().is_none_or(|name| set.name == name));
    if let Some(path) = features {
        return gate::write_features(&sets, &path);
    }
    order::print(&sets);
    gate::print(&sets);
    Ok(())
}

/// Beside the repository, or one level up where it is a worktree.
fn default_path() -> PathBuf {
    let repository = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let [beside, above] = ["..", "../.."].map(|up| repository.join(up).join("shared/data"));
    if above.exists() { above } else { beside }
}
