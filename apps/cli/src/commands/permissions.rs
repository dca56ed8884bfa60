//! Rules of what tools may do: what was granted is listed, and taken back (U3).

use super::{CommandContext, Flow, tables};
use crate::presenter::TextStyle;
use anyhow::Result;
use everfold_agent::engine::permit::TakenBack;
use everfold_tui::granted_rule;

/// `/permissions`, `/permissions forget RULE`.
pub(super) fn run(cx: &mut CommandContext, rest: &str) -> Result<Flow> {
    let rest = rest.trim();
    match rest.split_once(char::is_whitespace) {
        Some(("forget", rule)) => forget(cx, rule.trim())?,
        _ if rest.is_empty() => list(cx)?,
        _ => cx.presenter.note(TextStyle::Yellow, "usage: /permissions [forget RULE]"),
    }
    Ok(Flow::GoOn)
}

fn list(cx: &mut CommandContext) -> Result<()> {
    let mut table = tables::rules(&cx.agent);
    table.rows.extend(cx.session.permit_mut().granted().map(|rule| granted_rule(&rule)));
    tables::show(&table, &cx.presenter)
}

/// Takes a rule back, wherever it was granted: for this session, for this
/// project, or both.
fn forget(cx: &mut CommandContext, rule: &str) -> Result<()> {
    let mut places = Vec::new();
    if cx.session.permit_mut().take_back(rule) == TakenBack::Yes {
        places.push("this session".to_owned());
    }
    match cx.agent.drop_rule(rule) {
        Ok(Some(path)) => {
            cx.session.permit_mut().drop_allowed(rule);
            places.push(format!("this project ({})", path.display()));
        }
        Ok(None) => {}
        Err(why) => cx.presenter.note(TextStyle::Yellow, &why.to_string()),
    }
    if places.is_empty() {
        let hint = "/permissions lists the rules; those from settings are changed in their file";
        cx.presenter.note(TextStyle::Yellow, &format!("{rule} was not granted here; {hint}"));
        return Ok(());
    }
    cx.presenter.line(&format!("removed {rule} from {}", places.join(" and ")))?;
    Ok(())
}
