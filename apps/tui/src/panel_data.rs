//! What can be looked at and done beside the session, while a turn runs as
//! well: lists for panels, and commands that do not need the session.

use crate::host::BoxFuture;
use crate::page::TextPage;
use crate::style::TextStyle;
use everfold_kernel::Ledger;

/// The program around the screen, as far as it does without the session.
pub trait PanelData: Send + Sync {
    fn table(&self, what: Listing) -> BoxFuture<'static, anyhow::Result<Table>>;

    /// Runs a command that needs no session, such as `memory forget …`, and
    /// writes to the page.
    fn run(&self, line: &str, page: TextPage) -> BoxFuture<'static, anyhow::Result<()>>;

    /// What was spent outside of this session: a name for each sum.
    fn spent(&self) -> BoxFuture<'static, anyhow::Result<Vec<(String, Ledger)>>>;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listing {
    /// Memories, of every place.
    Memories,
    /// Changes of memories, newest first.
    Changes,
    /// Changes of memories that wait for the person's word.
    Inbox,
    /// Conversations of this directory, newest first.
    Sessions,
    /// Conversations of every directory.
    AllSessions,
    /// Settings, their values and origins.
    Settings,
    /// What is wrong or missing.
    Findings,
    /// Models that are known.
    Models,
    /// Servers that bring tools.
    Servers,
    /// Skills and custom commands.
    Skills,
    /// Rules of what tools may do.
    Rules,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// What the columns are.
    pub head: Vec<String>,
    pub rows: Vec<TableRow>,
    /// What is said where there are none.
    pub empty: String,
}

/// A rule that the person added by "always" in this session, in the list of
/// rules (U3).
#[must_use]
pub fn granted_rule(rule: &str) -> TableRow {
    TableRow {
        id: rule.to_owned(),
        cells: vec!["always".to_owned(), rule.to_owned(), "you, for this session".to_owned()],
        look: TextStyle::Normal,
        more: format!("to remove it: /permissions forget {rule}"),
    }
}

/// A row of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableRow {
    /// How commands name it.
    pub id: String,
    pub cells: Vec<String>,
    pub look: TextStyle,
    /// What is said of it when a person asks for more; empty where a command
    /// says it.
    pub more: String,
}
