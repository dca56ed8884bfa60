//! Where the tools of a session may touch files.

use crate::config::Config;
use crate::permit::Places;
use crate::world::World;
use mnemon_kernel::{Flag, SessionId};
use std::path::PathBuf;

/// The places by configuration and world.
pub(super) fn of(id: &SessionId, world: &World, config: &Config) -> Places {
    let memories = world.memories.iter().flat_map(|memories| memories.places());
    let mut readable = vec![world.transcripts.session_dir(id)];
    if world.memories.is_some() && config.flags.is_on(Flag::PastSearch) {
        readable.extend(world.transcripts.path(id).parent().map(PathBuf::from));
    }
    Places {
        roots: config.roots.clone(),
        readable,
        writable: memories.map(|place| place.dir.clone()).collect(),
        home: config.user_home.clone(),
    }
}
