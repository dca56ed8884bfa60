//! Which session a conversation goes on with (Q4).

use crate::args::Which;
use crate::failure::{self, Usage};
use crate::presenter::{Presenter, TextStyle, cut};
use crate::sessions::rest;
use anyhow::Result;
use everfold_agent::engine::Resumed;
use everfold_agent::{Agent, Session, SessionId};
use everfold_kernel::Timestamp;
pub(crate) use everfold_kernel::phrase::age;
use everfold_transcript::{Listed, matches};
use std::time::{Duration, Instant};

/// How many sessions an error or a question shows.
pub(crate) const SHOWN: usize = 10;
/// Characters of a title in a list.
const TITLE_CHARS: usize = 60;

/// How often a session that is open elsewhere is tried again.
pub(crate) const RETRY: Duration = Duration::from_millis(100);

/// What was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    New(Option<SessionId>),
    Old(SessionId),
    /// The person has to choose.
    Ask,
}

/// A session that was opened, and what was found in it.
pub(crate) struct Opened {
    pub(crate) session: Session,
    /// What was found in its log.
    pub(crate) resumed: Resumed,
}

impl Opened {
    /// What a person should know of the log.
    pub(crate) fn damage(&self) -> Option<String> {
        damage(&self.resumed)
    }
}

fn damage(Resumed { skipped, torn_bytes }: &Resumed) -> Option<String> {
    let torn = (*torn_bytes > 0).then(|| {
        format!(
            "the last {torn_bytes} bytes of the transcript are an incomplete line and were \
                 skipped"
        )
    });
    let broken = skipped.first().map(|first| {
        let count = skipped.len();
        format!("{count} broken lines of the transcript are skipped; the first is {first}")
    });
    match (torn, broken) {
        (Some(torn), Some(broken)) => Some(format!("{torn}; {broken}")),
        (torn, broken) => torn.or(broken),
    }
}

/// What the flags ask for.
pub(crate) async fn target(agent: &Agent, which: &Which) -> Result<Target> {
    let id = which.session_id.as_ref().map(SessionId::new);
    let goes_on = which.go_on || which.resume.is_some();
    if which.fork_session && !goes_on {
        let hint = "add --resume ID or --continue";
        return Err(Usage::new("--fork-session needs a session to copy", hint).into());
    }
    if id.is_some() && goes_on && !which.fork_session {
        let hint = "leave one out, or add --fork-session";
        return Err(
            Usage::new("--session-id names a new session, not an existing one", hint).into()
        );
    }
    if let Some(id) = &id
        && agent.world().transcripts.path(id).exists()
    {
        return Err(everfold_agent::Error::Session(everfold_agent::engine::Error::Exists(
            id.clone(),
        ))
        .into());
    }
    match &which.resume {
        None if which.go_on => Ok(Target::Old(newest(agent).await?)),
        None => Ok(Target::New(id)),
        Some(text) if text.is_empty() => Ok(Target::Ask),
        Some(text) => Ok(Target::Old(find(agent, text).await?)),
    }
}

/// Opens what was asked for.
pub(crate) async fn open(agent: &Agent, which: &Which, target: Target) -> Result<Opened> {
    if let (Target::New(_), Some(names)) = (&target, agent.served().choices())
        && agent.settings().settings.model.is_none()
    {
        let url = agent.provider().base_url.as_deref().unwrap_or_default();
        let message = format!("{url} has {} models: {}", names.len(), names.join(", "));
        let hint = "choose one with --model NAME, or set \"model\" in your settings";
        return Err(Usage::new(message, hint).into());
    }
    let fresh = which.session_id.as_ref().map(SessionId::new);
    let (session, resumed) = match (target, fresh) {
        (Target::New(id), _) if which.private => (agent.start_private(id)?, Resumed::default()),
        (Target::Old(from), Some(id)) if which.fork_session => agent.fork_as(&from, id).await?,
        (Target::Old(from), None) if which.fork_session => agent.fork(&from).await?,
        (Target::Old(id), _) => agent.resume(id).await?,
        (Target::New(Some(id)), _) => (agent.start_alone(id)?, Resumed::default()),
        (Target::New(None), _) => (agent.start(), Resumed::default()),
        (Target::Ask, _) => return Err(ask_for_one(&agent.sessions().await?).into()),
    };
    Ok(Opened { session, resumed })
}

