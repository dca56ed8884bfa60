//! One session from close: what its requests were made of and cost, and a line
//! for every message. The last few that were looked at are kept.

mod head;

pub(crate) use head::{HeadKind, MessageHead, texts};

use crate::error::Error;
use crate::ledger::SessionRow;
use everfold_agent::observed::{BodyShares, ObservedBodies};
use everfold_agent::session_files::read_lines;
use everfold_agent::{Agent, Replayed, replay_file};
use everfold_foreign::{About, Reader, Thread, TranscriptEvent, What};
use everfold_kernel::{Entry, MessageId, Record};
use everfold_replay::{Bill, LaneReport, Options, Policy};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

/// Sessions that are kept.
const KEPT: usize = 4;

/// A file as it was when it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Stamp {
    path: PathBuf,
    bytes: u64,
    modified: SystemTime,
}

impl Stamp {
    fn of(path: &Path) -> Option<Self> {
        let about = path.metadata().ok()?;
        let modified = about.modified().ok()?;
        Some(Self { path: path.to_owned(), bytes: about.len(), modified })
    }
}

/// One session from close.
pub(crate) struct CloseUp {
    pub(crate) about: About,
    /// Files of sub-agents that belong to it.
    pub(crate) agents: usize,
    /// Its requests as they went.
    pub(crate) lane: LaneReport,
    /// Whether the transcript says what requests used.
    pub(crate) is_reported: bool,
    /// Requests whose bytes are known (W3).
    pub(crate) observed: usize,
    /// A line for every message.
    pub(crate) heads: Vec<MessageHead>,
    /// Bytes of the file when it was read.
    pub(crate) bytes: u64,
    files: Vec<PathBuf>,
}

impl CloseUp {
    pub(crate) fn bill(&self) -> Option<&Bill> {
        self.lane.bill.as_ref()
    }

    /// A message in full, with the file that it stands in.
    pub(crate) fn message(&self, number: usize, line_bytes: u64) -> Result<(Record, &Path), Error> {
        let gone = || Error::none("such message");
        let head = self.heads.get(number).ok_or_else(gone)?;
        let file = self.files.get(head.file).ok_or_else(gone)?;
        let (mut at, mut found) = (0, None);
        records(file, line_bytes, &mut |_, record| {
            if at == head.ordinal && found.is_none() {
                found = Some(record.clone());
            }
            at += 1;
        })?;
        Ok((found.ok_or_else(gone)?, file))
    }
}

/// The sessions that were looked at.
pub(crate) struct Transcripts {
    options: Options,
    observed: ObservedBodies,
    kept: Mutex<Vec<(Stamp, Arc<CloseUp>)>>,
}

impl Transcripts {
    pub(crate) fn new(agent: &Agent) -> Self {
        let config = agent.config();
        let options = Options {
            policies: vec![Policy::Recorded],
            table: config.models.table.clone(),
            limits: Arc::clone(&config.limits),
            ..Options::default()
        };
        let observed = ObservedBodies::of_claude(agent.home().root());
        Self { options, observed, kept: Mutex::default() }
    }

    /// Bytes of the longest line that is read.
    pub(crate) fn line_bytes(&self) -> u64 {
        self.options.limits.transcript_line_bytes
    }

    /// A session from close. Blocks.
    pub(crate) fn close_up(&self, row: &SessionRow) -> Result<Arc<CloseUp>, Error> {
        let stamp = Stamp::of(&row.path).ok_or_else(|| Error::none("such session any more"))?;
        let kept = || self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, known)) = kept().iter().find(|(own, _)| *own == stamp) {
            return Ok(Arc::clone(known));
        }
        let read = Arc::new(self.read(&stamp)?);
        let mut kept = kept();
        kept.retain(|(own, _)| own.path != stamp.path);
        kept.insert(0, (stamp, Arc::clone(&read)));
        kept.truncate(KEPT);
        Ok(read)
    }

    fn read(&self, stamp: &Stamp) -> Result<CloseUp, Error> {
        let path = stamp.path.as_path();
        let Replayed { about, agents, outcome } = replay_file(path, &self.options)?;
        let is_reported = outcome.reported.is_some();
        let lane = outcome.lanes.into_iter().next();
        let mut lane = lane.ok_or_else(|| Error::none("request in this session"))?;
        let count = agents.len();
        let files: Vec<PathBuf> = std::iter::once(path.to_owned()).chain(agents).collect();
        let (mut heads, mut answers) = (Vec::new(), Vec::new());
        for (file, path) in files.iter().enumerate() {
            let mut ordinal = 0;
            let is_aside = file > 0;
            records(path, self.line_bytes(), &mut |thread, record| {
                if let Entry::Assistant(answer) = &record.entry
                    && answers.last() != Some(&answer.message_id)
                {
                    answers.push(answer.message_id.clone());
                }
                let aside = is_aside || thread != Thread::MAIN;
                heads.extend(MessageHead::of(record, (file, ordinal), aside));
                ordinal += 1;
            })?;
        }
        heads.shrink_to_fit();
        let session = about.session.as_ref().map(|id| self.observed.session(id.as_str()));
        let observed = put_observed(&mut lane, &answers, &session.unwrap_or_default());
        Ok(CloseUp {
            about,
            agents: count,
            lane,
            is_reported,
            observed,
            heads,
            bytes: stamp.bytes,
            files,
        })
    }
}

/// Gives requests the shares that their own bytes tell. Answers and requests
/// stand in the same order; where they do not, nothing can be told.
fn put_observed(
    lane: &mut LaneReport,
    answers: &[MessageId],
    known: &BTreeMap<String, BodyShares>,
) -> usize {
    if answers.len() != lane.rounds.len() {
        return 0;
    }
    let mut count = 0;
    for (round, answer) in lane.rounds.iter_mut().zip(answers) {
        if let Some(shares) = known.get(answer.as_str()) {
            shares.put(round);
            count += 1;
        }
    }
    count
}

/// Every record of a file, in its order.
fn records(
    path: &Path,
    line_bytes: u64,
    sink: &mut dyn FnMut(Thread, &Record),
) -> Result<(), Error> {
    let mut reader = Reader::new();
    let mut take = |told: TranscriptEvent| {
        if let What::Record(record) = &told.what {
            sink(told.thread, record);
        }
    };
    read_lines(path, line_bytes, &mut |line| reader.push(line, &mut take))?;
    reader.finish(&mut take);
    Ok(())
}
