//! From words to the files that they may mean.
//!
//! A word is looked at whole and in the parts that programs take for paths:
//! behind `=`, `@` and `:`, or attached to an option. Every directory that is
//! named may be where a program works, so names are looked for in all of them.

mod links;

use super::Findings;
use everfold_kernel::ports::{FileMention, FileTouch, Presence, ShellPlace};
use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

/// Directories in which names are looked for.
pub(super) const MOST_BASES: usize = 12;
/// Files that one pattern stands for.
const MOST_MATCHES: usize = 2_000;
/// Files in all.
const MOST_MENTIONS: usize = 8_000;

/// The files that words may mean.
pub(super) fn files(found: &mut Findings, place: &ShellPlace) -> Vec<FileMention> {
    let mentions: BTreeSet<(String, FileTouch)> =
        std::mem::take(&mut found.mentions).into_iter().collect();
    // A change is of something that is named as well.
    let named: BTreeSet<_> = mentions
        .iter()
        .filter(|(_, touch)| !matches!(touch, FileTouch::Changed | FileTouch::ChangedTree))
        .cloned()
        .collect();
    let bases = bases(&named, place);
    found.bases.clone_from(&bases);
    if found.moves && bases.len() >= MOST_BASES {
        found.hide("it names too many directories to be checked");
    }
    let mut files = BTreeSet::new();
    for (text, touch) in &mentions {
        if *touch == FileTouch::LinkedTree {
            for base in &bases {
                links::below(&full(text, base, place), &mut files);
            }
            continue;
        }
        for part in parts(text) {
            // What is written is where the line is, if it goes nowhere.
            let writes =
                matches!(touch, FileTouch::Written | FileTouch::Changed | FileTouch::ChangedTree);
            let near = if writes && !found.moves { 1 } else { bases.len() };
            for base in bases.iter().take(near) {
                for path in expanded(&full(part, base, place)) {
                    if is_device(&path) {
                        continue;
                    }
                    let presence = if path.symlink_metadata().is_ok() {
                        Presence::There
                    } else {
                        Presence::Missing
                    };
                    files.insert(FileMention { path: real(&path), presence, touch: *touch });
                }
                if is_rooted(part) {
                    break;
                }
            }
        }
        if files.len() > MOST_MENTIONS {
            found.hide("it names too many files to be checked");
            break;
        }
    }
    files.into_iter().collect()
}

/// The working directory, and whatever directory is named.
pub(super) fn bases(mentions: &BTreeSet<(String, FileTouch)>, place: &ShellPlace) -> Vec<PathBuf> {
    let mut bases = vec![place.cwd.clone()];
    // Twice: one may be named from another.
    for _ in 0..2 {
        for (text, _) in mentions {
            for part in parts(text) {
                for base in bases.clone() {
                    let mut matches = expanded(&full(part, &base, place)).into_iter();
                    let found = matches.find(|path| path.is_dir()).map(|path| real(&path));
                    if let Some(dir) = found.filter(|dir| !bases.contains(dir)) {
                        bases.push(dir);
                    }
                    if bases.len() >= MOST_BASES {
                        return bases;
                    }
                }
            }
        }
    }
    bases
}

/// A word, and what of it a program may take for a path.
fn parts(text: &str) -> BTreeSet<&str> {
    let mut found = BTreeSet::new();
    let mut open = vec![text];
    while let Some(text) = open.pop() {
        if text.is_empty() || text.contains('\0') || !found.insert(text) {
            continue;
        }
        open.extend(text.strip_prefix("file://"));
        open.extend(of_process(text));
        open.extend(text.strip_prefix(['@', '<', '=']));
        for mark in ['=', ':', '@', ','] {
            open.extend(text.split_once(mark).map(|(_, rest)| rest));
            open.extend(text.split_once(mark).map(|(start, _)| start));
        }
        if let Some(rest) = text.strip_prefix('-') {
            let mut letters = rest.chars();
            letters.next();
            open.push(letters.as_str());
        }
    }
    // A slash between fields is no path.
    if text != "/" {
        found.remove("/");
    }
    found
}

/// The same by the system's files of a process: `/proc/self/cwd/x` is `x`.
fn of_process(text: &str) -> Option<&str> {
    let rest = text.strip_prefix("/proc/")?;
    let (_, rest) = rest.split_once('/')?;
    let rest = rest
        .split_once("task/")
        .and_then(|(_, rest)| rest.split_once('/'))
        .map_or(rest, |(_, rest)| rest);
    rest.strip_prefix("cwd/")
        .or_else(|| rest.strip_prefix("root").filter(|rest| rest.starts_with('/')))
}

/// What everybody may read and write, and nothing is kept in.
fn is_device(path: &Path) -> bool {
    const DEVICES: &[&str] = &["null", "zero", "full", "tty", "stdin", "stdout", "stderr", "fd"];
    let mut names = path.strip_prefix("/dev").into_iter().flat_map(Path::components);
    names.next().is_some_and(|name| DEVICES.iter().any(|known| name.as_os_str() == *known))
}

fn is_rooted(text: &str) -> bool {
    text.starts_with(['/', '~'])
}