/// The same, and waits a while for a session that another process has open.
/// Says so, as somebody may sit before it (U10).
pub(crate) async fn open_when_free(
    agent: &Agent,
    which: &Which,
    target: Target,
    presenter: &Presenter,
) -> Result<Opened> {
    let wait = Duration::from_secs(agent.config().limits.session_wait_s);
    let mut until = None;
    loop {
        let opened = Box::pin(open(agent, which, target.clone())).await;
        let Some(error) = opened.as_ref().err() else { return opened };
        let Some((session, holder)) = failure::open_elsewhere(error) else { return opened };
        if rest::gives_way(agent, session, holder) {
            tokio::time::sleep(RETRY).await;
            continue;
        }
        let until = *until.get_or_insert_with(|| {
            let (id, seconds) = (short(session), wait.as_secs());
            let told = format!("session {id} is open in {holder}; waiting up to {seconds} s");
            presenter.note(TextStyle::Dim, &told);
            Instant::now() + wait
        });
        if Instant::now() >= until {
            return opened;
        }
        tokio::time::sleep(RETRY).await;
    }
}

/// An id in short: its end, as the start of those made in the same minute is
/// the same (U9).
pub(crate) fn short(id: &SessionId) -> &str {
    let text = id.as_str();
    text.rsplit('-').next().filter(|end| text.len() == 36 && end.len() == 12).unwrap_or(text)
}

/// The newest session of this directory.
pub(crate) async fn newest(agent: &Agent) -> Result<SessionId> {
    let sessions = agent.sessions().await?;
    let newest = sessions.into_iter().next().map(|entry| entry.session);
    newest.ok_or_else(|| none_yet().into())
}

fn none_yet() -> Usage {
    let hint = "start one with `everfold` or `everfold -p`";
    Usage::new("no sessions in this directory yet", hint)
}

/// The session that a text means: by its id, by the start or the end of it, or
/// by words that no other session has.
pub(crate) async fn find(agent: &Agent, text: &str) -> Result<SessionId> {
    if let Ok(id) = uuid::Uuid::try_parse(text) {
        return Ok(SessionId::from(id.hyphenated().to_string()));
    }
    let sessions = agent.sessions().await?;
    let found = search(&sessions, text);
    match found.as_slice() {
        [one] => Ok(one.session.clone()),
        [] => Err(Usage::new(
            format!("no session in this directory has the id {text:?} or contains these words"),
            "`everfold sessions list` shows them",
        )
        .into()),
        several => {
            let several: Vec<Listed> = several.iter().map(|entry| (*entry).clone()).collect();
            Err(ask_for_one(&several).into())
        }
    }
}

/// The sessions whose id starts or ends with a text, else those that have its
/// words.
pub(crate) fn search<'a>(sessions: &'a [Listed], text: &str) -> Vec<&'a Listed> {
    let by_id = |entry: &&Listed| {
        let id = entry.session.as_str();
        id.starts_with(text) || !text.is_empty() && id.ends_with(text)
    };
    let by_id: Vec<&Listed> = sessions.iter().filter(by_id).collect();
    if by_id.is_empty() {
        sessions.iter().filter(|entry| matches(entry, text)).collect()
    } else {
        by_id
    }
}

fn ask_for_one(sessions: &[Listed]) -> Usage {
    if sessions.is_empty() {
        return none_yet();
    }
    let now = Timestamp::now();
    let lines: Vec<String> = sessions.iter().take(SHOWN).map(|entry| row(entry, now)).collect();
    let message = format!("say which session to resume:\n{}", lines.join("\n"));
    Usage::new(message, "`everfold sessions list --search TEXT` finds others")
}

/// One session on one line.
pub(crate) fn row(entry: &Listed, now: Timestamp) -> String {
    let title = entry.title.as_deref().unwrap_or("(no title)");
    format!("  {}  {:>4}  {}", entry.session, age(entry.modified, now), cut(title, TITLE_CHARS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn q4_damage_is_told_in_one_line() {
        let found = |skipped: &[&str], torn_bytes| {
            let skipped = skipped.iter().map(|line| (*line).to_owned()).collect();
            damage(&Resumed { skipped, torn_bytes })
        };
        assert_eq!(found(&[], 0), None);
        assert!(found(&[], 12).unwrap().contains("12 bytes"));
        let both = found(&["line 3: torn", "line 4: torn"], 12).unwrap();
        assert!(both.contains("12 bytes") && both.contains("2 broken lines"), "{both}");
        assert!(both.ends_with("line 3: torn"));
    }
}
