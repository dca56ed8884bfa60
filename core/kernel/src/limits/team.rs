//! Limits of what a team shares.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

limits! {
    /// Keeping a team's memories in step (F1, F2).
    TeamLimits {
        /// Milliseconds for which the start of a session waits for what the team has new.
        pull_ms: u64 = 1_500,
        /// Milliseconds for which the end of a session waits for what it shares.
        close_ms: u64 = 5_000,
        /// Seconds after which a sync in the background gives up until the next.
        background_s: u64 = 30,
        /// Seconds after which `everfold team sync` gives up.
        sync_s: u64 = 120,
        /// How often one sync looks again because somebody else was faster.
        tries: u32 = 40,
        /// Bytes of one memory that is taken in or shared.
        file_bytes: u64 = 256 * 1024,
        /// Files that a team may share.
        files: usize = 20_000,
        /// Bytes that one fetch may bring.
        fetch_bytes: u64 = 256 * 1024 * 1024,
        /// Members that the history names for one sync.
        makers: usize = 5,
    }
}
