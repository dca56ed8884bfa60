//! The order in which rules, modes and places decide about a call.

use super::command_rule::Touch;
use super::{CommandUse, Footprint, Permit, Places, Verdict, credentials, remit};
use everfold_kernel::ports::{
    Asks, BarredFiles, CallRole, CommandEffect, FileMention, FileTouch, Presence, Reads,
};
use everfold_kernel::settings::PermissionMode;
use std::path::{Path, PathBuf};

/// Parts of a working directory through which a repository could act later:
/// hooks, settings, servers. They are changed only after asking.
const GUARDED: &[&str] = &[".git", ".claude", ".everfold", ".mcp.json"];

impl Permit {
    /// Decides about a call.
    #[must_use]
    pub fn decide(&self, tool: &str, deed: &Footprint) -> Verdict {
        Decision { permit: self }.decide(tool, deed)
    }
}

/// A decision under way.
struct Decision<'a> {
    permit: &'a Permit,
}

impl Decision<'_> {
    fn decide(&self, tool: &str, deed: &Footprint) -> Verdict {
        let mut unsure = None;
        for rule in self.permit.deny.iter().chain(&self.permit.deny_now) {
            match rule.touches(tool, deed) {
                Touch::Yes => return deny(format!("the rule {rule} denies it")),
                Touch::Could => unsure = unsure.or(Some(rule)),
                Touch::No => {}
            }
        }
        let bypass = self.permit.mode == PermissionMode::BypassPermissions;
        // Where nobody is asked, what cannot be told is denied with the rest.
        if let Some(rule) = unsure.filter(|_| bypass || !self.permit.is_watched()) {
            let reason = "denies part of what it could do; write it more plainly";
            return deny(format!("the rule {rule} {reason}"));
        }
        let secret = self.secret(tool, deed);
        if !self.permit.is_watched()
            && let Some(refused) = self.unseen(deed, secret.as_deref())
        {
            return refused;
        }
        if let Some(remit) = &self.permit.remit {
            return remit.decide(tool, deed);
        }
        if let (Footprint::Command(_), Some(why)) = (deed, &self.permit.places.unheld) {
            return self.unheld(tool, deed, why);
        }
        if bypass {
            return self.bypassed(deed);
        }
        if self.permit.mode == PermissionMode::Plan
            && let Some(verdict) = self.planned(deed)
        {
            return verdict;
        }
        let always = matches!(deed, Footprint::Server { asks: Asks::Always, .. });
        let asked = self.permit.ask.iter().any(|rule| rule.touches(tool, deed) != Touch::No);
        let walks = self.permit.is_watched() && !matches!(walks_into_barred(deed), Walks::Nowhere);
        let exact = self.is_granted_exactly(tool, deed);
        let asks = always || asked || unsure.is_some() || (secret.is_some() || walks) && !exact;
        if !asks && (exact || self.allows(tool, deed) || self.is_free(deed)) {
            return Verdict::Allow;
        }
        self.permit.question(tool, deed)
    }

    /// What is refused to who is not watched, whatever rules and modes say.
    fn unseen(&self, deed: &Footprint, secret: Option<&Path>) -> Option<Verdict> {
        if let Some(path) = secret {
            let reason = "holds credentials, which are not for this task";
            return Some(deny(format!("{} {reason}", path.display())));
        }
        match walks_into_barred(deed) {
            // What is in the working directories is hidden by the sandbox.
            Walks::Barred(path) if !self.permit.places.in_roots(&path) => {
                Some(deny(format!("{} is not for this task", path.display())))
            }
            Walks::Unknown => {
                Some(deny("it covers more files than can be checked first".to_owned()))
            }
            _ => None,
        }
    }

    /// A sandbox that is wanted and not to be had is asked about (S12).
    fn unheld(&self, tool: &str, deed: &Footprint, why: &str) -> Verdict {
        match self.permit.mode {
            PermissionMode::BypassPermissions => {
                deny(format!("commands must run in a sandbox, and {why}"))
            }
            PermissionMode::Plan => {
                self.planned(deed).unwrap_or_else(|| self.permit.question(tool, deed))
            }
            _ => self.permit.question(tool, deed),
        }
    }

    /// What rules deny stays denied where nothing is asked.
    fn bypassed(&self, deed: &Footprint) -> Verdict {
        match walks_into_barred(deed) {
            Walks::Barred(path) if self.permit.is_watched() => {
                deny(format!("it would read {}, which a rule denies", path.display()))
            }
            _ => Verdict::Allow,
        }
    }

    /// What plan mode says before anything else does: it only reads.
    fn planned(&self, deed: &Footprint) -> Option<Verdict> {
        let only = "plan mode only reads; finish the plan first";
        match deed {
            Footprint::Edit(path) if self.permit.plan_file.as_ref() == Some(path) => {
                Some(Verdict::Allow)
            }
            Footprint::Edit(_) | Footprint::Server { reads: Reads::Perhaps, .. } => {
                Some(deny(only.to_owned()))
            }
            Footprint::Command(used) => match &used.outline.effect {
                CommandEffect::Reads => None,
                CommandEffect::Acts(reason) => Some(deny(format!("{only} ({reason})"))),
            },
            _ => None,
        }
    }

    /// Credentials that a call would touch and that no rule of the person
    /// names. For who is not watched no rule opens them.
    fn secret(&self, tool: &str, deed: &Footprint) -> Option<PathBuf> {
        let person = || self.permit.allow.iter().chain(&self.permit.granted);
        let is_secret = |path: &Path| {
            credentials::is_credential(path, self.permit.places.homes())
                && !(self.permit.is_watched() && person().any(|rule| rule.opens(path)))
        };
        match deed {
            Footprint::Read(path) | Footprint::Edit(path) => is_secret(path).then(|| path.clone()),
            Footprint::Command(used) => {
                let by_name = self.permit.is_watched()
                    && person().any(|rule| rule.is_exactly(tool, &used.text));
                let files = used.outline.files.iter().filter(|file| self.counts(file));
                let mut secrets = files.map(|file| &file.path).filter(|path| is_secret(path));
                secrets.next().filter(|_| !by_name).cloned()
            }
            _ => None,
        }
    }

    /// Whether a file that a command names is one that it could read: a word
    /// that names nothing in the working directories is a word.
    fn counts(&self, file: &FileMention) -> bool {
        let open = file.path.to_string_lossy().contains('*');
        let written =
            matches!(file.touch, FileTouch::Written | FileTouch::Changed | FileTouch::ChangedTree);
        let read = !written && file.presence == Presence::There;
        read || open || !self.permit.places.in_roots(&file.path)
    }

    /// Whether a rule of the person is for exactly this call.
    fn is_granted_exactly(&self, tool: &str, deed: &Footprint) -> bool {
        let Footprint::Command(used) = deed else { return false };
        let mut rules = self.permit.allow.iter().chain(&self.permit.granted);
        rules.any(|rule| rule.is_exactly(tool, &used.text))
    }

    /// Whether rules allow all that a call does.
    fn allows(&self, tool: &str, deed: &Footprint) -> bool {
        let rules =
            || self.permit.allow.iter().chain(&self.permit.granted).chain(&self.permit.allow_now);
        if rules().any(|rule| rule.covers(tool, deed)) {
            return true;
        }
        let Footprint::Command(used) = deed else { return false };
        let Some(calls) = &used.outline.plain else { return false };
        let mut read_freely = true;
        let all = calls.iter().filter(|call| call.role != CallRole::Wrapper).all(|call| {
            let covered = rules().any(|rule| rule.covers_call(tool, call));
            let reads = call.effect == CommandEffect::Reads;
            read_freely &= covered || self.reads_freely(used);
            covered || reads
        });
        all && !calls.is_empty() && read_freely
    }

    /// Whether a call needs no question.
    fn is_free(&self, deed: &Footprint) -> bool {
        match deed {
            Footprint::Nothing => true,
            Footprint::Read(path) => self.permit.places.is_readable(path),
            Footprint::Edit(path) => {
                let accepted = self.permit.mode == PermissionMode::AcceptEdits
                    && self.permit.places.in_roots(path)
                    && !self.permit.places.is_guarded(path);
                accepted
                    || (self.permit.mode != PermissionMode::Plan
                        && self.permit.places.is_memory(path))
            }
            Footprint::Command(used) => {
                used.outline.effect == CommandEffect::Reads && self.reads_freely(used)
            }
            Footprint::Fetch { .. } | Footprint::Server { .. } => false,
        }
    }

    /// Whether every file that a command names may be read without asking.
    fn reads_freely(&self, used: &CommandUse) -> bool {
        let there = used.outline.files.iter().filter(|file| file.presence == Presence::There);
        there.into_iter().all(|file| self.permit.places.is_readable(&file.path))
    }
}

