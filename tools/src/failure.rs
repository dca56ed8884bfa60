//! Why a call was not done, for the model to read.

use crate::ToolOutput;
use everfold_kernel::Classify;
use everfold_kernel::provenance::{Provenance, Source};

/// An error of a tool. Its message is what the model reads: what happened, and
/// what to do instead.
pub(crate) trait Failure: std::error::Error + Classify {
    /// Whose words the message holds (L5.33); a program's, unless it says
    /// otherwise.
    fn provenance(&self) -> Provenance {
        Source::Command.into()
    }
}

impl<F: Failure> From<F> for ToolOutput {
    fn from(failure: F) -> Self {
        Self::error(failure.to_string()).by(failure.provenance())
    }
}
