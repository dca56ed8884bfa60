//! All sources together (C4): read, checked, merged, explained.

use crate::check::{self, Checked};
use crate::environment::{self, Ambient, Variables};
use crate::error::Error;
use crate::layout::{self, Home};
use crate::merge::{Layer, MergedSettings, merge};
use crate::origin::{ValueOrigin, dotted, segments};
use crate::refuse::{self, Judge, Refused};
use crate::schema;
use crate::source::{Document, Extra, read_capped};
use crate::trust::{AgentDirOwner, Trust};
use everfold_kernel::Settings;
use everfold_kernel::settings::PermissionMode;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// Everything that settings are read from.
#[derive(Clone, Debug)]
pub struct SettingsInputs<'a> {
    pub home: &'a Home,
    /// The working tree, and what a person said of it.
    pub trust: &'a Trust,
    /// What `--settings` was given.
    pub extra: Option<&'a Extra>,
    pub variables: &'a Variables,
    /// Settings from the command line, made with [`Layer::flag`].
    pub flags: &'a [Layer],
    /// The managed settings: [`layout::Platform::managed_settings`].
    pub managed: &'a Path,
    /// What becomes of a person's own file that is broken.
    pub broken: BrokenFiles,
}

/// What becomes of a person's own settings file that is broken. One of a tree
/// never stops anything: what is wrong in it is left out, and told (S14).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BrokenFiles {
    /// It is an error: what it denies must not be forgotten.
    #[default]
    Refused,
    /// It is passed over, and told: who only looks must be able to, above all
    /// at what is wrong.
    PassedOver,
}

/// Settings with the origin of every value.
#[derive(Clone, Debug)]
pub struct Resolved {
    pub settings: Settings,
    /// The merged object, with keys that nobody knows.
    pub value: Value,
    /// The last source that set each leaf, by JSON pointer.
    pub origins: BTreeMap<String, ValueOrigin>,
    /// Keys that nobody knows.
    pub unknown: Vec<(String, ValueOrigin)>,
    /// Values that were not taken over (S2).
    pub refused: Vec<Refused>,
    /// What is wrong in files of the tree that were passed over, in parts of
    /// them, or with what settings name (S14).
    pub problems: Vec<String>,
    /// The person's own files that are broken and were passed over.
    pub passed_over: Vec<String>,
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
    let mut reading = Reading::new(inputs.trust, inputs.broken);
    let home = inputs.home.settings();
    reading.own_file(&home, ValueOrigin::Home(home.clone()))?;
    let tree = inputs.trust.tree();
    let project = layout::project_settings(&tree.root);
    let local = layout::local_settings(&tree.root);
    match tree.owner(&tree.agent_dir()) {
        AgentDirOwner::Tree => {
            reading.tree_file(&project, ValueOrigin::Project(project.clone()));
            reading.tree_file(&local, ValueOrigin::Local(local.clone()));
        }
        // The tree is the home directory, with the home at `~/.claude`: one of
        // the two was read just now, and both are the person's own.
        AgentDirOwner::Home => reading.own_file(&local, ValueOrigin::Local(local.clone()))?,
        AgentDirOwner::Person => {}
    }
    reading.extra(inputs.extra)?;
    let environment = environment::read(inputs.variables)?;
    reading.layers.extend(environment.layers);
    reading.unknown.extend(environment.unknown);
    for layer in inputs.flags {
        check_flag(layer)?;
        reading.layers.push(layer.clone());
    }
    let managed = inputs.managed.to_owned();
    reading.own_file(&managed, ValueOrigin::Managed(managed.clone()))?;
    reading.resolve(environment.ambient)
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

struct Reading<'a> {
    trust: &'a Trust,
    broken: BrokenFiles,
    layers: Vec<Layer>,
    unknown: Vec<(String, ValueOrigin)>,
    refused: Vec<Refused>,
    problems: Vec<String>,
    passed_over: Vec<String>,
}

