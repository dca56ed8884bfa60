//! Sentence models that somebody has installed (R14).
//!
//! A model is an ONNX file of the BERT family with its `tokenizer.json`, copied
//! under home with a checksum ([`InstalledModels`]) and run by tract in this
//! process: no runtime library, no network. [`tokens`] turns text into what a
//! model reads, [`SentenceModel`] is what recall asks for vectors, and
//! [`installed_embedders`] is how it comes to a memory service.
//!
//! Running models is a feature (`tract`). Without it they are listed and
//! removed, and nothing else.

mod error;
mod installed;
mod model;
mod source;
pub mod tokens;

pub use error::Error;
pub use installed::{InstalledModel, InstalledModels};
pub use model::SentenceModel;
pub use source::installed_embedders;
