//! Styles of answers (Q14): some of our own, and files of the person and the
//! repository (`output-styles/*.md`), which take the place of ours by name.

use everfold_kernel::limits::SkillLimits;
use everfold_memory_file::Memory;
use everfold_plugdir::Plugin;
use everfold_plugins::scoped;
use everfold_settings::Trust;
use std::path::{Path, PathBuf};

/// The folder of their files.
const DIR: &str = "output-styles";

/// The style that is none.
pub const DEFAULT_STYLE: &str = "default";

/// A way of writing answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputStyle {
    /// What it is called.
    pub name: String,
    /// What it is, in a line.
    pub description: String,
    /// What the model is told; none for [`DEFAULT_STYLE`].
    pub text: Option<String>,
    /// Its file; none for those of our own.
    pub path: Option<PathBuf>,
}

impl OutputStyle {
    fn built_in(name: &str, description: &str, text: Option<&str>) -> Self {
        Self {
            name: name.to_owned(),
            description: description.to_owned(),
            text: text.map(|text| text.trim().to_owned()),
            path: None,
        }
    }

    fn read(path: PathBuf, limits: &SkillLimits) -> Option<Self> {
        let given = path.file_stem()?.to_string_lossy().into_owned();
        let text = crate::skill_files::read(&path, limits.file_bytes).ok()?;
        let memory = Memory::parse(&text);
        let (name, description) = (memory.front.name, memory.front.description);
        Some(Self {
            name: name.filter(|name| !name.trim().is_empty()).unwrap_or(given),
            description: description.unwrap_or_default(),
            text: Some(memory.body.trim().to_owned()).filter(|body| !body.is_empty()),
            path: Some(path),
        })
    }
}

/// All styles, later ones over earlier ones of the same name: our own, those
/// of plugins under the names of these, the person's, the repository's.
pub(crate) fn styles(
    home: &Path,
    trust: &Trust,
    plugins: &[Plugin],
    limits: &SkillLimits,
) -> Vec<OutputStyle> {
    let mut found = vec![
        OutputStyle::built_in(DEFAULT_STYLE, "the model's own style", None),
        OutputStyle::built_in(
            "concise",
            "the outcome first, and little else",
            Some(include_str!("styles/concise.md")),
        ),
        OutputStyle::built_in(
            "explanatory",
            "with the reasons for what is done",
            Some(include_str!("styles/explanatory.md")),
        ),
        OutputStyle::built_in(
            "learning",
            "leaves the instructive parts of the work to you",
            Some(include_str!("styles/learning.md")),
        ),
    ];
    for plugin in plugins {
        let read = plugin.styles.iter().filter_map(|path| OutputStyle::read(path.clone(), limits));
        found.extend(
            read.map(|style| OutputStyle { name: scoped(&plugin.name, &style.name), ..style }),
        );
    }
    let bounds = trust.bounds();
    let of_tree = trust.agent_dir().map(|dir| (dir.join(DIR), Some(&bounds)));
    for (dir, bounds) in [(home.join(DIR), None)].into_iter().chain(of_tree) {
        let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        paths.retain(|path| path.extension().is_some_and(|it| it.eq_ignore_ascii_case("md")));
        // What leads out of a tree is not the tree's (S9).
        paths.retain(|path| {
            bounds.is_none_or(|tree| path.canonicalize().is_ok_and(|real| tree.holds(&real)))
        });
        paths.sort();
        for style in paths.into_iter().take(limits.per_directory) {
            let Some(style) = OutputStyle::read(style, limits) else { continue };
            found.retain(|known| !known.name.eq_ignore_ascii_case(&style.name));
            found.push(style);
        }
    }
    found
}

/// What a setting says: the text of the style that it names, else itself.
pub(crate) fn resolve(setting: &str, styles: &[OutputStyle]) -> Option<String> {
    match styles.iter().find(|style| style.name.eq_ignore_ascii_case(setting.trim())) {
        Some(style) => style.text.clone(),
        None => Some(setting.to_owned()),
    }
}
