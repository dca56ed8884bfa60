//! Letters from and to other machines (F2): an outbox that outlives us, and the
//! place up to which we have read.
//!
//! A letter lies in the outbox until the fleet has acknowledged it. One that
//! comes is put into our own mailbox first; then the place is noted. Without the
//! servers letters wait, and are tried again for ever.

use crate::mailbox::Mailbox;
use crate::own;
use everfold_disk::atomic::{self, FileReaders};
use everfold_kernel::ports::{AgentName, CarriedLetter, Letter, MailCarrier, PostError};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;

/// The longest pause while the servers are away.
const LONGEST: Duration = Duration::from_secs(30);
/// The first.
const FIRST: Duration = Duration::from_millis(200);
/// How long the end of a session, and who asks for the others, waits for them.
const WAIT: Duration = Duration::from_secs(2);
/// How long the start of a session waits for what came while it was away.
const FIRST_LOOK: Duration = Duration::from_secs(1);

/// Where letters lie until a fleet has them, in a team's directory.
const OUTBOX: &str = "outbox";

/// How many letters of a team's members here wait for the fleet, by their files
/// alone.
#[must_use]
pub fn unsent(team: &Path) -> usize {
    let members = std::fs::read_dir(team.join(OUTBOX)).into_iter().flatten().flatten();
    members.map(|member| Mailbox::new(member.path(), Duration::ZERO).waiting()).sum()
}

/// Our mail on other machines.
pub(crate) struct Carried {
    carrier: Arc<dyn MailCarrier>,
    name: AgentName,
    outbox: Mailbox,
    inbox: Mailbox,
    place: PathBuf,
    poll: Duration,
    posted: Notify,
    looked: watch::Sender<bool>,
    task: Mutex<Option<JoinHandle<()>>>,
}

impl Carried {
    /// For a member of a team whose files are in a directory.
    pub(crate) fn new(
        carrier: Arc<dyn MailCarrier>,
        (dir, home): (&Path, &Path),
        (name, inbox): (&AgentName, Mailbox),
        (wait, poll): (Duration, Duration),
    ) -> Result<Self, PostError> {
        let outbox = dir.join(OUTBOX).join(name.as_str());
        for part in ["", "new", "next"] {
            own::directory(&outbox.join(part), home)?;
            own::directory(&inbox.dir().join(part), home)?;
        }
        own::directory(&dir.join("read"), home)?;
        let place = dir.join("read").join(name.as_str());
        let outbox = Mailbox::new(outbox, wait);
        let task = Mutex::default();
        let (posted, looked) = (Notify::new(), watch::Sender::new(false));
        Ok(Self { carrier, name: name.clone(), outbox, inbox, place, poll, posted, looked, task })
    }

    /// Takes a letter; from here on it gets there.
    pub(crate) fn put(&self, to: &AgentName, letter: Letter) -> Result<(), PostError> {
        self.outbox.put(to.as_str(), letter)?;
        self.posted.notify_one();
        Ok(())
    }

    /// Who is there on other machines; nobody where that cannot be told.
    pub(crate) async fn others(&self) -> Vec<AgentName> {
        let asked = tokio::time::timeout(WAIT, self.carrier.present()).await;
        let mut names = asked.ok().and_then(Result::ok).unwrap_or_default();
        names.retain(|name| *name != self.name);
        names
    }

    /// Starts to carry, beside everything else.
    pub(crate) fn start(self: &Arc<Self>) {
        let own = Arc::clone(self);
        let task = tokio::spawn(async move { own.work().await });
        let mut slot = self.task.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(before) = slot.replace(task) {
            before.abort();
        }
    }

    /// Waits for the first look, for a moment: a session of one turn would end
    /// before its letters are here.
    pub(crate) async fn first_look(&self) {
        let mut looked = self.looked.subscribe();
        let _ = tokio::time::timeout(FIRST_LOOK, looked.wait_for(|looked| *looked)).await;
    }

    /// Ends it, once what waits in the outbox had a chance to go.
    pub(crate) async fn end(&self) {
        let task = self.task.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(task) = task {
            task.abort();
        }
        let _ = tokio::time::timeout(WAIT, self.send_all()).await;
    }

    async fn work(&self) {
        let (mut pause, mut appeared) = (FIRST, None::<Instant>);
        loop {
            let is_due = appeared.is_none_or(|last| last.elapsed() >= self.poll);
            let done = self.look(is_due).await;
            self.looked.send_replace(true);
            match &done {
                Ok(()) => {
                    appeared = if is_due { Some(Instant::now()) } else { appeared };
                    pause = FIRST;
                    // A letter of ours, one for us, or the next look.
                    let news = async {
                        tokio::select! {
                            () = self.carrier.nudge(&self.name) => {}
                            () = self.posted.notified() => {}
                        }
                    };
                    let _ = tokio::time::timeout(self.poll, news).await;
                }
                Err(error) => {
                    tracing::debug!(%error, "letters wait for the fleet");
                    appeared = None;
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(LONGEST);
                }
            }
        }
    }

    async fn look(&self, is_due: bool) -> Result<(), PostError> {
        self.send_all().await?;
        self.fetch_all().await?;
        if is_due { self.carrier.appear(&self.name).await } else { Ok(()) }
    }

    /// Hands over what waits in the outbox, in its order.
    async fn send_all(&self) -> Result<(), PostError> {
        for (file, to, letter) in self.outbox.queued()? {
            self.carrier.carry(&to, &letter).await?;
            self.outbox.sent(&file)?;
        }
        Ok(())
    }

    async fn fetch_all(&self) -> Result<(), PostError> {
        let mut place = self.read_place();
        let mut is_first = true;
        while let Some(CarriedLetter { place: at, letter }) =
            self.carrier.next(&self.name, place).await?
        {
            // Who was killed before the place was noted has it already.
            let is_here = is_first && self.inbox.holds(&letter.id)?;
            is_first = false;
            if !is_here && AgentName::parse(&letter.from).is_ok() {
                let from = letter.from.clone();
                self.inbox.put(&from, letter)?;
            }
            place = at;
            let text = place.to_string();
            atomic::write(&self.place, text.as_bytes(), FileReaders::Private)
                .map_err(crate::mailbox::told)?;
        }
        Ok(())
    }

    fn read_place(&self) -> u64 {
        let text = std::fs::read_to_string(&self.place).unwrap_or_default();
        text.trim().parse().unwrap_or(0)
    }
}
