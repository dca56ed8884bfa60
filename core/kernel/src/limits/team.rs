//! Limits of what a team shares.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

limits! {
    /// Keeping a team's memories in step (F1, F2).
    TeamLimits {
        /// Milliseconds for which the start of a session waits for the team's news.
        pull_ms: u64 = 1_500,
        /// Milliseconds for which the end of a session waits for what it shares.
        close_ms: u64 = 5_000,
        /// Seconds after which a sync in the background gives up until the next.
        background_s: u64 = 30,
        /// Seconds after which `everfold team sync` gives up.
        sync_s: u64 = 120,
        /// How often one sync retries because somebody else was faster.
        tries: u32 = 40,
        /// Bytes of one memory that is taken in or shared.
        file_bytes: u64 = 256 * 1024,
        /// Files that a team may share.
        files: usize = 20_000,
        /// Maximum bytes of one fetch.
        fetch_bytes: u64 = 256 * 1024 * 1024,
        /// Members that the history names for one sync.
        makers: usize = 5,
    }
}

limits! {
    /// A fleet (F2).
    FleetLimits {
        /// Timeout of a connection to the servers, in seconds.
        connect_s: u64 = 5,
        /// Timeout of an acknowledgement, in seconds.
        ack_s: u64 = 10,
        /// Milliseconds between two checks for letters.
        mail_poll_ms: u64 = 20_000,
        /// Days for which the servers keep a letter.
        mail_days: u64 = 30,
        /// Letters that the servers keep for one agent; beyond that none are accepted.
        mail_letters: u64 = 1_000,
        /// Minutes for which the servers recognise a duplicate letter.
        mail_twice_min: u64 = 60,
        /// Bytes of one letter or memory.
        message_bytes: u64 = 512 * 1024,
        /// Earlier versions of a memory that the servers keep.
        history: u64 = 8,
        /// Seconds of silence after which a session counts as gone.
        presence_s: u64 = 60,
        /// Seconds of a worker's silence after which its work goes to another.
        lease_s: u64 = 60,
    }
}
