//! What people bring to an agent: instructions, skills, hooks.

use super::{Builder, Instructions};
use everfold_engine::config::{InstructionSources, SetupFiles};
use everfold_engine::{Config, Tool};
use everfold_hooks::Registry;
use everfold_kernel::ports::{BoxFuture, HookCall, HookRun, Hooks};
use everfold_kernel::settings::Settings;
use everfold_process::{ShellConfig, run_hook};
use everfold_rules::InstructionDirs;
use everfold_skills::{Form, Shelf, Skill, SkillOrigin};
use everfold_tools::skill_tool;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

impl Builder {
    /// Brings in what is there, and gives the tools that it needs.
    pub(super) fn set_up(&self, settings: &Settings, config: &mut Config) -> Vec<Arc<dyn Tool>> {
        let excludes = settings.claude_md_excludes.clone();
        let skills = self.shelf();
        config.setups = SetupFiles {
            instructions: (self.instructions == Instructions::Read).then(|| InstructionSources {
                places: InstructionDirs {
                    managed: Some(self.root.join("CLAUDE.md")),
                    home: self.home.clone(),
                    cwd: self.cwd.clone(),
                },
                tree: self.tree(),
                user_dir: self.root.clone(),
                own_excludes: excludes.clone(),
                excludes,
            }),
            hooks: Arc::new(Registry::read(&settings.hooks, &|_| "test".to_owned())),
            skills: Arc::new(skills),
            settings_files: vec![("project_settings", self.cwd.join(".claude/settings.json"))],
        };
        config.setups.skills.has_for_model().then(skill_tool).into_iter().collect()
    }

    /// The person's skills and commands, and those of the repository.
    fn shelf(&self) -> Shelf {
        let mut found = Vec::new();
        let places = [
            (self.home.clone(), SkillOrigin::Own),
            (self.cwd.join(".claude"), SkillOrigin::Repository),
        ];
        for (dir, origin) in places {
            for folder in children(&dir.join("skills")) {
                found.extend(skill(&folder.join("SKILL.md"), &folder, origin, Form::Folder));
            }
            for file in children(&dir.join("commands")) {
                found.extend(skill(&file, &file.with_extension(""), origin, Form::Flat));
            }
        }
        Shelf::new(found, Vec::new())
    }
}

fn children(dir: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

fn skill(file: &Path, named: &Path, origin: SkillOrigin, form: Form) -> Option<Skill> {
    let text = std::fs::read_to_string(file).ok()?;
    let given = named.file_name()?.to_string_lossy().into_owned();
    Some(Skill::read(&text, &given, file.to_owned(), origin, form))
}

/// Runs the handlers of hooks as programs, nothing else.
#[derive(Default)]
pub(super) struct Programs {
    tasks: TaskTracker,
    closing: CancellationToken,
}

impl Hooks for Programs {
    fn run(&self, call: HookCall) -> BoxFuture<'_, HookRun> {
        Box::pin(async move { run_hook(&ShellConfig::default(), call, None).await })
    }

    fn start(&self, call: HookCall) {
        let closing = self.closing.clone();
        self.tasks.spawn(async move {
            let programs = ShellConfig::default();
            tokio::select! {
                _ = run_hook(&programs, call, None) => {}
                () = closing.cancelled() => {}
            }
        });
    }

    fn shutdown(&self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            self.closing.cancel();
            self.tasks.close();
            self.tasks.wait().await;
        })
    }
}
