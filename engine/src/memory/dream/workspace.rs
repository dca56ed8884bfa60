//! A copy that stands for a directory: an agent names files as they are in the
//! memory directory, and works on the copy of them (L6.7).

use crate::session::fork::Ground;
use everfold_kernel::ports::{
    BarredFiles, BoxFuture, CommandOutline, Expect, FileError, FileRead, FileStat, FileVersion,
    Files, GlobFound, GlobQuery, GrepFound, GrepQuery, JobInfo, LinesRead, PathGuard, SandboxState,
    Search, SearchError, Shell, ShellCommand, ShellError, ShellOutput, ShellPlace, World,
};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Which directory stands for which.
#[derive(Clone, Debug)]
struct Mapping {
    dir: PathBuf,
    copy: PathBuf,
}

impl Mapping {
    fn there(&self, path: &Path) -> PathBuf {
        moved(path, &self.dir, &self.copy)
    }

    fn back(&self, path: &Path) -> PathBuf {
        moved(path, &self.copy, &self.dir)
    }

    /// A text with every mention of the copy as one of the directory.
    fn told(&self, text: &str) -> String {
        text.replace(&*self.copy.to_string_lossy(), &self.dir.to_string_lossy())
    }

    /// A command with every mention of the directory as one of the copy. The
    /// copy's path is the directory's and plain letters behind it, so quotes
    /// around it hold.
    fn command(&self, text: &str) -> String {
        let (dir, copy) = (self.dir.to_string_lossy(), self.copy.to_string_lossy());
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some((before, behind)) = rest.split_once(&*dir) {
            out.push_str(before);
            // `/m` is not in `/memory`.
            let ends =
                behind.chars().next().is_none_or(|c| !c.is_alphanumeric() && c != '_' && c != '-');
            out.push_str(if ends { &copy } else { &dir });
            rest = behind;
        }
        out.push_str(rest);
        out
    }

    fn file_error(&self, error: FileError) -> FileError {
        use FileError as E;
        match error {
            E::NotFound { path } => E::NotFound { path: self.back(&path) },
            E::IsDirectory { path } => E::IsDirectory { path: self.back(&path) },
            E::Special { path } => E::Special { path: self.back(&path) },
            E::TooLarge { path, bytes, max } => E::TooLarge { path: self.back(&path), bytes, max },
            E::Changed { path } => E::Changed { path: self.back(&path) },
            E::Refused { path, reason } => E::Refused { path: self.back(&path), reason },
            E::Denied { path } => E::Denied { path: self.back(&path) },
            E::NoSpace { path } => E::NoSpace { path: self.back(&path) },
            E::Io { path, message } => E::Io { path: self.back(&path), message },
        }
    }

    fn search_error(&self, error: SearchError) -> SearchError {
        match error {
            SearchError::NotFound { root } => SearchError::NotFound { root: self.back(&root) },
            SearchError::Io { root, message } => {
                SearchError::Io { root: self.back(&root), message }
            }
            other => other,
        }
    }
}

pub(crate) fn moved(path: &Path, from: &Path, to: &Path) -> PathBuf {
    match path.strip_prefix(from) {
        Ok(inside) if inside.as_os_str().is_empty() => to.to_owned(),
        Ok(inside) => to.join(inside),
        Err(_) => path.to_owned(),
    }
}

/// The world's files, search and shell with a copy in the place of a directory.
pub(super) fn on_copy(world: &World, dir: &Path, copy: &Path) -> Ground {
    let mapping = Arc::new(Mapping { dir: dir.to_owned(), copy: copy.to_owned() });
    Ground {
        files: Arc::new(Mapped { mapping: Arc::clone(&mapping), inner: Arc::clone(&world.files) }),
        search: Arc::new(Mapped {
            mapping: Arc::clone(&mapping),
            inner: Arc::clone(&world.search),
        }),
        shell: Arc::new(Mapped { mapping, inner: Arc::clone(&world.shell) }),
    }
}

/// A port behind a mapping.
struct Mapped<T: ?Sized> {
    mapping: Arc<Mapping>,
    inner: Arc<T>,
}

impl Files for Mapped<dyn Files> {
    fn stat<'a>(&'a self, path: &'a Path) -> BoxFuture<'a, Result<FileStat, FileError>> {
        let path = self.mapping.there(path);
        Box::pin(async move {
            self.inner.stat(&path).await.map_err(|error| self.mapping.file_error(error))
        })
    }

    fn resolve<'a>(&'a self, path: &'a Path) -> BoxFuture<'a, PathBuf> {
        let path = self.mapping.there(path);
        Box::pin(async move { self.mapping.back(&self.inner.resolve(&path).await) })
    }

