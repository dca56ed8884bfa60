//! Keeping and forgetting for another agent, through gate and review (L5.23,
//! L5.24).

use super::Beside;
use everfold_engine::extract::{Known, Proposal, Refusal, Review, Said, Verdict, Who, gate};
use everfold_kernel::settings::{Deed, Review as Way};
use everfold_kernel::{Class, Classify, RecordId};
use everfold_memdir::shelf::{Shelved, shelf};
use everfold_memdir::store::inbox::{Handed, Wish};
use everfold_memdir::store::{Expect, Place, Save};
use everfold_memdir::{By, EntryId, Scope, Store, TopicPath};
use everfold_memfile::frontmatter::{Basis, Fence, Key, METADATA, Trust, Value, fence, set};
use everfold_memfile::slug::slugify;
use everfold_memfile::{Draft, MemoryType};

/// A memory that another agent would keep.
#[derive(Clone, Copy, Debug)]
pub struct Keep<'a> {
    /// A short name; the file is called after it.
    pub name: &'a str,
    /// One specific sentence.
    pub description: &'a str,
    /// What it is about.
    pub kind: MemoryType,
    /// What it says.
    pub body: &'a str,
    /// Whose memory it is.
    pub scope: Scope,
    /// The memory that it takes the place of.
    pub replaces: Option<&'a TopicPath>,
}

/// What became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kept {
    /// It was done.
    Saved {
        /// Which memory.
        path: TopicPath,
        /// The entry in the history; none where nothing changed.
        entry: Option<EntryId>,
    },
    /// It waits for a person's word.
    Waiting {
        /// Which memory.
        path: TopicPath,
    },
}

/// Why something was not kept, in words for the agent.
#[derive(Debug, thiserror::Error)]
pub enum NotKept {
    /// The gate said no.
    #[error("it was not saved: {0}")]
    Refused(#[from] Refusal),
    /// Another memory says it.
    #[error("{of} says nearly the same; to change that one, give its id")]
    Copy {
        /// Which.
        of: String,
    },
    /// A person said no to the same before.
    #[error("the person turned the same down before")]
    TurnedDown,
    /// The memories cannot be read or written.
    #[error(transparent)]
    Memories(#[from] crate::Error),
}

impl From<everfold_memdir::Error> for NotKept {
    fn from(error: everfold_memdir::Error) -> Self {
        Self::Memories(error.into())
    }
}

impl Classify for NotKept {
    fn class(&self) -> Class {
        match self {
            Self::Memories(error) => error.class(),
            _ => Class::Refuse,
        }
    }
}

/// What is about to be written.
pub(crate) struct Writing<'a> {
    pub(crate) place: Place,
    pub(crate) text: &'a str,
    pub(crate) expect: Expect,
}

impl Beside {
    /// Keeps a memory for another agent.
    ///
    /// # Errors
    /// If it does not earn its place, or cannot be written.
    pub fn keep(&self, keep: &Keep<'_>, by: &By) -> Result<Kept, NotKept> {
        let store = self.memories.open(keep.scope)?;
        let today = by.at.to_zoned(jiff::tz::TimeZone::system()).date();
        let draft = Draft {
            name: keep.name.trim().to_owned(),
            description: keep.description.to_owned(),
            kind: keep.kind,
            body: keep.body.to_owned(),
            basis: Basis::Inferred,
            session: by.session.clone(),
            messages: Vec::new(),
            branch: None,
            worktree: None,
            trust: Trust::Own,
            rule: None,
        };
        let text = draft.render(today, by.at);
        // A new one has no name yet, so that one that says the same is found
        // whatever it is called.
        let file = keep.replaces.map_or("", TopicPath::as_str);
        // The agent's own word is all there is: it never counts as the person's.
        let said = Said {
            record: RecordId::from(String::new()),
            who: Who::Assistant,
            text: format!("{} {} {}", keep.name, keep.description, keep.body),
        };
        let review = Review { said: vec![said], ..Review::default() };
        let _held = self.hold();
        let known = known(&store)?;
        let verdict = gate(Proposal { file, text: &text }, &known, &review, &self.limits.extract);
        let way = match (verdict, keep.replaces) {
            (Verdict::Accept(_), _) => self.review.review_of(Deed::Usual),
            (Verdict::Update { of, .. }, _) => return Err(NotKept::Copy { of }),
            // What the person stated can be changed, but not behind their back.
            (Verdict::Refuse(Refusal::Outranked { .. }), Some(_)) => Way::Inbox,
            (Verdict::Refuse(refusal), _) => return Err(refusal.into()),
        };
        let Some(path) = keep.replaces else {
            let place = Place::Named(draft.name.clone());
            return write(&store, Writing { place, text: &text, expect: Expect::Nothing }, way, by);
        };
        let old = store.read(path)?;
        let text = replaced(&old.text, &draft, &text, by);
        let (place, expect) = (Place::At(path.clone()), Expect::Content(old.content));
        write(&store, Writing { place, text: &text, expect }, way, by)
    }