impl Places {
    fn is_readable(&self, path: &Path) -> bool {
        let more = self.readable.iter().chain(&self.writable);
        self.in_roots(path) || more.into_iter().any(|dir| path.starts_with(dir))
    }

    fn in_roots(&self, path: &Path) -> bool {
        self.roots.iter().any(|root| path.starts_with(root))
    }

    fn is_memory(&self, path: &Path) -> bool {
        self.writable.iter().any(|dir| remit::is_open_markdown(path, dir))
    }

    fn is_guarded(&self, path: &Path) -> bool {
        self.roots.iter().filter_map(|root| path.strip_prefix(root).ok()).any(|inside| {
            inside
                .components()
                .any(|part| GUARDED.iter().any(|name| part.as_os_str().eq_ignore_ascii_case(name)))
        })
    }
}

/// Whether a command goes through directories with files that are barred.
enum Walks {
    Nowhere,
    Barred(PathBuf),
    Unknown,
}

fn walks_into_barred(deed: &Footprint) -> Walks {
    let Footprint::Command(used) = deed else { return Walks::Nowhere };
    match &used.barred {
        BarredFiles::Unknown => Walks::Unknown,
        BarredFiles::Found(files) => {
            files.first().map_or(Walks::Nowhere, |path| Walks::Barred(path.clone()))
        }
    }
}

fn deny(reason: String) -> Verdict {
    Verdict::Deny { reason }
}
