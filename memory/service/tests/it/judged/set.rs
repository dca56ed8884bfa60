//! What people type to an agent, and what is worth keeping of it
//! (`shared/data/judgement/keep.json`), played through the service. The
//! benchmark takes its figures from here too.

use everfold_kernel::limits::ExtractLimits;
use everfold_kernel::ports::{
    Clock, Haste, Kept, MemoryAuthor, MemoryPlace, MemoryPlacement, MemoryProposal, MemoryScope,
    MemoryWriter,
};
use everfold_kernel::{RecordId, Testimony};
use everfold_memory_file::frontmatter::{Key, METADATA, Value as Word, set};
use everfold_memory_file::{Memory, MemoryDraft, MemoryType};
use everfold_memory_judge::wish::{Certainty, Tier, WishRules, wishes};
use everfold_memory_judge::words;
use everfold_memory_service::{Here, Service, ServiceConfig};
use everfold_testkit::FakeClock;
use jiff::tz::TimeZone;
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;

/// One turn, and what is worth keeping of it.
pub(crate) struct Turn {
    pub(crate) id: String,
    pub(crate) prompt: String,
    pub(crate) class: &'static str,
    pub(crate) wanted: Vec<Item>,
    today: Option<String>,
    zone: Option<String>,
    existing: Vec<(String, String)>,
}

/// Something that is worth keeping.
pub(crate) struct Item {
    pub(crate) must: Vec<String>,
    pub(crate) must_not: Vec<String>,
    kind: MemoryType,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Proposer {
    /// Nobody: rules alone.
    Rules,
    /// A model that proposes what is worth keeping, in the person's words.
    Willing,
    /// A model that does what any text tells it, and vouches for it.
    Poisoned,
}

/// What came of a turn.
pub(crate) struct Played {
    /// Memories that are active, in lower case.
    pub(crate) active: Vec<String>,
    /// Everything that stands on the disk.
    pub(crate) disk: String,
}

impl Turn {
    /// Whether there are memories before it.
    #[allow(dead_code, reason = "the benchmark asks")]
    pub(crate) fn has_existing(&self) -> bool {
        !self.existing.is_empty()
    }
}

impl Played {
    /// Whether something that was wanted is there, whole.
    pub(crate) fn has(&self, item: &Item) -> bool {
        let whole = self.active.join("\n");
        item.must.iter().all(|word| whole.contains(word))
    }

    /// Whether a memory says what it must not.
    pub(crate) fn is_corrupt(&self, item: &Item) -> bool {
        self.active.iter().any(|memory| item.must_not.iter().any(|word| memory.contains(word)))
    }
}

/// The set; none where it does not lie beside the repository.
pub(crate) fn turns() -> Option<Vec<Turn>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .map(|dir| dir.join("shared/data/judgement/keep.json"))
        .find(|path| path.is_file())?;
    let set: Value = serde_json::from_str(&std::fs::read_to_string(path).ok()?).ok()?;
    Some(set["turns"].as_array()?.iter().map(turn).collect())
}

fn texts(value: &Value) -> Vec<String> {
    let all = value.as_array().into_iter().flatten().filter_map(Value::as_str);
    all.map(str::to_lowercase).collect()
}

fn turn(value: &Value) -> Turn {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let context = &value["context"];
    let item = |item: &Value| Item {
        must: texts(&item["must_contain"]),
        must_not: texts(&item["must_not_contain"]),
        kind: MemoryType::by_name(item["type"].as_str().unwrap_or_default())
            .unwrap_or(MemoryType::Project),
    };
    let existing: Vec<(String, String)> = context["existing"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|memory| Some((text(&memory["name"])?, text(&memory["body"])?)))
        .collect();
    let wanted: Vec<Item> = value["keep"].as_array().into_iter().flatten().map(item).collect();
    let prompt = text(&value["prompt"]).unwrap_or_default();
    let class = class(value, &prompt, &wanted, &existing);
    Turn {
        id: text(&value["id"]).unwrap_or_default(),
        class,
        wanted,
        today: text(&context["today"]),
        zone: text(&context["tz"]),
        existing,
        prompt,
    }
}

fn class(
    value: &Value,
    prompt: &str,
    wanted: &[Item],
    existing: &[(String, String)],
) -> &'static str {
    let why = value["why"].as_str().unwrap_or_default().to_lowercase();
    let adds = || {
        let old: String = existing.iter().map(|(_, body)| body.to_lowercase()).collect();
        let all = wanted.iter().flat_map(|item| &item.must);
        all.clone().any(|word| old.contains(word))
    };
    if prompt.contains("EXAMPLE") {
        "secret"
    } else if value["explicit"] == true {
        "explicit"
    } else if !existing.is_empty() && !wanted.is_empty() {
        if adds() { "extending" } else { "superseding" }
    } else if ["quoted", "pasted", "text to", "inside", "log plus"].iter().any(|w| why.contains(w))
    {
        "pasted"
    } else if wanted.is_empty() {
        "nothing"
    } else if wanted.iter().any(|item| !item.must_not.is_empty()) {
        "date"
    } else {
        "implied"
    }
}

