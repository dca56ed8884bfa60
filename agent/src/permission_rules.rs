//! Permission rules that a person keeps for a project.

use crate::agent::Agent;
use everfold_disk::atomic::{self, FileReaders};
use everfold_disk::read_regular_text;
use everfold_engine::permit::{Places, Rule, RuleError};
use everfold_kernel::{Class, Classify};
use everfold_settings::layout::local_settings;
use everfold_settings::source::SETTINGS_FILE_BYTES;
use everfold_settings::splice::Splice;
use everfold_settings::trust::{drop_own_rule, keep_own_rule};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Where rules stand that need no question.
const ALLOW: [&str; 2] = ["permissions", "allow"];

/// Why a rule was not kept or taken back, in words for a person.
#[derive(Debug, thiserror::Error)]
pub enum KeepRuleError {
    /// It is no rule.
    #[error(transparent)]
    Rule(#[from] RuleError),
    /// The project is the person's home, whose settings are their own.
    #[error("{} is in your home; write it to {}", .path.display(), .home.display())]
    InHome {
        /// The file of the project.
        path: PathBuf,
        /// The person's settings.
        home: PathBuf,
    },
    /// A link stands in the place of the directory.
    #[error("{} leads outside of the project", .0.display())]
    LeadsOut(PathBuf),
    /// The file is there, and cannot be read.
    #[error("it cannot be read: {0}")]
    Read(#[source] everfold_disk::Error),
    /// The file is not JSON.
    #[error("{} is broken at byte {at}: {wanted} is missing", .path.display())]
    Broken {
        /// The file.
        path: PathBuf,
        /// Where.
        at: usize,
        /// What should stand there.
        wanted: String,
    },
    /// The list of rules is something else.
    #[error("permissions.allow in {} is not a list", .0.display())]
    NoList(PathBuf),
    /// That it is this person's word could not be noted.
    #[error("failed to {0}")]
    Trust(#[from] everfold_settings::Error),
    /// The file cannot be written.
    #[error("{} cannot be written: {error}", .path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        error: everfold_disk::Error,
    },
}

impl Classify for KeepRuleError {
    fn class(&self) -> Class {
        Class::Refuse
    }
}

impl Agent {
    /// Allows what a rule covers in this project from now on: it is written to
    /// `.claude/settings.local.json`, with every other byte of it as it was, and
    /// noted under the home as this person's word. Sessions that run are told by
    /// the answer "always". Gives the file.
    ///
    /// # Errors
    /// Why it was not written.
    pub fn keep_rule(&self, rule: &str) -> Result<PathBuf, KeepRuleError> {
        Rule::parse(rule, &Places::default())?;
        let path = local_settings(&self.config().workplace.project);
        if self.trust().agent_dir().is_none() {
            let home = self.home().settings();
            return Err(KeepRuleError::InHome { path, home });
        }
        // A repository could bring a link in the place of the directory (S2).
        let inside = |dir: &Path| dir.canonicalize().ok();
        if let Some(dir) = path.parent().filter(|dir| dir.exists())
            && !inside(dir).is_some_and(|dir| {
                inside(&self.config().workplace.project).is_some_and(|root| dir.starts_with(root))
            })
        {
            return Err(KeepRuleError::LeadsOut(dir.to_owned()));
        }
        let text = match read_regular_text(&path, SETTINGS_FILE_BYTES) {
            Ok(text) => text,
            Err(everfold_disk::Error::NotFound { .. }) => String::new(),
            Err(error) => return Err(KeepRuleError::Read(error)),
        };
        let mut splice = opened(&path, &text)?;
        let rule_text = rule;
        let rule = Value::from(rule);
        match splice.value(&ALLOW) {
            Some(Value::Array(rules)) if rules.contains(&rule) => {}
            Some(Value::Array(_)) | None => splice.push(&ALLOW, &rule),
            Some(_) => return Err(KeepRuleError::NoList(path)),
        }
        // What stands in a tree is not the person's own; this rule is (S9).
        keep_own_rule(self.home(), self.trust().root(), rule_text)?;
        written(&path, &splice)?;
        Ok(path)
    }

    /// Takes a rule back that [`Self::keep_rule`] wrote (U3). Gives the file
    /// where it stood; none where it stands in no file of this person for this
    /// project.
    ///
    /// # Errors
    /// Why it was not taken out.
    pub fn drop_rule(&self, rule: &str) -> Result<Option<PathBuf>, KeepRuleError> {
        let path = local_settings(&self.config().workplace.project);
        let text = match read_regular_text(&path, SETTINGS_FILE_BYTES) {
            Ok(text) => text,
            Err(everfold_disk::Error::NotFound { .. }) => return Ok(None),
            Err(error) => return Err(KeepRuleError::Read(error)),
        };
        let mut splice = opened(&path, &text)?;
        let meant = Value::from(rule);
        let stands =
            matches!(splice.value(&ALLOW), Some(Value::Array(rules)) if rules.contains(&meant));
        if !stands {
            return Ok(None);
        }
        splice.remove_elements(&ALLOW, &|found| *found == meant);
        drop_own_rule(self.home(), self.trust().root(), rule)?;
        written(&path, &splice)?;
        Ok(Some(path))
    }
}

fn opened(path: &Path, text: &str) -> Result<Splice, KeepRuleError> {
    Splice::new(text).map_err(|broken| KeepRuleError::Broken {
        path: path.to_owned(),
        at: broken.at,
        wanted: broken.wanted.to_string(),
    })
}

fn written(path: &Path, splice: &Splice) -> Result<(), KeepRuleError> {
    let done = atomic::write(path, splice.text.as_bytes(), FileReaders::Umask);
    done.map_err(|error| KeepRuleError::Write { path: path.to_owned(), error })
}
