//! Where a value came from, and JSON pointers that name it.

use serde::Serialize;
use std::fmt;
use std::path::PathBuf;

/// Where a value came from.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(tag = "source", content = "at", rename_all = "snake_case")]
pub enum ValueOrigin {
    Default,
    /// The settings of the home directory.
    Home(PathBuf),
    /// Settings committed in the repository.
    Project(PathBuf),
    /// Settings of one person in the repository.
    Local(PathBuf),
    /// The file of `--settings`.
    File(PathBuf),
    /// The JSON text of `--settings`.
    Inline,
    /// The flag provider (Q3).
    Provider,
    /// An environment variable, as it was named.
    Env(String),
    Flag(String),
    /// An administrator's settings.
    Managed(PathBuf),
}

impl ValueOrigin {
    /// Whether a value from here wins over one from the environment.
    #[must_use]
    pub fn beats_environment(&self) -> bool {
        self.rank() > Self::ENVIRONMENT_RANK
    }

    const ENVIRONMENT_RANK: u8 = 6;

    /// Higher ranks win. The order of C4, with the provider between what
    /// files say and what the environment says.
    pub(crate) fn rank(&self) -> u8 {
        match self {
            Self::Default => 0,
            Self::Home(_) => 1,
            Self::Project(_) => 2,
            Self::Local(_) => 3,
            Self::File(_) | Self::Inline => 4,
            Self::Provider => 5,
            Self::Env(_) => Self::ENVIRONMENT_RANK,
            Self::Flag(_) => 7,
            Self::Managed(_) => 8,
        }
    }
}

impl fmt::Display for ValueOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::Home(path) => write!(f, "home, {}", path.display()),
            Self::Project(path) => write!(f, "project, {}", path.display()),
            Self::Local(path) => write!(f, "local, {}", path.display()),
            Self::File(path) => write!(f, "--settings, {}", path.display()),
            Self::Inline => f.write_str("--settings"),
            Self::Provider => f.write_str("flag provider"),
            Self::Env(name) => write!(f, "environment, {name}"),
            Self::Flag(name) => write!(f, "command line, {name}"),
            Self::Managed(path) => write!(f, "managed, {}", path.display()),
        }
    }
}

/// `parent` with one more segment, escaped as RFC 6901 says.
pub(crate) fn child(parent: &str, segment: &str) -> String {
    let escaped = segment.replace('~', "~0").replace('/', "~1");
    format!("{parent}/{escaped}")
}

/// The segments of a pointer.
pub(crate) fn segments(pointer: &str) -> impl Iterator<Item = String> {
    pointer.split('/').skip(1).map(|segment| segment.replace("~1", "/").replace("~0", "~"))
}

/// A pointer as people write keys: `everfold.models."gpt-4.1".window`.
pub(crate) fn dotted(pointer: &str) -> String {
    segments(pointer)
        .map(|segment| {
            if segment.is_empty() || segment.contains('.') {
                format!("\"{segment}\"")
            } else {
                segment
            }
        })
        .collect::<Vec<_>>()
        .join(".")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pointers_survive_odd_keys() {
        let pointer = child(&child("", "a/b~c"), "gpt-4.1");
        assert_eq!(pointer, "/a~1b~0c/gpt-4.1");
        assert_eq!(segments(&pointer).collect::<Vec<_>>(), ["a/b~c", "gpt-4.1"]);
        assert_eq!(dotted(&pointer), "a/b~c.\"gpt-4.1\"");
    }

    #[test]
    fn c4_only_flags_and_managed_settings_beat_the_environment() {
        assert!(ValueOrigin::Flag("--model".into()).beats_environment());
        assert!(ValueOrigin::Managed("/etc/x".into()).beats_environment());
        assert!(!ValueOrigin::Inline.beats_environment());
        assert!(!ValueOrigin::Env("X".into()).beats_environment());
    }
}
