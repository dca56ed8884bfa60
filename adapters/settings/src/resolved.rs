//! All sources together (C4): read, checked, merged, explained.

use crate::check;
use crate::environment::{self, Ambient, Variables};
use crate::error::Error;
use crate::layout::{self, Home};
use crate::merge::{Layer, MergedSettings, merge};
use crate::origin::{ValueOrigin, dotted, segments};
use crate::refuse::{self, Judge, Refused, Tracked};
use crate::schema;
use crate::source::{Document, Extra, read_capped};
use crate::trust::Trust;
use everfold_kernel::Settings;
use everfold_kernel::settings::PermissionMode;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// Everything that settings are read from.
#[derive(Clone, Debug)]
pub struct SettingsInputs<'a> {
    /// The home directory.
    pub home: &'a Home,
    /// The git root, else the working directory.
    pub repo: &'a Path,
    /// Whether git tracks the repository's local settings.
    pub local_is_tracked: Tracked,
    /// What a person said of the repository; none: it is not trusted.
    pub trust: Option<&'a Trust>,
    /// What `--settings` was given.
    pub extra: Option<&'a Extra>,
    /// The environment.
    pub variables: &'a Variables,
    /// Settings from the command line, made with [`Layer::flag`].
    pub flags: &'a [Layer],
    /// The managed settings: [`layout::Platform::managed_settings`].
    pub managed: &'a Path,
    /// What becomes of a repository's file that is broken.
    pub broken: BrokenFiles,
}

/// What becomes of a repository's settings file that is broken, by comments for
/// example, which other programs take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BrokenFiles {
    /// It is an error.
    #[default]
    Refused,
    /// It is passed over, with a line in the log: who runs inside of another
    /// program must not fail by that program's files (X1).
    PassedOver,
}

/// Settings with the origin of every value.
#[derive(Clone, Debug)]
pub struct Resolved {
    /// The settings.
    pub settings: Settings,
    /// The merged object, with keys that nobody knows.
    pub value: Value,
    /// The last source that set each leaf, by JSON pointer.
    pub origins: BTreeMap<String, ValueOrigin>,
    /// Keys that nobody knows.
    pub unknown: Vec<(String, ValueOrigin)>,
    /// Values that were not taken over (S2).
    pub refused: Vec<Refused>,
    /// What the environment says beside settings.
    pub ambient: Ambient,
    layers: Vec<Layer>,
}

/// Reads and merges all sources.
///
/// # Errors
/// An [`Error`] that names the file, line, column and key, or the variable or
/// flag, that is wrong. A file that is not there is no error, except the one
/// of `--settings`.
pub fn load(inputs: &SettingsInputs<'_>) -> Result<Resolved, Error> {
    let mut reading = Reading { trust: inputs.trust, ..Reading::default() };
    let home = inputs.home.settings();
    let project = layout::project_settings(inputs.repo);
    reading.file(&home, ValueOrigin::Home(home.clone()), Whose::Own)?;
    // The repository may be the home directory itself, with the home at
    // `~/.claude`: then this file was read just now, and is the person's own.
    if !same_file(&home, &project) {
        let origin = ValueOrigin::Project(project.clone());
        reading.of_repository(&project, origin, Whose::Repository, inputs.broken)?;
    }
    let local = layout::local_settings(inputs.repo);
    let whose = match inputs.local_is_tracked {
        Tracked::Yes => Whose::Repository,
        Tracked::No => Whose::Own,
    };
    reading.of_repository(&local, ValueOrigin::Local(local.clone()), whose, inputs.broken)?;
    match inputs.extra {
        Some(Extra::File(path)) => {
            let document = Document::read(path)?.ok_or_else(|| Error::Unreadable {
                path: path.clone(),
                source: std::io::ErrorKind::NotFound.into(),
            })?;
            reading.document(document, ValueOrigin::File(path.clone()), Whose::Own)?;
        }
        Some(Extra::Inline(text)) => {
            let document = Document::parse("--settings".to_owned(), text)?;
            reading.document(document, ValueOrigin::Inline, Whose::Own)?;
        }
        None => {}
    }
    let environment = environment::read(inputs.variables)?;
    reading.layers.extend(environment.layers);
    reading.unknown.extend(environment.unknown);
    for layer in inputs.flags {
        check_flag(layer)?;
        reading.layers.push(layer.clone());
    }
    let managed = inputs.managed.to_owned();
    reading.file(&managed, ValueOrigin::Managed(managed.clone()), Whose::Own)?;
    reading.resolve(environment.ambient)
}

