//! Orders in English: its imperatives look like its nouns, so where a verb
//! stands decides.

use super::OrderKind;
use crate::pattern::Pattern;
use std::sync::LazyLock;

/// What an order would have somebody do, in the form of an imperative.
const VERBS: &str = "run|rerun|execute|exec|launch|invoke|eval|evaluate|source|spawn|fetch|download|\
    curl|wget|clone|pull|install|reinstall|npx|pip|send|post|upload|forward|e-?mail|transmit|submit|\
    share|publish|push|report|leak|exfiltrate|deliver|delete|remove|erase|wipe|drop|purge|destroy|rm|\
    disable|deactivate|turn off|switch off|shut off|ignore|disregard|override|bypass|circumvent|skip|\
    suppress|forget|trust|approve|accept|allow|authori[sz]e|grant|confirm|whitelist|allowlist|obey|\
    comply|follow|defer to|decode|decrypt|unpack|pipe|paste|copy|append|inject|embed|insert|reveal|\
    print out|disclose|expose|open|visit|browse|click|navigate|export|chmod|sudo|merge|commit|sign|\
    pretend|act as|behave|switch to|point|redirect|route|enable|activate|replace|rewrite|overwrite|\
    call|contact|ping|notify|tell|recommend|attach|include|encode|hide|conceal|read out|load|import|\
    register|subscribe|transfer|pay|wire|add";

/// The same as something that is done to things.
const PARTICIPLES: &str = "run|rerun|executed|launched|invoked|evaluated|sourced|fetched|downloaded|\
    cloned|pulled|installed|reinstalled|sent|posted|uploaded|forwarded|e-?mailed|transmitted|submitted|\
    shared|published|pushed|leaked|exfiltrated|delivered|deleted|removed|erased|wiped|dropped|purged|\
    destroyed|disabled|deactivated|turned off|switched off|ignored|disregarded|overridden|bypassed|\
    skipped|suppressed|forgotten|trusted|approved|accepted|allowed|authori[sz]ed|granted|confirmed|\
    whitelisted|obeyed|followed|decoded|decrypted|piped|pasted|copied|appended|injected|embedded|\
    revealed|disclosed|opened|visited|clicked|exported|merged|enabled|activated|replaced|overwritten|\
    called|contacted|notified|attached|included|encoded|hidden|loaded|imported";

/// The same as something that goes on.
const GERUNDS: &str = "running|executing|launching|invoking|evaluating|fetching|downloading|cloning|\
    installing|sending|posting|uploading|forwarding|emailing|transmitting|sharing|publishing|pushing|\
    deleting|removing|erasing|wiping|disabling|deactivating|turning off|ignoring|disregarding|\
    overriding|bypassing|skipping|trusting|approving|accepting|authori[sz]ing|granting|obeying|\
    following|decoding|piping|pasting|copying";

/// Who is spoken to when an order is put as a rule.
const READERS: &str = "you|your|agents?|assistants?|ais?|models?|llms?|claude|copilot|codex|gpt|chatbots?|\
    bots?|readers?|users?|developers?|devs?|engineers?|everyone|everybody|anyone|contributors?|\
    maintainers?|whoever|sessions?|tools? that|reviewers?|automation|subagents?";

/// What follows a word that is a noun after all: "push notifications".
const NOUNS: &[&str] = &[
    "mortem",
    "mortems",
    "notification",
    "notifications",
    "job",
    "jobs",
    "request",
    "requests",
    "time",
    "times",
    "size",
    "store",
    "stores",
    "price",
    "prices",
    "button",
    "buttons",
    "link",
    "links",
    "is",
    "are",
    "was",
    "were",
    "has",
    "log",
    "logs",
    "script",
    "scripts",
    "address",
    "addresses",
    "center",
    "policy",
    "policies",
    "template",
    "templates",
    "queue",
    "traffic",
    "count",
    "counts",
    "rate",
    "rates",
    "history",
    "duration",
    "source",
    "stage",
    "step",
    "steps",
    "flags",
    "hooks",
    "happens",
    "happen",
    "takes",
    "goes",
    "go",
    "comes",
    "lives",
    "by",
    "nightly",
    "hourly",
    "daily",
    "weekly",
    "on",
    "at",
    "in",
    "under",
    "against",
    "through",
    "via",
    "-",
];

/// How a sentence gives an order, if it does.
pub(super) fn order(sentence: &str) -> Option<OrderKind> {
    let imperative = START.find_all(sentence).iter().any(|found| {
        let led = found.name("led").is_some();
        let next = found.name("next").map_or("", |next| next.as_str());
        led || !NOUNS.contains(&next)
    });
    if imperative || ASKED.is_in(sentence) || USE.is_in(sentence) {
        return Some(OrderKind::Imperative);
    }
    let duty = PASSIVE.is_in(sentence)
        || NEEDED.is_in(sentence)
        || (READER.is_in(sentence) && MODAL.is_in(sentence));
    duty.then_some(OrderKind::Obligation)
}