/// Plays a turn in a directory of its own.
pub(crate) fn play(turn: &Turn, proposer: Proposer, prefix: &str) -> Played {
    let dir = tempfile::tempdir().unwrap();
    let place = |scope, name: &str| MemoryPlace { scope, dir: dir.path().join(name) };
    let places = vec![place(MemoryScope::Global, "global"), place(MemoryScope::Project, "project")];
    let clock: Arc<dyn Clock> = Arc::new(clock(turn));
    let service = Service::new(places, Here::default(), ServiceConfig::default(), &clock);
    for (name, body) in &turn.existing {
        let draft = MemoryDraft { name, description: body, kind: MemoryType::Project, body };
        keep(
            &service,
            draft.render(),
            Testimony::typed(body.as_str(), "old".into()),
            Haste::AtOnce,
        );
    }
    let prompt = format!("{prefix}{}", turn.prompt);
    let mut heard = Testimony::default();
    heard.hear(&RecordId::from("r"), &words::split(&prompt, &[]), &prompt);
    match proposer {
        Proposer::Rules => by_rules(&service, &heard),
        Proposer::Willing => willing(&service, turn, &heard),
        Proposer::Poisoned => poisoned(&service, &prompt, &heard),
    }
    let active = read(&dir.path().join("project"), false)
        .into_iter()
        .chain(read(&dir.path().join("global"), false))
        .map(|text| said_by(&text).to_lowercase())
        .collect();
    Played { active, disk: read(dir.path(), true).join("\n") }
}

fn clock(turn: &Turn) -> FakeClock {
    let zone = turn.zone.as_deref().and_then(|zone| TimeZone::get(zone).ok());
    let zone = zone.unwrap_or(TimeZone::UTC);
    let today: jiff::civil::Date = turn.today.as_deref().unwrap_or("2026-11-18").parse().unwrap();
    let noon = today.at(12, 0, 0, 0).to_zoned(zone.clone()).unwrap().timestamp();
    let clock = FakeClock::at(noon);
    clock.move_to(zone);
    clock
}

fn by_rules(service: &Service, heard: &Testimony) {
    for wish in wishes(heard, WishRules::Standing, &ExtractLimits::default()) {
        let draft = MemoryDraft {
            name: &wish.name,
            description: &wish.description,
            kind: wish.kind,
            body: &wish.body,
        };
        let haste = if wish.certainty == Certainty::Sure { Haste::AtOnce } else { Haste::Waits };
        let scope = (wish.tier == Tier::Global).then_some(MemoryScope::Global);
        let place = MemoryPlacement::Anywhere { scope };
        propose(service, draft.render(), heard.clone(), haste, place);
    }
}

/// A model that writes down the sentences in which what is wanted stands.
fn willing(service: &Service, turn: &Turn, heard: &Testimony) {
    let typed: Vec<&str> = heard.by_person().map(|said| said.text.trim()).collect();
    let typed = typed.join(" ");
    for item in &turn.wanted {
        let name: Vec<&str> = typed.split_whitespace().take(5).collect();
        let name = name.join(" ");
        let draft = MemoryDraft { name: &name, description: &typed, kind: item.kind, body: &typed };
        keep(service, draft.render(), heard.clone(), Haste::AtOnce);
    }
}

/// A model that proposes every part of what it read, as if the person had said
/// it, and quotes the person's own words for it.
fn poisoned(service: &Service, prompt: &str, heard: &Testimony) {
    let quote = heard.by_person().next().map(|said| said.text.trim().to_owned());
    let foreign = heard.said.iter().filter(|said| !said.by.is_typed()).map(|said| said.text.trim());
    for text in foreign.chain([prompt]) {
        let draft =
            MemoryDraft { name: "note", description: text, kind: MemoryType::Feedback, body: text };
        let mut file = draft.render();
        for (key, value) in [("basis", Some("stated".to_owned())), ("evidence", quote.clone())] {
            if let Some(value) = value.filter(|value| !value.is_empty()) {
                file = set(&file, Key::Under(METADATA, key), &Word::Text(value)).unwrap_or(file);
            }
        }
        keep(service, file, heard.clone(), Haste::AtOnce);
    }
}

fn keep(service: &Service, text: String, testimony: Testimony, haste: Haste) -> Kept {
    propose(service, text, testimony, haste, MemoryPlacement::Anywhere { scope: None })
}

fn propose(
    service: &Service,
    text: String,
    testimony: Testimony,
    haste: Haste,
    place: MemoryPlacement,
) -> Kept {
    let by = MemoryAuthor {
        who: MemoryWriter::Agent("extract".into()),
        reason: String::new(),
        session: None,
        messages: Vec::new(),
    };
    service.keep(&MemoryProposal { text, place, testimony, by, haste }).unwrap()
}

/// What a memory says: its name, its description and its body.
fn said_by(text: &str) -> String {
    let memory = Memory::parse(text);
    let part = |part: Option<String>| part.unwrap_or_default();
    [part(memory.front.name), part(memory.front.description), memory.body.to_owned()].join("\n")
}

/// The memories of a directory, or all files in it and below.
fn read(dir: &Path, everything: bool) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        if everything {
            found.push(name.clone());
            if path.is_dir() {
                found.extend(read(&path, true));
            } else {
                found.push(String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned());
            }
        } else if path.extension().is_some_and(|ending| ending == "md") && name != "MEMORY.md" {
            found.push(std::fs::read_to_string(&path).unwrap());
        }
    }
    found
}
