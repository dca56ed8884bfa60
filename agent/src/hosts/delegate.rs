//! Who reviews what was said in a host (X7): a model of our own, the host's own
//! program, its model, or rules alone.

use super::{HostKind, HostService, OwnKey};
use everfold_disk::jsonl::Appender;
use everfold_kernel::settings::HostReviewer;
use everfold_provider::Headless;
use jiff::Zoned;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Where programs of hosts are run, in the folder of hooks.
const DIR: &str = "headless";

/// Who reviews.
#[derive(Clone, Debug)]
pub enum Delegate {
    /// A model, with a key of our own.
    Model,
    /// The host's program.
    Program(Box<Headless>),
    /// The host's model is asked to save what is worth it.
    Ask,
    /// Nobody: rules keep what the person asked for.
    Rules,
}

impl Delegate {
    /// In a few words, for a person.
    #[must_use]
    pub fn words(&self) -> String {
        match self {
            Self::Model => "a model, with your own key".to_owned(),
            Self::Program(headless) => {
                format!("{}, with its own login", headless.path.display())
            }
            Self::Ask => "the host's model, which is asked to save".to_owned(),
            Self::Rules => "no model; rules keep only what you explicitly ask for".to_owned(),
        }
    }

    /// Whether a worker does it.
    pub(crate) fn is_in_background(&self) -> bool {
        matches!(self, Self::Model | Self::Program(_))
    }
}

impl HostService {
    /// Who reviews what is said in a host.
    #[must_use]
    pub fn delegate(&self, host: Option<HostKind>) -> Delegate {
        if self.key == OwnKey::There {
            return Delegate::Model;
        }
        let wanted = self.host_review;
        let program = match wanted {
            HostReviewer::Auto | HostReviewer::Headless => {
                host.and_then(|host| self.headless(host))
            }
            HostReviewer::Ask | HostReviewer::Rules => None,
        };
        if let Some(headless) = program {
            return Delegate::Program(Box::new(headless));
        }
        let may_ask = matches!(wanted, HostReviewer::Auto | HostReviewer::Ask);
        if may_ask && host.is_some_and(HostKind::can_be_asked) {
            return Delegate::Ask;
        }
        Delegate::Rules
    }

    /// Who reviews what stands in a transcript.
    pub(crate) fn delegate_for(&self, transcript: &Path) -> Delegate {
        self.delegate(HostKind::of_transcript(transcript, self.claude.as_ref()))
    }

    fn headless(&self, host: HostKind) -> Option<Headless> {
        let program = host.headless();
        let path = self
            .programs
            .iter()
            .map(|dir| dir.join(program.name()))
            .find(|path| is_program(path))?;
        Some(Headless {
            program,
            path,
            dir: self.headless_dir(),
            limit: Duration::from_secs(self.limits.beside.headless_s),
        })
    }

    fn headless_dir(&self) -> PathBuf {
        self.home.join(super::hooks::DIR).join(DIR)
    }

    /// Counts a run of a host's program, if the day has one left.
    pub(crate) fn takes_headless_turn(&self) -> bool {
        let day = Zoned::now().date();
        let path = self.headless_dir().with_file_name(format!("{DIR}-{day}.log"));
        let made = std::fs::read_to_string(&path).map_or(0, |text| text.lines().count());
        if made as u64 >= self.limits.beside.headless_reviews {
            return false;
        }
        Appender::open(&path).and_then(|mut file| file.append(b"{}")).is_ok()
    }
}

fn is_program(path: &Path) -> bool {
    let Ok(about) = path.metadata() else { return false };
    #[cfg(unix)]
    let may_run = std::os::unix::fs::PermissionsExt::mode(&about.permissions()) & 0o111 != 0;
    #[cfg(not(unix))]
    let may_run = true;
    about.is_file() && may_run
}
