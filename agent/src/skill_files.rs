//! Skills and custom commands on disk: the person's own first, then those of
//! the repository, from the working directory up to its root, then those of
//! plugins, under the names of these.

use everfold_disk::read_regular;
use everfold_kernel::TreeBounds;
use everfold_kernel::limits::SkillLimits;
use everfold_plugdir::Plugin;
use everfold_plugins::scoped;
use everfold_settings::trust::Trust;
use everfold_skills::{Form, Shelf, Skill, SkillOrigin};
use std::path::{Path, PathBuf};

/// Where skills are looked for.
pub(crate) struct Ground<'a> {
    pub(crate) home: &'a Path,
    pub(crate) trust: &'a Trust,
    pub(crate) limits: &'a SkillLimits,
    pub(crate) plugins: &'a [Plugin],
}

/// Reads all that there are.
pub(crate) fn shelf(ground: &Ground<'_>) -> Shelf {
    let bounds = ground.trust.bounds();
    let (skills, problems, holder) = (Vec::new(), Vec::new(), PathBuf::new());
    let mut found = Finding { ground, bounds, holder, skills, problems };
    found.look(ground.home, Whose::Person);
    for place in ground.trust.agent_dirs() {
        found.look(&place, Whose::Repository);
    }
    for plugin in ground.plugins {
        found.look_into(plugin);
    }
    Shelf::new(found.skills, found.problems)
}

#[derive(Clone, Copy)]
enum Whose {
    Person,
    Repository,
}

struct Finding<'a> {
    ground: &'a Ground<'a>,
    bounds: TreeBounds,
    /// The directory whose skills are looked at.
    holder: PathBuf,
    skills: Vec<Skill>,
    problems: Vec<String>,
}

impl Finding<'_> {
    fn look(&mut self, place: &Path, whose: Whose) {
        place.parent().unwrap_or(place).clone_into(&mut self.holder);
        let (skills, commands) = (place.join("skills"), place.join("commands"));
        for folder in self.children_of(&skills, whose) {
            self.look_at(&folder, whose);
        }
        for file in self.children_of(&commands, whose) {
            if file.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("md")) {
                self.take(&file, &file.with_extension(""), whose, Form::Flat);
            }
        }
    }

    /// What a plugin brings, with its placeholders filled in.
    fn look_into(&mut self, plugin: &Plugin) {
        let known = self.skills.len();
        for dir in &plugin.skills {
            self.look_at(dir, Whose::Person);
            for folder in self.children(dir) {
                self.look_at(&folder, Whose::Person);
            }
        }
        for file in &plugin.commands {
            self.take(file, &file.with_extension(""), Whose::Person, Form::Flat);
        }
        for skill in self.skills.iter_mut().skip(known) {
            skill.name = scoped(&plugin.name, &skill.name);
            skill.body = plugin.filling.text(&skill.body);
            skill.hooks = plugin.filling.hooks(&skill.hooks);
        }
    }

    fn look_at(&mut self, folder: &Path, whose: Whose) {
        let file = folder.join("SKILL.md");
        if file.is_file() {
            self.take(&file, folder, whose, Form::Folder);
        }
    }

    /// Entries of a folder that belong to whom it belongs to: what leads out of
    /// a tree is not the tree's (S9).
    fn children_of(&mut self, dir: &Path, whose: Whose) -> Vec<PathBuf> {
        if self.leaves(dir, whose) {
            return Vec::new();
        }
        self.children(dir)
    }

    fn leaves(&mut self, path: &Path, whose: Whose) -> bool {
        if matches!(whose, Whose::Person) {
            return false;
        }
        let leaves = path.canonicalize();
        let leaves = leaves.is_ok_and(|real| !self.bounds.holds_for(&self.holder, &real));
        if leaves {
            self.problems.push(format!(
                "{} is not used: it leads outside of the repository, which needs your approval \
                 (`everfold trust`)",
                path.display()
            ));
        }
        leaves
    }

    fn children(&self, dir: &Path) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        paths.sort();
        paths.truncate(self.ground.limits.per_directory);
        paths
    }

    fn take(&mut self, file: &Path, named: &Path, whose: Whose, form: Form) {
        if self.leaves(file, whose) {
            return;
        }
        let given = named.file_name().map(|name| name.to_string_lossy().into_owned());
        let text = read(file, self.ground.limits.file_bytes);
        let origin = match whose {
            Whose::Person => SkillOrigin::Own,
            Whose::Repository if self.ground.trust.allows_file(file) => SkillOrigin::Trusted,
            Whose::Repository => SkillOrigin::Repository,
        };
        match (text, given) {
            (Ok(text), Some(given)) => {
                self.skills.push(Skill::read(&text, &given, file.to_owned(), origin, form));
            }
            (Err(why), _) => self.problems.push(format!("{} is not used: {why}", file.display())),
            (Ok(_), None) => {}
        }
    }
}

pub(crate) fn read(path: &Path, most: u64) -> Result<String, everfold_disk::Error> {
    let bytes = read_regular(path, most)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
