//! What bounds going back.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

limits! {
    /// What is kept of files that tools change, and how much of it is shown (Q12).
    RewindLimits {
        /// Largest file whose earlier content is kept, in bytes; 0 keeps none.
        file_bytes: u64 = 16 * 1024 * 1024,
        /// Newest points that are listed.
        points: usize = 100,
        /// Characters of a message that a list of points shows.
        text_chars: usize = 200,
    }
}