impl<'a> Reading<'a> {
    fn new(trust: &'a Trust, broken: BrokenFiles) -> Self {
        let (layers, unknown, refused) = (Vec::new(), Vec::new(), Vec::new());
        let problems = trust.problem().map(str::to_owned).into_iter().collect();
        Self { trust, broken, layers, unknown, refused, problems, passed_over: Vec::new() }
    }

    /// A file of the person or of an administrator.
    fn own_file(&mut self, path: &Path, origin: ValueOrigin) -> Result<(), Error> {
        let read = Document::read(path).and_then(|document| match document {
            Some(document) => self.own_document(document, origin.clone()),
            None => Ok(()),
        });
        match (read, self.broken) {
            (Err(error), BrokenFiles::PassedOver) => {
                self.passed_over.push(format!("failed to {error}"));
                self.without(path, &error, origin);
                Ok(())
            }
            (read, _) => read,
        }
    }

    fn own_document(&mut self, mut document: Document, origin: ValueOrigin) -> Result<(), Error> {
        let foreign = refuse::refuse_foreign_mode(&mut document.value, &origin);
        let checked = document.check()?;
        self.refused.extend(foreign);
        self.take(document, checked, origin);
        Ok(())
    }

    /// What `--settings` was given. A person named it, wherever it lies.
    fn extra(&mut self, extra: Option<&Extra>) -> Result<(), Error> {
        match extra {
            Some(Extra::File(path)) => {
                let document = Document::read(path)?.ok_or_else(|| Error::Unreadable {
                    path: path.clone(),
                    source: std::io::ErrorKind::NotFound.into(),
                })?;
                self.own_document(document, ValueOrigin::File(path.clone()))
            }
            Some(Extra::Inline(text)) => {
                let document = Document::parse("--settings".to_owned(), text)?;
                self.own_document(document, ValueOrigin::Inline)
            }
            None => Ok(()),
        }
    }

    /// A file of the tree: it says what it may, and never stops anything. Not
    /// even the words of one that leads out of the tree are taken unasked.
    fn tree_file(&mut self, path: &Path, origin: ValueOrigin) {
        let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        if !self.trust.bounds().holds(&real) {
            let (path, real) = (path.display(), real.display());
            self.problems.push(format!("{path} was not read: it leads to {real}"));
            return;
        }
        let mut document = match Document::read(path) {
            Ok(Some(document)) => document,
            Ok(None) => return,
            Err(error) => {
                self.problems.push(format!("failed to {error}"));
                return self.without(path, &error, origin);
            }
        };
        let judge = Judge { path, trust: self.trust, below: self.mode() };
        let refused = refuse::refuse(&mut document.value, &origin, &judge);
        self.refused.extend(refused);
        self.refused.extend(refuse::refuse_foreign_mode(&mut document.value, &origin));
        let (checked, faults) = document.check_without_faults();
        self.problems.extend(faults.iter().map(|fault| format!("failed to {fault}")));
        self.take(document, checked, origin);
    }

    fn take(&mut self, document: Document, checked: Checked, origin: ValueOrigin) {
        let unknown = checked.unknown.into_iter();
        self.unknown.extend(unknown.map(|pointer| (pointer, origin.clone())));
        self.layers.push(Layer { origin, value: document.value });
    }

    /// Goes on without a file. Its word that nothing is to be remembered counts
    /// all the same.
    fn without(&mut self, path: &Path, error: &Error, origin: ValueOrigin) {
        tracing::warn!(%error, "a settings file is passed over");
        if says_no_memory(path) {
            let value = serde_json::json!({ "autoMemoryEnabled": false });
            self.layers.push(Layer { origin, value });
        }
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
            problems: self.problems,
            passed_over: self.passed_over,
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
            problems: self.problems.clone(),
            passed_over: self.passed_over.clone(),
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
    pub origin: ValueOrigin,
}
