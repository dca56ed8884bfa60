//! The thread that knows languages, and what it found out.

use super::{Kind, Painted};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use syntect::parsing::{ParseState, Scope, ScopeStack, SyntaxSet};

/// Longer code stays plain.
const MOST_BYTES: usize = 256 * 1024;
/// Pieces of code that are remembered; then all are forgotten.
const MOST_KEPT: usize = 512;

static GENERATION: AtomicU64 = AtomicU64::new(0);
static BUSY: AtomicUsize = AtomicUsize::new(0);
static PAINTER: LazyLock<Painter> = LazyLock::new(Painter::start);

struct Job {
    key: u64,
    language: String,
    code: String,
}

struct Painter {
    jobs: Mutex<Sender<Job>>,
    /// None while it is being worked on.
    known: Arc<Mutex<HashMap<u64, Option<Arc<Painted>>>>>,
}

pub(super) fn of(language: &str, code: &str) -> (Option<Arc<Painted>>, bool) {
    if language.is_empty() || code.len() > MOST_BYTES {
        return (None, false);
    }
    let mut hasher = DefaultHasher::new();
    (language, code).hash(&mut hasher);
    let key = hasher.finish();
    let painter = &*PAINTER;
    let mut known = painter.known.lock().unwrap_or_else(PoisonError::into_inner);
    match known.get(&key) {
        Some(Some(pieces)) => (Some(Arc::clone(pieces)), false),
        Some(None) => (None, true),
        None => {
            if known.len() >= MOST_KEPT {
                known.retain(|_, painted| painted.is_none());
            }
            known.insert(key, None);
            BUSY.fetch_add(1, Ordering::SeqCst);
            let job = Job { key, language: language.to_owned(), code: code.to_owned() };
            let sent = painter.jobs.lock().unwrap_or_else(PoisonError::into_inner).send(job);
            if sent.is_err() {
                BUSY.fetch_sub(1, Ordering::SeqCst);
            }
            (None, sent.is_ok())
        }
    }
}

pub(super) fn generation() -> u64 {
    GENERATION.load(Ordering::SeqCst)
}

pub(super) fn is_busy() -> bool {
    BUSY.load(Ordering::SeqCst) > 0
}

impl Painter {
    fn start() -> Self {
        let (jobs, asked) = channel();
        let known = Arc::new(Mutex::new(HashMap::new()));
        let own = Arc::clone(&known);
        std::thread::spawn(move || work(&asked, &own));
        Self { jobs: Mutex::new(jobs), known }
    }
}

fn work(asked: &Receiver<Job>, known: &Mutex<HashMap<u64, Option<Arc<Painted>>>>) {
    let languages = SyntaxSet::load_defaults_newlines();
    let scopes = Scopes::new();
    while let Ok(job) = asked.recv() {
        let painted = Arc::new(paint(&languages, &scopes, &job));
        let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert(job.key, Some(painted));
        drop(known);
        GENERATION.fetch_add(1, Ordering::SeqCst);
        BUSY.fetch_sub(1, Ordering::SeqCst);
    }
}

/// The pieces of a code; none where its language is not known.
fn paint(languages: &SyntaxSet, scopes: &Scopes, job: &Job) -> Painted {
    let name = match job.language.as_str() {
        "shell" | "console" | "zsh" => "bash",
        "typescript" | "ts" | "tsx" | "jsx" => "js",
        "toml" => "ini",
        name => name,
    };
    let Some(syntax) = languages.find_syntax_by_token(name) else { return Painted::new() };
    let mut state = ParseState::new(syntax);
    let mut stack = ScopeStack::new();
    let mut painted = Painted::new();
    for line in job.code.split_inclusive('\n') {
        let Ok(changes) = state.parse_line(line, languages) else { return painted };
        let text = line.trim_end_matches('\n').len();
        let mut pieces: Vec<(usize, Kind)> = Vec::new();
        let mut from = 0;
        let mut add = |upto: usize, kind: Kind| {
            let upto = upto.min(text);
            if upto > from {
                match pieces.last_mut() {
                    Some((bytes, last)) if *last == kind => *bytes += upto - from,
                    _ => pieces.push((upto - from, kind)),
                }
                from = upto;
            }
        };
        for (at, change) in changes {
            add(at, scopes.kind(&stack));
            if stack.apply(&change).is_err() {
                return painted;
            }
        }
        add(text, scopes.kind(&stack));
        painted.push(pieces);
    }
    painted
}

/// What the names that languages give to their parts mean here.
struct Scopes(Vec<(Scope, Kind)>);

impl Scopes {
    fn new() -> Self {
        let meanings = [
            ("comment", Kind::Comment),
            ("string", Kind::Text),
            ("constant", Kind::Value),
            ("keyword.operator", Kind::Plain),
            ("keyword", Kind::Word),
            ("storage", Kind::Word),
            ("variable.language", Kind::Word),
            ("entity.name.function", Kind::Name),
            ("support.function", Kind::Name),
            ("entity.name.tag", Kind::Word),
            ("entity.name", Kind::Shape),
            ("entity.other.attribute-name", Kind::Name),
            ("support.type", Kind::Shape),
            ("support.class", Kind::Shape),
            ("markup.inserted", Kind::Text),
            ("markup.deleted", Kind::Value),
        ];
        let scope = |(name, kind): (&str, Kind)| Some((Scope::new(name).ok()?, kind));
        Self(meanings.into_iter().filter_map(scope).collect())
    }

    /// The innermost part that means something.
    fn kind(&self, stack: &ScopeStack) -> Kind {
        let meaning = |scope: &Scope| {
            self.0.iter().find(|(known, _)| known.is_prefix_of(*scope)).map(|(_, kind)| *kind)
        };
        stack.as_slice().iter().rev().find_map(meaning).unwrap_or(Kind::Plain)
    }
}
