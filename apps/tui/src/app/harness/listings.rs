//! The lists that panels show in tests.

use super::Asked;
use crate::host::BoxFuture;
use crate::page::TextPage;
use crate::panel_data::{Listing, PanelData, Table, TableRow};
use crate::style::TextStyle;
use everfold_kernel::{Ledger, ModelTable, QuerySource, Usage, usage::Booking};

pub(crate) struct TestSide(pub(super) Asked);

impl PanelData for TestSide {
    fn table(&self, what: Listing) -> BoxFuture<'static, anyhow::Result<Table>> {
        self.0.lock().unwrap().push(format!("table {what:?}"));
        Box::pin(async move { Ok(table(what)) })
    }

    fn run(&self, line: &str, page: TextPage) -> BoxFuture<'static, anyhow::Result<()>> {
        self.0.lock().unwrap().push(line.to_owned());
        let line = line.to_owned();
        Box::pin(async move {
            anyhow::ensure!(!line.contains("broken"), "{line} cannot be done");
            page.write(TextStyle::Normal, &format!("what {line:?} says\n"));
            Ok(())
        })
    }

    fn spent(&self) -> BoxFuture<'static, anyhow::Result<Vec<(String, Ledger)>>> {
        Box::pin(async {
            let today = ledger(3);
            Ok(vec![("today, every project, 3 sessions".to_owned(), today)])
        })
    }
}

/// Some requests to two models.
pub(crate) fn ledger(times: u64) -> Ledger {
    let mut ledger = Ledger::default();
    let usage = Usage { input: 1_200 * times, output: 90, cache_read: 45_000, ..Usage::default() };
    for (source, model) in
        [(QuerySource::Main, "claude-opus-5"), (QuerySource::SessionMemory, "claude-haiku-4-5")]
    {
        let table = ModelTable::builtin();
        ledger.book(&Booking::new(source, model.into(), usage, &table));
    }
    ledger
}

fn row(id: &str, cells: &[&str], more: &str) -> TableRow {
    TableRow {
        id: id.to_owned(),
        cells: cells.iter().map(|cell| (*cell).to_owned()).collect(),
        look: TextStyle::Normal,
        more: more.to_owned(),
    }
}

#[expect(clippy::too_many_lines, reason = "a row for each list")]
fn table(what: Listing) -> Table {
    let (head, rows): (&[&str], Vec<TableRow>) = match what {
        Listing::Memories => (
            &["memory", "type", "where", "age", "used", "what it says"],
            vec![
                row(
                    "\"deploys.md\" --scope project",
                    &["deploys", "project", "project", "2d", "4", "Deploys on Friday need a word"],
                    "Deploys on Friday need a word\nbasis: stated\nrecalled 9 times, used 4",
                ),
                row(
                    "\"tabs.md\" --scope global",
                    &["tabs", "user", "global", "30d", "0", "Likes tabs, 日本語 too"],
                    "Likes tabs\nrecalled 0 times, used 0",
                ),
                row("\"broken.md\" --scope team", &["broken", "-", "team", "1h", "0", "x"], ""),
            ],
        ),
        Listing::Changes => (
            &["#", "when", "where", "who", "what", "files"],
            vec![
                row(
                    "7 --scope project",
                    &["7", "2026-11-12 09:30", "project", "person", "update", "deploys.md"],
                    "edited by hand",
                ),
                row(
                    "6 --scope project",
                    &["6", "2026-11-11 18:02", "project", "agent extract", "add", "deploys.md"],
                    "after a turn",
                ),
            ],
        ),
        Listing::Inbox => (
            &["#", "where", "age", "who", "what"],
            vec![row(
                "3 --scope project",
                &["3", "project", "1h", "agent dream", "change deploys.md"],
                "two memories say the same",
            )],
        ),
        Listing::Sessions | Listing::AllSessions => (
            &["age", "size", "branch", "title"],
            vec![
                row(
                    "0197-aa",
                    &["  2m", "  1.2 MB", "main", "Mend the parser of dates"],
                    "first: the parser fails on leap days\nnow:   Mend the parser of dates",
                ),
                row(
                    "0197-bb",
                    &["  3d", " 80.1 kB", "feature/tables", "Draw tables"],
                    "first: draw tables in the terminal\nnow:   Draw tables",
                ),
            ],
        ),
        Listing::Settings => (
            &["setting", "value", "from"],
            vec![
                row(
                    "model",
                    &["model", "\"opus\"", "home"],
                    "model = \"opus\"\nto change it: home",
                ),
                row("autoDreamEnabled", &["autoDreamEnabled", "true", "default"], "to change it"),
            ],
        ),
        Listing::Findings => (
            &[],
            vec![row(
                "no bash",
                &["warning", "platform", "there is no bash on the PATH; the Bash tool uses sh"],
                "there is no bash on the PATH; the Bash tool uses sh\nfix: install bash",
            )],
        ),
        Listing::Models => (
            &["model", "   window", "input $/M", "cached $/M", "output $/M"],
            vec![
                row("claude-haiku-4-5", &["claude-haiku-4-5", "  200,000", "1", "0.1", "5"], ""),
                row("claude-opus-5", &["claude-opus-5", "  200,000", "5", "0.5", "25"], ""),
            ],
        ),
        Listing::Servers => (&["server", "state", "from"], Vec::new()),
        Listing::Skills => (
            &["skill", "what for"],
            vec![row("review", &["/review [FILE]", "Reads a change"], "Reads a change")],
        ),
        Listing::Rules => (
            &["rule", "value", "from"],
            vec![row("permissions.deny.0", &["permissions.deny.0", "\"Bash(rm *)\"", "home"], "x")],
        ),
    };
    let head = head.iter().map(|name| (*name).to_owned()).collect();
    Table { head, rows, empty: "there are none".to_owned() }
}