    /// Forgets a memory for another agent. What a person wrote waits for their
    /// word, unless settings say otherwise.
    ///
    /// # Errors
    /// If there is none, or it cannot be removed.
    pub fn forget(&self, scope: Scope, path: &TopicPath, by: &By) -> Result<Kept, NotKept> {
        let missing = || everfold_memdir::Error::NotFound { path: path.to_string() };
        let store = self.memories.existing(scope)?.ok_or_else(missing)?;
        let deed = if store.is_persons(path)? { Deed::DeletesPersons } else { Deed::Usual };
        if self.review.review_of(deed) == Way::Inbox {
            return handed(store.propose(&[Wish::forget(path.clone())], by)?, path.clone());
        }
        let entry = store.forget(path, by)?;
        Ok(Kept::Saved { path: path.clone(), entry })
    }
}

/// Writes a memory, or lets it wait.
pub(crate) fn write(
    store: &Store,
    writing: Writing<'_>,
    way: Way,
    by: &By,
) -> Result<Kept, NotKept> {
    let Writing { place, text, expect } = writing;
    if way == Way::Auto {
        let saved = store.save(&Save { place, text, expect, line: None }, by)?;
        return Ok(Kept::Saved { path: saved.path, entry: saved.entry });
    }
    let path = match &place {
        Place::At(path) => path.clone(),
        Place::Named(name) => TopicPath::new(&format!("{}.md", slugify(name)))?,
    };
    let wish = Wish { place, text: Some(text.to_owned()), line: None };
    handed(store.propose(&[wish], by)?, path)
}

fn handed(handed: Handed, path: TopicPath) -> Result<Kept, NotKept> {
    match handed {
        Handed::New(_) | Handed::Waiting(_) => Ok(Kept::Waiting { path }),
        Handed::RejectedBefore(_) => Err(NotKept::TurnedDown),
        Handed::Nothing => Ok(Kept::Saved { path, entry: None }),
    }
}

/// The memories of a store, as the gate compares them.
pub(crate) fn known(store: &Store) -> Result<Vec<Known>, crate::Error> {
    let memories = shelf(store.dir()).map_err(|error| crate::Error::Directory {
        path: store.dir().to_owned(),
        message: error.to_string(),
    })?;
    let one = |memory: Shelved| {
        let front = memory.front();
        Known {
            description: front.description.unwrap_or_default(),
            body: memory.body().to_owned(),
            basis: front.basis,
            file: memory.path,
        }
    };
    Ok(memories.into_iter().map(one).collect())
}

/// A memory with a new body and description; all else that it says of itself
/// stays.
fn replaced(old: &str, draft: &Draft, new: &str, by: &By) -> String {
    let (Fence::Closed { body: old_body, .. }, Fence::Closed { body: new_body, .. }) =
        (fence(old), fence(new))
    else {
        return new.to_owned();
    };
    let head = old.get(..old_body).unwrap_or_default();
    let mut text = format!("{head}{}", new.get(new_body..).unwrap_or_default());
    let words = |words: &str| Value::Text(words.to_owned());
    let keys = [
        (Key::Top("name"), words(&draft.name)),
        (Key::Top("description"), words(&draft.description)),
        (Key::Under(METADATA, "type"), words(draft.kind.as_str())),
        (Key::Under(METADATA, "basis"), words(draft.basis.as_str())),
        (Key::Under(METADATA, "modified"), words(&by.at.to_string())),
    ];
    for (key, value) in keys {
        text = set(&text, key, &value).unwrap_or(text);
    }
    text
}
