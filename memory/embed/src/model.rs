//! The model itself, where this build can run one.

#[cfg(feature = "tract")]
mod onnx;
#[cfg(not(feature = "tract"))]
mod unbuilt;

#[cfg(feature = "tract")]
pub use onnx::OnnxModel as SentenceModel;
#[cfg(not(feature = "tract"))]
pub use unbuilt::UnbuiltModel as SentenceModel;
