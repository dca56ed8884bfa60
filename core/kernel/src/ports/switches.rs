//! Kill switches and limits while sessions run (Q3, L1.6).

use super::BoxFuture;
use crate::{Flags, Limits};

/// What the source of switches and limits says at one time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SwitchReading {
    pub flags: Flags,
    pub limits: Limits,
    /// What cannot be read any more, for people; its last values are in here.
    pub problem: Option<String>,
}

/// Where kill switches and limits come from. A session asks at the start of
/// each turn, so an answer must not wait for a network.
pub trait Switches: Send + Sync {
    /// What holds now.
    fn current(&self) -> BoxFuture<'_, SwitchReading>;
}
