//! The causes of a bill, in order of money, each with what would change it
//! (PC9), for the terminal and for programs.

use crate::presenter::{Presenter, TextStyle, grouped};
use everfold_replay::{BillCause, BilledBreak, CauseCost, Causes, OtherLifetime};
use serde_json::{Value, json};
use std::io;

/// Breaks that are listed one by one.
const LISTED: usize = 10;

/// Shows them all, the breaks that cost most, and what another lifetime of
/// the cache would have changed.
pub(crate) fn show(causes: &Causes, presenter: &Presenter) -> io::Result<()> {
    presenter.styled(TextStyle::Bold, "what the bill is made of\n")?;
    let whole = causes.usd();
    let head = ["cause", "USD", "share", "avoidable", "tokens", "what would change it"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for (cause, own) in causes.sorted() {
        let avoidable = match own.avoidable_usd {
            0.0 => String::new(),
            usd => format!("{usd:.2}"),
        };
        rows.push(vec![
            cause.title().to_owned(),
            format!("{:.2}", own.usd),
            format!("{:.1}%", share(own.usd, whole)),
            avoidable,
            grouped(own.tokens),
            cause.advice().to_owned(),
        ]);
    }
    rows.push(vec!["total".to_owned(), format!("{whole:.2}")]);
    presenter.table(&rows)?;
    show_tools(causes, presenter)?;
    show_breaks(causes, presenter)?;
    show_lifetime(causes, presenter)
}

fn show_tools(causes: &Causes, presenter: &Presenter) -> io::Result<()> {
    let tools = causes.tools();
    let named: Vec<String> =
        tools.iter().take(8).map(|(tool, usd)| format!("{tool} {usd:.2}")).collect();
    if named.is_empty() {
        return Ok(());
    }
    presenter.line(&format!("\nresults by tool, USD: {}", named.join(", ")))
}

fn show_breaks(causes: &Causes, presenter: &Presenter) -> io::Result<()> {
    if causes.breaks.is_empty() {
        return Ok(());
    }
    let usd: f64 = causes.breaks.iter().map(|(_, own)| own.usd).sum();
    let title =
        format!("\n{} cache breaks inside the lifetime, {usd:.2} USD\n", causes.breaks.len());
    presenter.styled(TextStyle::Bold, &title)?;
    for (session, own) in causes.breaks.iter().take(LISTED) {
        let at = own.at.strftime("%Y-%m-%d %H:%M:%SZ");
        let short: String = session.chars().take(8).collect();
        let tokens = grouped(own.tokens);
        presenter
            .line(&format!("{:>8.2} USD  {short}  {at}  {tokens} tokens: {}", own.usd, own.part))?;
    }
    match causes.breaks.len().saturating_sub(LISTED) {
        0 => Ok(()),
        more => presenter.line(&format!("and {more} more (--json lists them all)")),
    }
}

fn show_lifetime(causes: &Causes, presenter: &Presenter) -> io::Result<()> {
    let OtherLifetime { hour_saves_usd: hour, five_minutes_save_usd: five } = causes.lifetime;
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
pub(crate) fn to_json(causes: &Causes) -> Value {
    let cause = |(cause, own): (BillCause, CauseCost)| {
        json!({"cause": cause, "usd": own.usd, "avoidable_usd": own.avoidable_usd,
            "tokens": own.tokens, "times": own.times, "advice": cause.advice()})
    };
    let broken = |(session, own): &(String, BilledBreak)| json!({"session": session, "break": own});
    json!({
        "usd": causes.usd(),
        "causes": causes.sorted().into_iter().map(cause).collect::<Vec<_>>(),
        "tools": causes.by_tool,
        "breaks": causes.breaks.iter().map(broken).collect::<Vec<_>>(),
        "lifetime": causes.lifetime,
    })
}

pub(crate) fn share(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part * 100.0 / whole } else { 0.0 }
}
