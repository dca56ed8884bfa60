//! The causes of a bill, in order of money, each with what would change it
//! (PC9).

use crate::presenter::{Presenter, TextStyle, grouped};
use everfold::bills::SessionBill;
use everfold_replay::{Bill, BillCause, BilledBreak, CauseCost, OtherLifetime};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io;

/// Breaks that are listed one by one.
const LISTED: usize = 10;

/// The causes of many bills.
#[derive(Debug, Default)]
pub(crate) struct Causes {
    by: BTreeMap<BillCause, CauseCost>,
    by_tool: BTreeMap<String, f64>,
    breaks: Vec<(String, BilledBreak)>,
    lifetime: OtherLifetime,
}

impl Causes {
    /// Those of sessions.
    pub(crate) fn of<'a>(bills: impl Iterator<Item = (String, &'a Bill)>) -> Self {
        let mut own = Self::default();
        for (name, bill) in bills {
            own.add(&name, bill);
        }
        own.breaks.sort_by(|(_, one), (_, other)| other.usd.total_cmp(&one.usd));
        own
    }

    /// Those of sessions that were read.
    pub(crate) fn of_sessions(sessions: &[SessionBill]) -> Self {
        let name = |own: &SessionBill| {
            let file = || own.path.file_stem().map(|name| name.to_string_lossy().into_owned());
            own.session.clone().or_else(file).unwrap_or_default()
        };
        Self::of(sessions.iter().map(|own| (name(own), &own.bill)))
    }

    fn add(&mut self, name: &str, bill: &Bill) {
        for ((cause, tool), spent) in &bill.causes {
            self.by.entry(*cause).or_default().add(spent);
            if !tool.is_empty() {
                *self.by_tool.entry(tool.clone()).or_default() += spent.usd;
            }
        }
        self.breaks.extend(bill.breaks.iter().map(|own| (name.to_owned(), own.clone())));
        self.lifetime.hour_saves_usd += bill.lifetime.hour_saves_usd;
        self.lifetime.five_minutes_save_usd += bill.lifetime.five_minutes_save_usd;
    }

    /// All of them together: the bill.
    pub(crate) fn usd(&self) -> f64 {
        self.by.values().map(|own| own.usd).sum()
    }

    /// The dearest first.
    pub(crate) fn sorted(&self) -> Vec<(BillCause, CauseCost)> {
        let mut all: Vec<_> = self.by.iter().map(|(cause, own)| (*cause, *own)).collect();
        all.sort_by(|(_, one), (_, other)| other.usd.total_cmp(&one.usd));
        all
    }

    /// Those by which most could be saved, the first three.
    pub(crate) fn worst(&self) -> Vec<(BillCause, CauseCost)> {
        let mut all = self.sorted();
        all.retain(|(_, own)| own.avoidable_usd > 0.0);
        all.sort_by(|(_, one), (_, other)| other.avoidable_usd.total_cmp(&one.avoidable_usd));
        all.truncate(3);
        all
    }

    /// Shows them all, the breaks that cost most, and what another lifetime of
    /// the cache would have changed.
    pub(crate) fn show(&self, presenter: &Presenter) -> io::Result<()> {
        presenter.styled(TextStyle::Bold, "what the bill is made of\n")?;
        let whole = self.usd();
        let head = ["cause", "USD", "share", "avoidable", "tokens", "what would change it"];
        let mut rows = vec![head.map(str::to_owned).to_vec()];
        for (cause, own) in self.sorted() {
            let avoidable = match own.avoidable_usd {
                0.0 => String::new(),
                usd => format!("{usd:.2}"),
            };
            rows.push(vec![
                title(cause).to_owned(),
                format!("{:.2}", own.usd),
                format!("{:.1}%", share(own.usd, whole)),
                avoidable,
                grouped(own.tokens),
                advice(cause).to_owned(),
            ]);
        }
        rows.push(vec!["total".to_owned(), format!("{whole:.2}")]);
        presenter.table(&rows)?;
        self.show_tools(presenter)?;
        self.show_breaks(presenter)?;
        self.show_lifetime(presenter)
    }

    fn show_tools(&self, presenter: &Presenter) -> io::Result<()> {
        let mut tools: Vec<(&String, &f64)> = self.by_tool.iter().collect();
        tools.sort_by(|one, other| other.1.total_cmp(one.1));
        let named: Vec<String> =
            tools.iter().take(8).map(|(tool, usd)| format!("{tool} {usd:.2}")).collect();
        if named.is_empty() {
            return Ok(());
        }
        presenter.line(&format!("\nresults by tool, USD: {}", named.join(", ")))
    }

    fn show_breaks(&self, presenter: &Presenter) -> io::Result<()> {
        if self.breaks.is_empty() {
            return Ok(());
        }
        let usd: f64 = self.breaks.iter().map(|(_, own)| own.usd).sum();
        let title =
            format!("\n{} cache breaks inside the lifetime, {usd:.2} USD\n", self.breaks.len());
        presenter.styled(TextStyle::Bold, &title)?;
        for (session, own) in self.breaks.iter().take(LISTED) {
            let at = own.at.strftime("%Y-%m-%d %H:%M:%SZ");
            let short: String = session.chars().take(8).collect();
            let tokens = grouped(own.tokens);
            presenter.line(&format!(
                "{:>8.2} USD  {short}  {at}  {tokens} tokens: {}",
                own.usd, own.part
            ))?;
        }
        match self.breaks.len().saturating_sub(LISTED) {
            0 => Ok(()),
            more => presenter.line(&format!("and {more} more (--json lists them all)")),
        }
    }

    fn show_lifetime(&self, presenter: &Presenter) -> io::Result<()> {
        let OtherLifetime { hour_saves_usd: hour, five_minutes_save_usd: five } = self.lifetime;
        let told = |usd: f64| if usd >= 0.0 { "less" } else { "more" };
        if hour != 0.0 {
            presenter.line(&format!(
                "\nwhere the cache lasts five minutes, an hour would have cost {:.2} USD {}",
                hour.abs(),
                told(hour)
            ))?;
        }
        if five != 0.0 {
            presenter.line(&format!(
                "where it lasts an hour, five minutes would have cost {:.2} USD {}",
                five.abs(),
                told(five)
            ))?;
        }
        Ok(())
    }

    /// The same for programs.
    pub(crate) fn to_json(&self) -> Value {
        let cause = |(cause, own): (BillCause, CauseCost)| {
            json!({"cause": cause, "usd": own.usd, "avoidable_usd": own.avoidable_usd,
                "tokens": own.tokens, "times": own.times, "advice": advice(cause)})
        };
        let broken =
            |(session, own): &(String, BilledBreak)| json!({"session": session, "break": own});
        json!({
            "usd": self.usd(),
            "causes": self.sorted().into_iter().map(cause).collect::<Vec<_>>(),
            "tools": self.by_tool,
            "breaks": self.breaks.iter().map(broken).collect::<Vec<_>>(),
            "lifetime": self.lifetime,
        })
    }
}

