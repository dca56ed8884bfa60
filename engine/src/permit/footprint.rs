//! What a call would touch, with real paths: what permissions are decided by.

use super::Permit;
use crate::tools::Access;
use everfold_kernel::ports::{
    Asks, BarredFiles, CommandOutline, FileTouch, Presence, Reads, ShellPlace, World,
};
use std::path::{Path, PathBuf};

/// What a call would touch. Paths are as the operating system resolved them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Footprint {
    /// Nothing outside the conversation.
    Nothing,
    /// Reads a file or a tree.
    Read(PathBuf),
    Edit(PathBuf),
    Command(Box<CommandUse>),
    /// Reads a page of this host.
    Fetch {
        url: String,
        host: String,
    },
    /// Calls a tool of a server, which may do anything.
    Server {
        /// Whether it says that it only reads.
        reads: Reads,
        /// Whether the person is to be asked about every call.
        asks: Asks,
    },
}

/// A command, looked through.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandUse {
    pub text: String,
    /// What it runs and names.
    pub outline: CommandOutline,
    /// What may not be read of the directories that it goes through.
    pub barred: BarredFiles,
}

impl Footprint {
    /// What a call would touch. Links are followed (S2), and a command is
    /// looked through.
    pub(crate) async fn of(access: &Access, world: &World, permit: &Permit, cwd: PathBuf) -> Self {
        match access {
            Access::Nothing => Self::Nothing,
            Access::Read(path) => Self::Read(world.files.resolve(path).await),
            Access::Edit(path) => Self::Edit(world.files.resolve(path).await),
            Access::Execute(command) => {
                let place = ShellPlace { cwd, home: permit.places.home.clone() };
                let outline = world.shell.outline(command, &place);
                let barred = barred(&outline, world, permit).await;
                Self::Command(Box::new(CommandUse { text: command.clone(), outline, barred }))
            }
            Access::Fetch { url, host } => Self::Fetch { url: url.clone(), host: host.clone() },
            Access::Server { reads, asks } => Self::Server { reads: *reads, asks: *asks },
        }
    }

    /// What a call says that it would touch, before links are followed: for
    /// who only wants to know whether a rule speaks of it.
    pub(crate) fn as_told(access: &Access, world: &World, place: &ShellPlace) -> Self {
        match access {
            Access::Read(path) => Self::Read(path.clone()),
            Access::Edit(path) => Self::Edit(path.clone()),
            Access::Execute(command) => Self::Command(Box::new(CommandUse {
                text: command.clone(),
                outline: world.shell.outline(command, place),
                barred: BarredFiles::Found(Vec::new()),
            })),
            Access::Nothing => Self::Nothing,
            Access::Fetch { url, host } => Self::Fetch { url: url.clone(), host: host.clone() },
            Access::Server { reads, asks } => Self::Server { reads: *reads, asks: *asks },
        }
    }
}

/// What may not be read of the directories that a command goes through.
async fn barred(outline: &CommandOutline, world: &World, permit: &Permit) -> BarredFiles {
    let guard = permit.guard();
    let walked = |touch| {
        let files = outline.files.iter();
        let there =
            files.filter(move |file| file.presence == Presence::There && file.touch == touch);
        there.map(|file| file.path.clone()).collect::<Vec<PathBuf>>()
    };
    let (whole, visible) = (walked(FileTouch::Tree), walked(FileTouch::VisibleTree));
    if guard.is_open() || whole.is_empty() && visible.is_empty() {
        return BarredFiles::Found(Vec::new());
    }
    let most = permit.places.walked_entries;
    let mut roots = whole.clone();
    roots.extend(visible.iter().cloned());
    match world.search.barred(roots, guard, most).await {
        BarredFiles::Found(mut found) => {
            let seen = |path: &Path| {
                whole.iter().any(|root| path.starts_with(root))
                    || visible.iter().filter_map(|root| path.strip_prefix(root).ok()).any(
                        |inside| {
                            !inside.iter().any(|name| name.as_encoded_bytes().starts_with(b"."))
                        },
                    )
            };
            found.retain(|path| seen(path));
            BarredFiles::Found(found)
        }
        BarredFiles::Unknown => BarredFiles::Unknown,
    }
}
