//! Skills and custom commands on disk: the person's own first, then those of
//! the repository, from the working directory up to its root, then those of
//! plugins, under the names of these.

use everfold_kernel::limits::SkillLimits;
use everfold_plugdir::Plugin;
use everfold_plugins::scoped;
use everfold_settings::trust::Trust;
use everfold_skills::{Form, Shelf, Skill, SkillOrigin};
use std::io::Read;
use std::path::{Path, PathBuf};

/// Where skills are looked for.
pub(crate) struct Ground<'a> {
    pub(crate) home: &'a Path,
    pub(crate) cwd: &'a Path,
    pub(crate) root: &'a Path,
    pub(crate) trust: &'a Trust,
    pub(crate) limits: &'a SkillLimits,
    pub(crate) plugins: &'a [Plugin],
}

/// Reads all that there are.
pub(crate) fn shelf(ground: &Ground<'_>) -> Shelf {
    let mut found = Finding { ground, skills: Vec::new(), problems: Vec::new() };
    found.look(ground.home, Whose::Person);
    for dir in ground.cwd.ancestors().take_while(|dir| dir.starts_with(ground.root)) {
        // The repository may be the home directory itself.
        let place = dir.join(".claude");
        if place != ground.home {
            found.look(&place, Whose::Repository);
        }
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
    skills: Vec<Skill>,
    problems: Vec<String>,
}

impl Finding<'_> {
    fn look(&mut self, place: &Path, whose: Whose) {
        for folder in self.children(&place.join("skills")) {
            self.look_at(&folder, whose);
        }
        for file in self.children(&place.join("commands")) {
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

    fn children(&self, dir: &Path) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        paths.sort();
        paths.truncate(self.ground.limits.per_directory);
        paths
    }

    fn take(&mut self, file: &Path, named: &Path, whose: Whose, form: Form) {
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

pub(crate) fn read(path: &Path, most: u64) -> Result<String, String> {
    let file = std::fs::File::open(path).map_err(|error| error.to_string())?;
    let mut bytes = Vec::new();
    let read = file.take(most.saturating_add(1)).read_to_end(&mut bytes);
    read.map_err(|error| error.to_string())?;
    if bytes.len() as u64 > most {
        return Err(format!("it has more than {most} bytes"));
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