    fn read<'a>(
        &'a self,
        path: &'a Path,
        max_bytes: u64,
    ) -> BoxFuture<'a, Result<FileRead, FileError>> {
        let path = self.mapping.there(path);
        Box::pin(async move {
            let read = self.inner.read(&path, max_bytes).await;
            read.map_err(|error| self.mapping.file_error(error))
        })
    }

    fn read_lines<'a>(
        &'a self,
        path: &'a Path,
        first: u64,
        count: u64,
        max_bytes: u64,
    ) -> BoxFuture<'a, Result<LinesRead, FileError>> {
        let path = self.mapping.there(path);
        Box::pin(async move {
            let read = self.inner.read_lines(&path, first, count, max_bytes).await;
            read.map_err(|error| self.mapping.file_error(error))
        })
    }

    fn list<'a>(
        &'a self,
        dir: &'a Path,
        most: usize,
    ) -> BoxFuture<'a, Result<Vec<PathBuf>, FileError>> {
        let dir = self.mapping.there(dir);
        Box::pin(async move {
            let found = self.inner.list(&dir, most).await;
            let found = found.map_err(|error| self.mapping.file_error(error))?;
            Ok(found.iter().map(|path| self.mapping.back(path)).collect())
        })
    }

    fn write<'a>(
        &'a self,
        path: &'a Path,
        bytes: &'a [u8],
        expect: Expect,
    ) -> BoxFuture<'a, Result<FileVersion, FileError>> {
        let path = self.mapping.there(path);
        Box::pin(async move {
            let written = self.inner.write(&path, bytes, expect).await;
            written.map_err(|error| self.mapping.file_error(error))
        })
    }
}

impl Search for Mapped<dyn Search> {
    fn glob(&self, query: GlobQuery) -> BoxFuture<'_, Result<GlobFound, SearchError>> {
        let root = self.mapping.there(&query.root);
        let pattern = self.mapping.command(&query.pattern);
        Box::pin(async move {
            let found = self.inner.glob(GlobQuery { root, pattern, ..query }).await;
            let mut found = found.map_err(|error| self.mapping.search_error(error))?;
            for path in &mut found.paths {
                *path = self.mapping.back(path);
            }
            Ok(found)
        })
    }

    fn grep(&self, query: GrepQuery) -> BoxFuture<'_, Result<GrepFound, SearchError>> {
        let root = self.mapping.there(&query.root);
        Box::pin(async move {
            let found = self.inner.grep(GrepQuery { root, ..query }).await;
            let mut found = found.map_err(|error| self.mapping.search_error(error))?;
            for line in &mut found.lines {
                *line = self.mapping.told(line);
            }
            Ok(found)
        })
    }

    fn barred(
        &self,
        roots: Vec<PathBuf>,
        guard: PathGuard,
        max_entries: usize,
    ) -> BoxFuture<'_, BarredFiles> {
        let roots = roots.iter().map(|root| self.mapping.there(root)).collect();
        self.inner.barred(roots, guard, max_entries)
    }
}

impl Shell for Mapped<dyn Shell> {
    fn run(&self, command: ShellCommand) -> BoxFuture<'_, Result<ShellOutput, ShellError>> {
        let mapped = ShellCommand {
            command: self.mapping.command(&command.command),
            cwd: self.mapping.there(&command.cwd),
            ..command
        };
        Box::pin(async move {
            let mut output = self.inner.run(mapped).await?;
            output.text = self.mapping.told(&output.text);
            output.cwd = output.cwd.map(|cwd| self.mapping.back(&cwd));
            Ok(output)
        })
    }

    fn start(
        &self,
        command: ShellCommand,
        _: PathBuf,
    ) -> BoxFuture<'_, Result<JobInfo, ShellError>> {
        let message = "nothing runs on in the background of a dream".to_owned();
        Box::pin(async move { Err(ShellError::Start { cwd: command.cwd, message }) })
    }

    fn outline(&self, command: &str, place: &ShellPlace) -> CommandOutline {
        let cwd = self.mapping.there(&place.cwd);
        let place = ShellPlace { cwd, ..place.clone() };
        self.inner.outline(&self.mapping.command(command), &place)
    }

    fn sandbox(&self) -> SandboxState {
        self.inner.sandbox()
    }

    fn jobs(&self) -> Vec<JobInfo> {
        self.inner.jobs()
    }

    fn stop<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<JobInfo, ShellError>> {
        self.inner.stop(id)
    }

    /// The shell is the parent's.
    fn shutdown(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn l6_7_commands_see_the_copy_and_nothing_else_changes() {
        let mapping =
            Mapping { dir: "/h/memory".into(), copy: "/h/memory/.everfold/dream/copy".into() };
        for (command, wanted) in [
            ("ls /h/memory", "ls /h/memory/.everfold/dream/copy"),
            ("cat '/h/memory/a b.md'", "cat '/h/memory/.everfold/dream/copy/a b.md'"),
            ("ls /h/memory2 /h/memory-old", "ls /h/memory2 /h/memory-old"),
            ("wc -l /h/memory/*.md; ls /h", "wc -l /h/memory/.everfold/dream/copy/*.md; ls /h"),
        ] {
            assert_eq!(mapping.command(command), wanted);
        }
        assert_eq!(
            mapping.there(Path::new("/h/memory/a.md")),
            Path::new("/h/memory/.everfold/dream/copy/a.md")
        );
        assert_eq!(mapping.back(&mapping.there(Path::new("/h/memory"))), Path::new("/h/memory"));
        assert_eq!(mapping.there(Path::new("/h/other")), Path::new("/h/other"));
        assert_eq!(mapping.told("/h/memory/.everfold/dream/copy/a.md:1:x"), "/h/memory/a.md:1:x");
    }
}