/// A verb where a clause begins, or after a word that leads in an order.
static START: LazyLock<Pattern> = LazyLock::new(|| {
    let verbs = VERBS.replace(' ', r"\ ");
    Pattern::ascii(&format!(
        r#"(?x)(?:^|[.!?;:,()\[\]>*\#–—|"'`•]\s*|\s-\s+|^-\s*|\n\s*
          |(?P<led>\b(?:please|pls|kindly|always|never|first|then|now|also|just|simply|next|finally|
            immediately|automatically|silently|quietly|afterwards|instead|do\ not|don'?t|must|
            sure\ to|sure\ you|sure\ that\ you|remember\ to|forget\ to|forgetting\ to|hesitate\ to|
            free\ to|ahead\ and|let'?s|let\ us|you\ to|agents?\ to|assistants?\ to|(?:step|task|job|
            fix|thing|way|action|duty|goal)\ is\ to|time\ to|necessary\ to|important\ to|mandatory\ to|
            required\ to|asked\ to|told\ to|instructed\ to|expected\ to|supposed\ to|advised\ to|
            obliged\ to|ordered\ to|be\ sure\ and|try\ to|(?:and|or|to)\ (?:then|always|never))\s+))
          (?:{verbs}) (?:\s+(?P<next>[\w'-]+)|[^\w\s-]|$|\s+[^\w\s])"#,
    ))
});

/// A request in polite words.
static ASKED: LazyLock<Pattern> = LazyLock::new(|| {
    Pattern::ascii(&format!(
        r"\b(?:would|could|can|will) you (?:[a-z]+ ){{0,2}}(?:{VERBS})\b|\bwould you mind (?:{GERUNDS})\b|\b(?:from now on|henceforth|from here on)\b.*\b(?:{VERBS})\b|\b(?:if|when|once|until|unless|after|before) you (?:[a-z]+ ){{0,1}}(?:{VERBS})\b|\b(?:want|need|ask|asks|like|tell|tells|instruct|instructs|require|requires|expect|expects|urge|advise|recommend) (?:you|agents?|assistants?|the (?:assistant|agent|model|ai|reader)|every ?(?:one|body)?) (?:[a-z]+ ){{0,2}}(?:to )?(?:{VERBS})\b"
    ))
});

/// What to use, where that leads somewhere else.
static USE: LazyLock<Pattern> = LazyLock::new(|| {
    Pattern::ascii(
        r"(?:^|[.!?;:,]\s*|\b(?:always|please|must|only|never)\s+)(?:use|set|configure|change|make|put|write|store|save|keep|treat|consider|answer|respond|reply|say)\b.*(?:https?://|\bregistry\b|\bmirror\b|\bproxy\b|\bendpoint\b|--[a-z]|\bwithout (?:asking|review|confirm|check)|\bpassword|\btokens?\b|\bcredential|\bapi key|\btrusted\b|\bhttp\b|\bno-verify\b)",
    )
});

/// What has to be done to something.
static PASSIVE: LazyLock<Pattern> = LazyLock::new(|| {
    Pattern::ascii(&format!(
        r"\b(?:must|should|shall|ha[sv]e? to|needs? to|is to|are to|ought to|wants? to|may safely|can safely)(?: [a-z]+){{0,3}} be(?: [a-z]+){{0,2}} (?:{PARTICIPLES})\b|\bneeds? (?:{GERUNDS})\b|\b(?:start|begin|end|finish)s? (?:with|by) (?:[a-z]+ )?(?:{GERUNDS})\b|\bto be (?:{PARTICIPLES}) (?:before|first|on every|each|by (?:the )?(?:agent|assistant|reader|you))"
    ))
});

/// What is said to be needed.
static NEEDED: LazyLock<Pattern> = LazyLock::new(|| {
    Pattern::ascii(&format!(
        r"\b(?:required|requires?|mandatory|necessary|essential|imperative|important|compulsory|crucial|obligatory|recommended|recommends?|suggests?|advised|encouraged|vital|critical|policy|insists?|demands?|mandates?)\b.*\b(?:{GERUNDS})\b|\b(?:required|mandatory|necessary|essential|imperative|important|compulsory|crucial|vital|critical|policy|insists?|demands?|mandates?|requires?|recommended) that\b.*\b(?:{VERBS}|{PARTICIPLES})\b|\b(?:{GERUNDS})\b.*\b(?:is|are) (?:[a-z]+ )?(?:required|mandatory|necessary|essential|compulsory|obligatory|expected|recommended)\b|\b(?:required|mandatory|necessary|essential|compulsory) (?:for|of) .*\bto (?:{VERBS})\b"
    ))
});

static READER: LazyLock<Pattern> = LazyLock::new(|| Pattern::ascii(&format!(r"\b(?:{READERS})\b")));

static MODAL: LazyLock<Pattern> = LazyLock::new(|| {
    Pattern::ascii(&format!(
        r"\b(?:must|should|shall|ha[sv]e? to|needs? to|are to|is to|ought to|had better|(?:are|is) (?:required|expected|asked|told|instructed|obliged|authori[sz]ed|permitted|allowed|supposed) to|(?:you|agents?|assistants?|claude) (?:will|can|may))(?: [a-z]+){{0,3}} (?:{VERBS})\b"
    ))
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s4_all_patterns_compile() {
        for pattern in [&START, &ASKED, &USE, &PASSIVE, &NEEDED, &READER, &MODAL] {
            assert_eq!(pattern.faults(), [""; 0]);
        }
    }
}
