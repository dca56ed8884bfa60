//! What a memory says of itself: how sure it is, on whose words it rests, since
//! when (L5.16, L5.33).

use crate::evidence::Grounds;
use everfold_kernel::{RecordId, SessionId, Timestamp};
use everfold_memory_file::Memory;
use everfold_memory_file::frontmatter::{Fence, Key, METADATA, Value, fence, remove, set};
use jiff::civil::Date;
use std::collections::BTreeSet;

/// Words of a name that is made from a description.
const NAME_WORDS: usize = 7;

/// Where a memory comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryOrigin {
    /// The session, if there is one.
    pub session: Option<SessionId>,
    /// The day, as the person has it.
    pub today: Date,
    pub at: Timestamp,
}

/// A file with another description and body; all else that it says of itself
/// stays.
#[must_use]
pub fn composed(file: &str, description: &str, body: &str) -> String {
    let Fence::Closed { body: start, .. } = fence(file) else {
        return format!("{}\n", body.trim());
    };
    let head = file.get(..start).unwrap_or_default();
    let value = Value::Text(description.to_owned());
    let head = set(head, Key::Top("description"), &value).unwrap_or_else(|_| head.to_owned());
    format!("{}\n\n{}\n", head.trim_end(), body.trim())
}

/// A file that is called so.
#[must_use]
pub fn named(file: &str, name: &str) -> String {
    let value = Value::Text(name.to_owned());
    set(file, Key::Top("name"), &value).unwrap_or_else(|_| file.to_owned())
}

/// A file that is no longer called after what no longer holds (L5.36): where
/// its name has words of that which the memory does not have any more, it is
/// called after its description.
#[must_use]
pub fn renamed(file: &str, ended: &[String]) -> String {
    let memory = Memory::parse(file);
    let (Some(name), Some(description)) = (&memory.front.name, &memory.front.description) else {
        return file.to_owned();
    };
    let words = |text: &str| -> BTreeSet<String> {
        let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        words.map(str::to_lowercase).collect()
    };
    let over: BTreeSet<String> = ended.iter().flat_map(|text| words(text)).collect();
    let holds = words(&format!("{description} {}", memory.body));
    let is_stale = words(name).iter().any(|word| over.contains(word) && !holds.contains(word));
    if !is_stale {
        return file.to_owned();
    }
    let short: Vec<&str> = description.split_whitespace().take(NAME_WORDS).collect();
    let short = short.join(" ").trim_end_matches(['.', ',', ';', ':']).to_owned();
    named(file, &short)
}

/// The text with what the judge knows of it in its `metadata`. What somebody
/// wrote there before is replaced: nobody vouches for themselves. All else stays
/// as it was; a text without closed frontmatter stays whole.
#[must_use]
pub fn stamped(text: &str, grounds: &Grounds, from: &MemoryOrigin) -> String {
    let Fence::Closed { .. } = fence(text) else { return text.to_owned() };
    let mut text = text.to_owned();
    let mut put = |key: &str, value: Option<Value>| {
        let key = Key::Under(METADATA, key);
        let changed = match value {
            Some(value) => set(&text, key, &value),
            None => remove(&text, key),
        };
        text = changed.unwrap_or_else(|_| text.clone());
    };
    let words = |value: &str| (!value.is_empty()).then(|| Value::Text(value.to_owned()));
    let named = grounds.messages.iter().filter(|id| !id.as_str().is_empty());
    let messages: Vec<String> = named.map(RecordId::to_string).collect();
    let foreign = (!grounds.provenance.is_typed()).then(|| grounds.provenance.to_string());
    put("tainted", None);
    put("originSessionId", from.session.as_ref().and_then(|id| words(id.as_str())));
    put("messages", (!messages.is_empty()).then_some(Value::List(messages)));
    put("date", Some(Value::Text(from.today.to_string())));
    put("basis", words(grounds.basis.as_str()));
    put("provenance", foreign.as_deref().and_then(words));
    put("evidence", words(&grounds.evidence));
    put("modified", Some(Value::Text(from.at.to_string())));
    text
}
