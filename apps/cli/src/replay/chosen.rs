//! Which transcripts are replayed (PC10).

use crate::cost::agents;
use crate::failure::Usage;
use crate::session_picker;
use crate::setup::ProcessEnv;
use anyhow::Result;
use everfold_agent::Agent;
use everfold_agent::session_files::{SessionFile, head_of, sessions_below};
use std::path::{Path, PathBuf};

/// The files that were named, those below directories that were, and those of
/// sessions that were, whoever wrote them; without a name those of this
/// directory.
pub(super) async fn files(
    agent: &Agent,
    env: &ProcessEnv,
    named: &[PathBuf],
) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    if named.is_empty() {
        let cwd = std::env::current_dir()?;
        let all = agents::places(agent, env).files();
        files.extend(all.into_iter().map(|own| own.path).filter(|path| is_of(path, &cwd)));
    }
    for path in named {
        if path.is_dir() {
            files.extend(sessions_below(path).into_iter().map(|own| own.path));
        } else if let Some(text) = path.to_str().filter(|text| !path.exists() && is_bare(text)) {
            files.push(by_id(agent, env, text).await?);
        } else {
            files.push(path.clone());
        }
    }
    if files.is_empty() {
        let message = "no transcripts found";
        let hint = "name .jsonl files, directories of them, or session ids";
        return Err(Usage::new(message, hint).into());
    }
    Ok(files)
}

/// A session by its id, or the start of it that only one has.
async fn by_id(agent: &Agent, env: &ProcessEnv, text: &str) -> Result<PathBuf> {
    let is_it = |own: &SessionFile| {
        let name = own.path.file_stem().and_then(|name| name.to_str()).unwrap_or("");
        name.starts_with(text) || name.ends_with(text)
    };
    let found: Vec<SessionFile> =
        agents::places(agent, env).files().into_iter().filter(is_it).collect();
    match found.as_slice() {
        [one] => Ok(one.path.clone()),
        _ => Ok(agent.world().transcripts.path(&session_picker::find(agent, text).await?)),
    }
}

/// Whether a session worked in this directory.
fn is_of(path: &Path, cwd: &Path) -> bool {
    head_of(path).cwd.is_some_and(|own| Path::new(&own) == cwd)
}

/// Whether this can be the id of a session, and no file.
fn is_bare(text: &str) -> bool {
    !text.is_empty() && !text.contains(['/', '\\', '.'])
}
