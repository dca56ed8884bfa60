//! Permission rules that a person keeps for a project.

use crate::agent::Agent;
use everfold_disk::atomic::{self, FileReaders};
use everfold_disk::read_regular_text;
use everfold_engine::permit::{Places, Rule};
use everfold_settings::layout::local_settings;
use everfold_settings::source::SETTINGS_FILE_BYTES;
use everfold_settings::splice::Splice;
use everfold_settings::trust::{drop_own_rule, keep_own_rule};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Where rules stand that need no question.
const ALLOW: [&str; 2] = ["permissions", "allow"];

impl Agent {
    /// Allows what a rule covers in this project from now on: it is written to
    /// `.claude/settings.local.json`, with every other byte of it as it was, and
    /// noted under the home as this person's word. Sessions that run are told by
    /// the answer "always". Gives the file.
    ///
    /// # Errors
    /// Why it was not written, in words for a person.
    pub fn keep_rule(&self, rule: &str) -> Result<PathBuf, String> {
        Rule::parse(rule, &Places::default()).map_err(|error| error.to_string())?;
        let path = local_settings(&self.config().workplace.project);
        let shown = path.display();
        if self.trust().agent_dir().is_none() {
            let home = self.home().settings();
            return Err(format!("{shown} is in your home; write it to {}", home.display()));
        }
        // A repository could bring a link in the place of the directory (S2).
        let inside = |dir: &Path| dir.canonicalize().ok();
        if let Some(dir) = path.parent().filter(|dir| dir.exists())
            && !inside(dir).is_some_and(|dir| {
                inside(&self.config().workplace.project).is_some_and(|root| dir.starts_with(root))
            })
        {
            return Err(format!("{} leads out of the project", dir.display()));
        }
        let text = match read_regular_text(&path, SETTINGS_FILE_BYTES) {
            Ok(text) => text,
            Err(everfold_disk::Error::NotFound { .. }) => String::new(),
            Err(error) => return Err(format!("it cannot be read: {error}")),
        };
        let mut splice = Splice::new(&text).map_err(|broken| {
            format!("{shown} is broken at byte {}: {} is missing", broken.at, broken.wanted)
        })?;
        let rule_text = rule;
        let rule = Value::from(rule);
        match splice.value(&ALLOW) {
            Some(Value::Array(rules)) if rules.contains(&rule) => {}
            Some(Value::Array(_)) | None => splice.push(&ALLOW, &rule),
            Some(_) => return Err(format!("permissions.allow in {shown} is no list")),
        }
        // What stands in a tree is not the person's own; this rule is (S9).
        keep_own_rule(self.home(), self.trust().root(), rule_text)
            .map_err(|error| format!("failed to {error}"))?;
        atomic::write(&path, splice.text.as_bytes(), FileReaders::Umask)
            .map_err(|error| format!("{shown} cannot be written: {error}"))?;
        Ok(path)
    }

    /// Takes a rule back that [`Self::keep_rule`] wrote (U3). Gives the file
    /// where it stood; none where it stands in no file of this person for this
    /// project.
    ///
    /// # Errors
    /// Why it was not taken out, in words for a person.
    pub fn drop_rule(&self, rule: &str) -> Result<Option<PathBuf>, String> {
        let path = local_settings(&self.config().workplace.project);
        let shown = path.display();
        let text = match read_regular_text(&path, SETTINGS_FILE_BYTES) {
            Ok(text) => text,
            Err(everfold_disk::Error::NotFound { .. }) => return Ok(None),
            Err(error) => return Err(format!("it cannot be read: {error}")),
        };
        let mut splice = Splice::new(&text).map_err(|broken| {
            format!("{shown} is broken at byte {}: {} is missing", broken.at, broken.wanted)
        })?;
        let meant = Value::from(rule);
        let stands =
            matches!(splice.value(&ALLOW), Some(Value::Array(rules)) if rules.contains(&meant));
        if !stands {
            return Ok(None);
        }
        splice.remove_elements(&ALLOW, &|found| *found == meant);
        drop_own_rule(self.home(), self.trust().root(), rule)
            .map_err(|error| format!("failed to {error}"))?;
        atomic::write(&path, splice.text.as_bytes(), FileReaders::Umask)
            .map_err(|error| format!("{shown} cannot be written: {error}"))?;
        Ok(Some(path))
    }
}