/// A cause for people.
pub(crate) fn title(cause: BillCause) -> &'static str {
    match cause {
        BillCause::Expiry => "expired cache",
        BillCause::CacheBreak => "cache breaks",
        BillCause::Compaction => "compactions",
        BillCause::SystemPrompt => "system prompt and tools",
        BillCause::LargeResults => "large results",
        BillCause::SmallResults => "other results",
        BillCause::RepeatedReads => "repeated reads",
        BillCause::LongAnswers => "long answers",
        BillCause::ShortAnswers => "other answers",
        BillCause::Dialogue => "the dialogue itself",
        BillCause::Injections => "reminders and instructions",
        BillCause::SubAgents => "sub-agents",
        BillCause::BackgroundWork => "background",
    }
}

/// What would change it.
pub(crate) fn advice(cause: BillCause) -> &'static str {
    match cause {
        BillCause::Expiry => "compact before a long pause, or a cache lifetime of an hour",
        BillCause::CacheBreak => "choose model, tools and thinking before the first message",
        BillCause::Compaction => "clear results earlier; start a new session for a new task",
        BillCause::SystemPrompt => "fewer tools and servers, shorter instruction files",
        BillCause::LargeResults => "ask for ranges, head or grep; let large results go to disk",
        BillCause::RepeatedReads => "what was read is still in view, or was cleared too early",
        BillCause::LongAnswers => "ask for less text, or a lower effort",
        BillCause::ShortAnswers => "a smaller model for simple work",
        BillCause::Dialogue | BillCause::SmallResults => {
            "compact, or start a new session for a new task"
        }
        BillCause::Injections => "shorter instruction files, fewer reminders",
        BillCause::SubAgents => "fewer sub-agents, or a smaller model for them",
        BillCause::BackgroundWork => "everfold.budget.background_share",
    }
}

pub(crate) fn share(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part * 100.0 / whole } else { 0.0 }
}
