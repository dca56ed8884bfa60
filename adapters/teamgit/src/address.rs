//! Where a team's repository is, as a person names it.

use everfold_kernel::ports::TeamError;
use std::fmt;
use std::path::{Path, PathBuf};

/// What git may speak to a remote; one that is a command is none of it.
pub(crate) const PROTOCOLS: &str = "file:git:http:https:ssh";

/// The address of a repository, checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitAddress {
    text: String,
    place: RemotePlace,
}

/// Whose machine a repository is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RemotePlace {
    /// This one: git works in it directly, so what it configures would be run here.
    Here,
    Ssh,
    Elsewhere,
}

impl GitAddress {
    /// Takes an address that names no command and carries no password. A
    /// relative path is seen from a directory.
    ///
    /// # Errors
    /// [`TeamError::Address`] that says what is wrong with it.
    pub fn parse(text: &str, from: &Path) -> Result<Self, TeamError> {
        let refuse = |why| Err(TeamError::Address { why });
        let text = text.trim();
        if text.is_empty() || text.starts_with('-') || text.chars().any(char::is_control) {
            return refuse("that is not the address of a git repository");
        }
        let first = text.split(['/', ':']).next().unwrap_or_default();
        if text.get(first.len()..).is_some_and(|rest| rest.starts_with("::")) {
            return refuse("an address that names a program is refused; give a URL or a path");
        }
        if let Some((scheme, rest)) = text.split_once("://") {
            if !PROTOCOLS.split(':').any(|known| known == scheme) {
                return refuse("use ssh, https, http, git or a path");
            }
            let authority = rest.split('/').next().unwrap_or_default();
            let user = authority.rsplit_once('@').map(|(user, _)| user);
            if scheme != "ssh" && user.is_some_and(|user| user.contains(':')) {
                return refuse(
                    "the address contains a password, which would be kept in plain text; leave it out and \
                     let git's credential helper keep it",
                );
            }
            let place = match scheme {
                "file" => RemotePlace::Here,
                "ssh" => RemotePlace::Ssh,
                _ => RemotePlace::Elsewhere,
            };
            return Ok(Self { text: text.to_owned(), place });
        }
        // As git tells them apart: a colon before any slash is a host.
        if first.len() < text.len() && text.get(first.len()..).is_some_and(|r| r.starts_with(':')) {
            return Ok(Self { text: text.to_owned(), place: RemotePlace::Ssh });
        }
        let path: PathBuf = from.join(text);
        let Some(path) = path.to_str() else { return refuse("its path is not UTF-8") };
        Ok(Self { text: path.to_owned(), place: RemotePlace::Here })
    }

    /// The address as git is given it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    pub(crate) fn is_here(&self) -> bool {
        self.place == RemotePlace::Here
    }

    pub(crate) fn is_ssh(&self) -> bool {
        self.place == RemotePlace::Ssh
    }
}

impl fmt::Display for GitAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f1_an_address_names_a_place_and_no_program() {
        let from = Path::new("/srv/repo");
        for text in
            ["git@host:team/memory.git", "https://host/x.git", "ssh://git@host:22/x", "/srv/x.git"]
        {
            assert_eq!(GitAddress::parse(text, from).unwrap().as_str(), text);
        }
        let relative = GitAddress::parse("../team.git", from).unwrap();
        assert_eq!(relative.as_str(), "/srv/repo/../team.git");
        assert!(relative.is_here());
        let bad =
            ["", "ext::sh -c true", "fd::7", "-u", "https://me:word@host/x", "foo://x", "a\nb"];
        for text in bad {
            assert!(GitAddress::parse(text, from).is_err(), "{text}");
        }
    }
}