fn same_file(one: &Path, other: &Path) -> bool {
    match (one.canonicalize(), other.canonicalize()) {
        (Ok(one), Ok(other)) => one == other,
        _ => one == other,
    }
}

/// Whether a file that cannot be parsed seems to switch memories off.
fn says_no_memory(path: &Path) -> bool {
    let bytes = read_capped(path).ok().flatten().unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    text.split("\"autoMemoryEnabled\"").skip(1).any(|rest| {
        let value = rest.trim_start().strip_prefix(':').unwrap_or_default();
        value.trim_start().starts_with("false")
    })
}

fn check_flag(layer: &Layer) -> Result<(), Error> {
    match check::check(&layer.value) {
        Ok(_) => Ok(()),
        Err(wrong) => Err(Error::Flag { flag: layer.origin.to_string(), reason: wrong.reason }),
    }
}

/// Whose file it is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Whose {
    /// The person's or the administrator's.
    Own,
    /// It came with the repository.
    Repository,
}

#[derive(Default)]
struct Reading<'a> {
    trust: Option<&'a Trust>,
    layers: Vec<Layer>,
    unknown: Vec<(String, ValueOrigin)>,
    refused: Vec<Refused>,
}

impl Reading<'_> {
    fn file(&mut self, path: &Path, origin: ValueOrigin, whose: Whose) -> Result<(), Error> {
        match Document::read(path)? {
            Some(document) => self.document(document, origin, whose),
            None => Ok(()),
        }
    }

    /// A file that lies in the repository. Of one that is passed over, the word
    /// that nothing is to be remembered still counts.
    fn of_repository(
        &mut self,
        path: &Path,
        origin: ValueOrigin,
        whose: Whose,
        broken: BrokenFiles,
    ) -> Result<(), Error> {
        match self.file(path, origin.clone(), whose) {
            Err(error) if broken == BrokenFiles::PassedOver => {
                tracing::warn!(%error, "a settings file is passed over");
                if says_no_memory(path) {
                    let value = serde_json::json!({ "autoMemoryEnabled": false });
                    self.layers.push(Layer { origin, value });
                }
                Ok(())
            }
            other => other,
        }
    }

    fn document(
        &mut self,
        mut document: Document,
        origin: ValueOrigin,
        whose: Whose,
    ) -> Result<(), Error> {
        if let (Whose::Repository, ValueOrigin::Project(path) | ValueOrigin::Local(path)) =
            (whose, &origin)
        {
            let judge = Judge { path, trust: self.trust, below: self.mode() };
            let refused = refuse::refuse(&mut document.value, &origin, &judge);
            self.refused.extend(refused);
        }
        let foreign = refuse::refuse_foreign_mode(&mut document.value, &origin);
        self.refused.extend(foreign);
        let checked = document.check()?;
        let unknown = checked.unknown.into_iter();
        self.unknown.extend(unknown.map(|pointer| (pointer, origin.clone())));
        self.layers.push(Layer { origin, value: document.value });
        Ok(())
    }

    /// The permission mode that the layers read so far ask for.
    fn mode(&self) -> PermissionMode {
        let merged = merge(&self.layers);
        let mode = merged.value.pointer("/permissions/defaultMode").cloned();
        mode.and_then(|mode| serde_json::from_value(mode).ok()).unwrap_or_default()
    }

    fn resolve(self, ambient: Ambient) -> Result<Resolved, Error> {
        let (settings, merged) = settle(&self.layers)?;
        Ok(Resolved {
            settings,
            value: merged.value,
            origins: merged.origins,
            unknown: self.unknown,
            refused: self.refused,
            ambient,
            layers: self.layers,
        })
    }
}

fn settle(layers: &[Layer]) -> Result<(Settings, MergedSettings), Error> {
    let merged = merge(layers);
    let checked = check::check(&merged.value)
        .map_err(|wrong| Error::Merge { key: dotted(&wrong.pointer), reason: wrong.reason })?;
    Ok((checked.settings, merged))
}

