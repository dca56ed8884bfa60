//! Files as they were before tools changed them (Q12).

use everfold_kernel::ports::{BoxFuture, FileRead};
use std::path::Path;

/// Keeps what a file holds before it becomes something else.
pub trait FileCheckpoints: Send + Sync {
    /// Called before a change, with what is there and what will be. A copy that
    /// cannot be made is the keeper's to tell: going back is a convenience, and
    /// no reason to stop work.
    fn keep<'a>(
        &'a self,
        path: &'a Path,
        old: Option<&'a FileRead>,
        new: Option<&'a [u8]>,
    ) -> BoxFuture<'a, ()>;
}
