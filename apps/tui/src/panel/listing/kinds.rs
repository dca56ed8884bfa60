//! What the lists are called, and what can be done with their rows.

use crate::panel::rows::Typing;
use crate::panel_data::Listing;

/// What is special of a list.
#[derive(Clone, Copy)]
pub(super) struct Kind {
    pub(super) title: &'static str,
    pub(super) typing: Typing,
    pub(super) enter: Enter,
    pub(super) keys: &'static [Key],
}

/// What Enter does; `{}` stands for the row's name.
#[derive(Clone, Copy)]
pub(super) enum Enter {
    /// Shows what the row has more to say.
    More,
    /// Shows what a command writes.
    Read(&'static str),
    /// Sends a text as if it had been typed.
    Send(&'static str),
    /// Puts a text where the person types.
    Put(&'static str),
    /// Goes on with a session.
    Resume,
}

impl Enter {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::More | Self::Read(_) => "shows",
            Self::Send(_) => "switches",
            Self::Put(_) => "selects it",
            Self::Resume => "resumes it",
        }
    }
}

/// A letter that does something.
pub(super) struct Key {
    pub(super) letter: char,
    pub(super) word: &'static str,
    pub(super) does: Does,
}

#[derive(Clone, Copy)]
pub(super) enum Does {
    /// Runs a command about the row.
    Run(&'static str),
    /// The same after a yes to a question.
    RunIfSure(&'static str, &'static str),
    /// Runs a command, whatever the row.
    RunAlways(&'static str),
    /// Sends a text about the row as if it had been typed.
    Send(&'static str),
    Open(Listing),
}

const fn key(letter: char, word: &'static str, does: Does) -> Key {
    Key { letter, word, does }
}

const MEMORIES: &[Key] = &[
    key('e', "edit", Does::Run("memory edit {}")),
    key('f', "forget", Does::RunIfSure("memory forget {}", "forget {}?")),
    key('u', "undo", Does::RunAlways("memory undo")),
    key('l', "log", Does::Open(Listing::Changes)),
    key('i', "inbox", Does::Open(Listing::Inbox)),
];
const CHANGES: &[Key] = &[key('u', "undo it", Does::Run("memory undo {}"))];
const INBOX: &[Key] = &[
    key('a', "accept", Does::Run("memory inbox accept {}")),
    key('e', "edit", Does::Run("memory inbox edit {}")),
    key('r', "reject", Does::RunIfSure("memory inbox reject {}", "reject proposal {}?")),
];
const RULES: &[Key] = &[key('f', "remove it", Does::Send("/permissions forget {}"))];

/// What is special of a list.
pub(super) fn kind(what: Listing) -> Kind {
    let plain = |title, enter| Kind { title, typing: Typing::Always, enter, keys: &[] };
    let acting = |title, line, keys| Kind {
        title,
        typing: Typing::AfterSlash,
        enter: Enter::Read(line),
        keys,
    };
    match what {
        Listing::Memories => acting("memories", "memory show {}", MEMORIES),
        Listing::Changes => acting("changes of memories", "memory diff {}", CHANGES),
        Listing::Inbox => acting("memory inbox", "memory inbox show {}", INBOX),
        Listing::Sessions => plain("sessions of this directory", Enter::Resume),
        Listing::AllSessions => plain("sessions of every project", Enter::Resume),
        Listing::Settings => plain("settings", Enter::More),
        Listing::Findings => plain("doctor", Enter::More),
        Listing::Models => plain("models", Enter::Send("/model {}")),
        Listing::Servers => plain("MCP servers", Enter::More),
        Listing::Skills => plain("skills and custom commands", Enter::Put("/{} ")),
        Listing::Rules => Kind {
            title: "rules for what tools may do",
            typing: Typing::AfterSlash,
            enter: Enter::More,
            keys: RULES,
        },
    }
}