/// Puts a layer where its rank says.
fn put(layers: &mut Vec<Layer>, layer: Layer) {
    let at = layers.partition_point(|old| old.origin.rank() <= layer.origin.rank());
    layers.insert(at, layer);
}

impl Resolved {
    /// The same settings with what the flag provider says now: above files,
    /// below environment, command line and managed settings (Q3).
    ///
    /// # Errors
    /// [`Error::Flag`] if the provider's answer does not have the shape of
    /// flags and limits.
    pub fn with_provider(&self, flags: &Value, limits: &Value) -> Result<Self, Error> {
        let everfold = serde_json::json!({ "everfold": { "flags": flags, "limits": limits } });
        let layer = Layer { origin: ValueOrigin::Provider, value: everfold };
        check_flag(&layer)?;
        let mut layers = self.layers.clone();
        layers.retain(|old| old.origin != ValueOrigin::Provider);
        put(&mut layers, layer);
        self.of_layers(layers)
    }

    /// The same settings with what an earlier reading had besides: what the
    /// provider said, and files that are gone, which are named.
    pub(crate) fn with_missing_of(&self, before: &Self) -> Result<(Self, Vec<ValueOrigin>), Error> {
        let (mut layers, mut gone) = (self.layers.clone(), Vec::new());
        for old in &before.layers {
            if self.layers.iter().any(|own| own.origin == old.origin) {
                continue;
            }
            put(&mut layers, old.clone());
            if old.origin != ValueOrigin::Provider {
                gone.push(old.origin.clone());
            }
        }
        Ok((self.of_layers(layers)?, gone))
    }

    fn of_layers(&self, layers: Vec<Layer>) -> Result<Self, Error> {
        let (settings, merged) = settle(&layers)?;
        Ok(Self {
            settings,
            value: merged.value,
            origins: merged.origins,
            unknown: self.unknown.clone(),
            refused: self.refused.clone(),
            ambient: self.ambient.clone(),
            layers,
        })
    }

    /// Who set the value at this pointer; the default if nobody did.
    #[must_use]
    pub fn origin(&self, pointer: &str) -> &ValueOrigin {
        self.origins.get(pointer).unwrap_or(&ValueOrigin::Default)
    }

    /// Every key with its value and origin, for `everfold config`: in the order
    /// of the schema, defaults included, then keys that nobody knows.
    pub fn explain(&self) -> impl Iterator<Item = SettingRow> + '_ {
        let keys = schema::keys(&schema::settings_schema());
        let mut rest: Vec<&String> = self.origins.keys().collect();
        // The tenth element of a list comes after the second.
        rest.sort_by_cached_key(|pointer| {
            let parts = segments(pointer).map(|part| (part.parse::<usize>().ok(), part));
            parts.collect::<Vec<_>>()
        });
        let mut rows = Vec::new();
        for key in keys {
            let below = format!("{}/", key.pointer);
            let (set, others): (Vec<&String>, Vec<&String>) =
                rest.into_iter().partition(|at| **at == key.pointer || at.starts_with(&below));
            rest = others;
            if set.is_empty() {
                rows.push(SettingRow {
                    key: dotted(&key.pointer),
                    value: key.default,
                    origin: ValueOrigin::Default,
                });
            }
            rows.extend(set.into_iter().map(|pointer| self.row(pointer)));
        }
        rows.extend(rest.into_iter().map(|pointer| self.row(pointer)));
        rows.into_iter()
    }

    fn row(&self, pointer: &str) -> SettingRow {
        let secret = HIDDEN.iter().any(|start| pointer.starts_with(start));
        let value = if secret {
            Value::from("(hidden)")
        } else {
            self.value.pointer(pointer).cloned().unwrap_or_default()
        };
        SettingRow { key: dotted(pointer), value, origin: self.origin(pointer).clone() }
    }
}

/// Values that may hold keys, and are not shown (S5).
const HIDDEN: &[&str] = &["/env/", "/everfold/provider/headers/"];

/// One line of `everfold config`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SettingRow {
    /// The key, with dots.
    pub key: String,
    /// Its value; null where nothing is set and nothing is the default.
    pub value: Value,
    /// Who set it.
    pub origin: ValueOrigin,
}