/// A path from a word.
pub(super) fn full(text: &str, base: &Path, place: &ShellPlace) -> PathBuf {
    let Some(rest) = text.strip_prefix('~') else { return base.join(text) };
    let (user, rest) = rest.split_once('/').unwrap_or((rest, ""));
    let home = place.home.as_deref().unwrap_or(Path::new("/"));
    let dir = match user {
        "" => home.to_owned(),
        "+" => place.cwd.clone(),
        "-" => base.to_owned(),
        user => home_of(user).unwrap_or_else(|| Path::new("/home").join(user)),
    };
    dir.join(rest.trim_start_matches('/'))
}

/// The home directory of another user.
fn home_of(user: &str) -> Option<PathBuf> {
    let users = std::fs::read_to_string("/etc/passwd").ok()?;
    let line = users.lines().find(|line| line.split(':').next() == Some(user))?;
    line.split(':').nth(5).map(PathBuf::from)
}

/// The path, and the files that it stands for where it is a pattern.
pub(super) fn expanded(path: &Path) -> Vec<PathBuf> {
    let is_pattern =
        |part: &Component<'_>| part.as_os_str().to_string_lossy().contains(['*', '?', '[']);
    if !path.components().any(|part| is_pattern(&part)) {
        return vec![path.to_owned()];
    }
    let mut found = vec![PathBuf::new()];
    for part in path.components() {
        let name = part.as_os_str().to_string_lossy();
        if !is_pattern(&part) {
            for path in &mut found {
                path.push(part);
            }
            continue;
        }
        let dotted = name.starts_with(['.', '[']);
        let mut next = Vec::new();
        for dir in &found {
            let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
            for entry in entries {
                let file = entry.file_name();
                let file = file.to_string_lossy();
                if (dotted || !file.starts_with('.')) && fits(&name, &file) {
                    next.push(entry.path());
                }
                if next.len() > MOST_MATCHES {
                    break;
                }
            }
        }
        found = next;
    }
    // What is not known of it may become anything: the words that are known
    // still say something.
    found.push(path.to_owned());
    found
}

/// Whether a name fits a pattern of a shell. Sets of characters are taken for
/// any one character: too much is better than too little.
pub(super) fn fits(pattern: &str, name: &str) -> bool {
    let pattern: Vec<char> = simple(pattern);
    let name: Vec<char> = name.chars().collect();
    let mut states = vec![false; pattern.len() + 1];
    if let Some(first) = states.first_mut() {
        *first = true;
    }
    let spread = |states: &mut Vec<bool>| {
        for (at, c) in pattern.iter().enumerate() {
            if *c == '*'
                && states.get(at) == Some(&true)
                && let Some(next) = states.get_mut(at + 1)
            {
                *next = true;
            }
        }
    };
    spread(&mut states);
    for letter in name {
        let mut next = vec![false; pattern.len() + 1];
        for (at, c) in pattern.iter().enumerate() {
            if states.get(at) != Some(&true) {
                continue;
            }
            let to = match *c {
                '*' => at,
                '?' => at + 1,
                c if c == letter => at + 1,
                _ => continue,
            };
            if let Some(state) = next.get_mut(to) {
                *state = true;
            }
        }
        states = next;
        spread(&mut states);
    }
    states.last() == Some(&true)
}

/// A pattern with each set of characters as one `?`.
fn simple(pattern: &str) -> Vec<char> {
    let mut out = Vec::new();
    let mut rest = pattern.chars();
    while let Some(c) = rest.next() {
        let mut ahead = rest.clone();
        if c == '[' && ahead.next().is_some() && ahead.any(|c| c == ']') {
            rest = ahead;
            out.push('?');
        } else {
            out.push(c);
        }
    }
    out
}

/// A path with links resolved as far as it exists.
fn real(path: &Path) -> PathBuf {
    for (count, start) in path.ancestors().enumerate() {
        if let Ok(mut real) = start.canonicalize() {
            let names: Vec<Component<'_>> = path.components().collect();
            for part in names.iter().skip(names.len().saturating_sub(count)) {
                match part {
                    Component::ParentDir => drop(real.pop()),
                    Component::CurDir => {}
                    part => real.push(part),
                }
            }
            return real;
        }
    }
    path.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s10_parts_of_a_word_are_paths() {
        for (word, part) in [
            ("--file=.env", ".env"),
            ("-f.env", ".env"),
            ("if=/etc/shadow", "/etc/shadow"),
            ("@.env", ".env"),
            ("key=@.env", ".env"),
            ("HEAD:.env", ".env"),
            ("file:///srv/.netrc", "/srv/.netrc"),
            ("a:b@c:/x", "/x"),
        ] {
            assert!(parts(word).contains(part), "{word}: {:?}", parts(word));
        }
    }

    #[test]
    fn s10_patterns_of_a_shell() {
        for (pattern, name) in [
            ("id_*", "id_rsa"),
            (".e?v", ".env"),
            (".[a-z]nv", ".env"),
            ("*", "x"),
            ("a*b*c", "abbc"),
        ] {
            assert!(fits(pattern, name), "{pattern}");
        }
        assert!(!fits("id_?", "id_rsa") && !fits("a", "b") && !fits("a*", "ba"));
    }
}
