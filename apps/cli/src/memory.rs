//! `everfold memory`: looking at memories, and changing them (C2). Works without
//! a key and without a network. Memories that are not there are not made by
//! looking for them.

mod blame;
mod check;
pub(crate) mod editor;
mod history;
mod import;
mod inbox;
mod lookup;
mod overview;
mod tool;
mod write;

use crate::args::Choices;
use crate::args::memory::{InboxCommand, MemoryCommand, Tier};
use crate::presenter::{Presenter, TextStyle};
use crate::setup::{self, ProcessEnv};
use crate::team;
use anyhow::Result;
use everfold_agent::memory_dirs::MemoryDirs;
use everfold_memory_store::By;
use everfold_memory_store::Store;
use everfold_tui::Table;
use jiff::{Timestamp, Zoned};
use std::process::ExitCode;

/// What every one of these commands works with.
pub(crate) struct Bench<'a> {
    env: &'a ProcessEnv,
    memories: MemoryDirs,
    presenter: &'a Presenter,
    now: Zoned,
}

impl<'a> Bench<'a> {
    /// The memories of the current directory.
    pub(crate) fn new(env: &'a ProcessEnv, presenter: &'a Presenter) -> Result<Self> {
        let memories = setup::builder(env, &Choices::default())?.memory_dirs()?;
        let clock = memories.clock();
        let now = clock.now().to_zoned(clock.zone());
        Ok(Self { env, memories, presenter, now })
    }

    fn at(&self) -> Timestamp {
        self.now.timestamp()
    }

    /// The person, for the reason that the command is.
    fn person(&self, reason: &str) -> By {
        By::person(reason, self.at())
    }

    fn stores(&self, scope: Option<Tier>) -> Result<Vec<(Tier, Store)>> {
        let mut found = Vec::new();
        for tier in Tier::ALL.into_iter().filter(|tier| scope.is_none_or(|only| only == *tier)) {
            found.extend(self.existing(tier)?.map(|store| (tier, store)));
        }
        Ok(found)
    }

    /// The store of a tier, made as needed.
    fn open(&self, tier: Tier) -> Result<Store> {
        if !self.memories.is_used(tier.scope()) {
            let note =
                "team memory is off: sessions do not read it; the flag team_memory turns it on";
            self.presenter.note(TextStyle::Yellow, note);
        }
        Ok(self.memories.open(tier.scope())?)
    }

    fn existing(&self, tier: Tier) -> Result<Option<Store>> {
        let store = self.memories.existing(tier.scope())?;
        if let Some(reason) = store.as_ref().and_then(|store| store.opening().read_only.as_deref())
        {
            let note = format!("the {} memories are read-only: {reason}", tier.as_str());
            self.presenter.note(TextStyle::Yellow, &note);
        }
        Ok(store)
    }
}

/// Memories, for the screen.
pub(crate) fn memories(env: &ProcessEnv) -> Result<Table> {
    Bench::new(env, &Presenter::nowhere())?.memories()
}

/// What was changed, for the screen.
pub(crate) fn changes(env: &ProcessEnv) -> Result<Table> {
    Bench::new(env, &Presenter::nowhere())?.changes()
}

/// What waits for the person's word, for the screen.
pub(crate) fn proposals(env: &ProcessEnv) -> Result<Table> {
    Bench::new(env, &Presenter::nowhere())?.proposals()
}

/// Where memories were changed last.
pub(crate) fn last_changed(env: &ProcessEnv) -> Result<Tier> {
    Bench::new(env, &Presenter::nowhere())?.last_changed()
}

pub(crate) fn run(
    env: &ProcessEnv,
    command: &MemoryCommand,
    presenter: &Presenter,
) -> Result<ExitCode> {
    let bench = Bench::new(env, presenter)?;
    let done = bench.run(command);
    if !only_reads(command) {
        team::share(&bench.memories, presenter);
    }
    done
}

/// Whether a command leaves memories as they are.
fn only_reads(command: &MemoryCommand) -> bool {
    matches!(
        command,
        MemoryCommand::List { .. }
            | MemoryCommand::Show(_)
            | MemoryCommand::Log(_)
            | MemoryCommand::Diff { .. }
            | MemoryCommand::Blame(_)
            | MemoryCommand::Export(_)
            | MemoryCommand::Path { .. }
    )
}

impl Bench<'_> {
    fn run(&self, command: &MemoryCommand) -> Result<ExitCode> {
        match command {
            MemoryCommand::List { scope, json } => self.list(*scope, *json)?,
            MemoryCommand::Show(named) => self.show(named)?,
            MemoryCommand::Add(args) => self.add(args)?,
            MemoryCommand::Edit(named) => self.edit(named)?,
            MemoryCommand::Forget(named) => self.forget(named)?,
            MemoryCommand::Log(args) => self.log(args)?,
            MemoryCommand::Diff { entry, scope, json } => self.diff(*entry, *scope, *json)?,
            MemoryCommand::Undo(args) => self.undo(args)?,
            MemoryCommand::Blame(named) => self.blame(named)?,
            MemoryCommand::Check { fix, json } => return self.check(*fix, *json),
            MemoryCommand::Inbox { command, json } => {
                let list = InboxCommand::List { scope: None, json: *json };
                return self.inbox(command.as_ref().unwrap_or(&list));
            }
            MemoryCommand::Move { name, to, json } => self.relocate(name, *to, *json)?,
            MemoryCommand::Import(args) => self.import(args)?,
            MemoryCommand::Export(args) => self.export(args)?,
            MemoryCommand::Tool { scope } => return self.tool(*scope),
            MemoryCommand::Path { scope, json } => self.path(*scope, *json)?,
        }
        Ok(ExitCode::SUCCESS)
    }
}
