//! Where the memories of a session are, and whether there are any (L5.1, L5.7).

use crate::error::Error;
use crate::repo::Repo;
use mnemon_kernel::ports::{Clock, Files, Memories, MemoryPlace, MemoryScope};
use mnemon_memdir::DirMemories;
use mnemon_memdir::location::{Inputs, SetBy, git_root, global_dir, resolve};
use mnemon_memdir::port::Here;
use mnemon_settings::{Origin, Place, Resolved};
use std::path::Path;
use std::sync::Arc;

/// What the place of memories depends on besides settings.
pub(crate) struct Ground<'a> {
    pub(crate) home: &'a Path,
    pub(crate) user_home: Option<&'a Path>,
    pub(crate) cwd: &'a Path,
    pub(crate) repo: Option<&'a Repo>,
    pub(crate) files: &'a dyn Files,
    pub(crate) clock: &'a Arc<dyn Clock>,
}

/// The memories of a session; none where they are switched off.
///
/// # Errors
/// If settings or environment name a place where they cannot be.
pub(crate) async fn open(
    ground: &Ground<'_>,
    resolved: &Resolved,
) -> Result<Option<Arc<dyn Memories>>, Error> {
    let settings = &resolved.settings;
    let remote = resolved.ambient.place == Place::Remote;
    let remote_dir = resolved.ambient.remote_memory_dir.as_deref().filter(|_| remote);
    let set = settings.auto_memory_directory.as_deref();
    let set_by = set.and_then(|_| set_by(resolved.origin("/autoMemoryDirectory")));
    let override_path = match set_by {
        Some(Set::Environment) => set,
        _ => remote_dir,
    };
    let setting = match set_by {
        Some(Set::Setting(by)) => set.map(|dir| (dir, by)),
        _ => None,
    };
    let homeless = remote && override_path.is_none() && setting.is_none();
    if settings.auto_memory_enabled == Some(false) || homeless {
        return Ok(None);
    }
    let root = git_root(ground.cwd);
    let location = resolve(&Inputs {
        override_path,
        setting,
        home: ground.home,
        os_home: ground.user_home,
        git_root: root.as_deref(),
        cwd: ground.cwd,
    })?;
    let project = ground.files.resolve(&location.dir).await;
    let global = ground.files.resolve(&global_dir(ground.home)).await;
    let mut places = Vec::new();
    // What is on a machine that goes away is not worth a tier of its own.
    if global != project && !remote {
        places.push(MemoryPlace { scope: MemoryScope::Global, dir: global });
    }
    places.push(MemoryPlace { scope: MemoryScope::Project, dir: project });
    let here = Here {
        branch: ground.repo.and_then(|repo| repo.branch.clone()),
        worktree: ground.repo.map(|repo| repo.root.clone()),
    };
    Ok(Some(Arc::new(DirMemories::new(places, here, ground.clock))))
}

/// Who named the memory directory.
enum Set {
    Environment,
    Setting(SetBy),
}

fn set_by(origin: &Origin) -> Option<Set> {
    match origin {
        Origin::Default => None,
        Origin::Env(_) => Some(Set::Environment),
        Origin::Managed(_) => Some(Set::Setting(SetBy::Managed)),
        Origin::Local(_) => Some(Set::Setting(SetBy::Local)),
        Origin::Project(_) | Origin::Provider => Some(Set::Setting(SetBy::Repository)),
        Origin::Home(_) | Origin::File(_) | Origin::Inline | Origin::Flag(_) => {
            Some(Set::Setting(SetBy::User))
        }
    }
}
