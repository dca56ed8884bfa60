//! Asking the person whether a tool may run (Q6).

use super::elicitation;
use super::lines::Lines;
use crate::presenter::{Presenter, TextStyle};
use everfold_agent::Agent;
use everfold_kernel::ports::{PermissionAnswer, PermissionAsk};
use everfold_tui::Question;
use std::io;

/// Asks, and answers. A question that is dropped on the way was not answered:
/// who waits for it takes that as a no.
pub(super) async fn put(
    presenter: &Presenter,
    lines: &mut Lines,
    question: Question,
    agent: &Agent,
) -> io::Result<()> {
    match question {
        Question::Call(open) => {
            let answer = ask(presenter, lines, &open.ask, agent).await?;
            open.answer(answer);
        }
        Question::Server(mut open) => {
            let asked = open.ask.clone();
            tokio::select! {
                answer = elicitation::fill(presenter, lines, &asked) => open.answer(answer?),
                () = open.voided() => {
                    presenter.note(TextStyle::Yellow, "the server is no longer waiting for it");
                }
            }
        }
    }
    Ok(())
}

/// Asks until there is an answer. A rule for the project is kept by the agent.
async fn ask(
    presenter: &Presenter,
    lines: &mut Lines,
    ask: &PermissionAsk,
    agent: &Agent,
) -> io::Result<PermissionAnswer> {
    presenter.styled(TextStyle::Bold, &format!("allow {}?\n", ask.tool))?;
    for line in ask.summary.lines() {
        presenter.line(&format!("  {line}"))?;
    }
    lines.settle(presenter).await?;
    loop {
        let rule = &ask.rule;
        let question = format!(
            "yes / always {rule} in this session / always in this project / no, and why? \
                 [y/a/p/n] "
        );
        presenter.text(&question)?;
        let Some(line) = lines.answer().await else {
            presenter.line("")?;
            return Ok(PermissionAnswer::Deny {
                reason: "the input ended before an answer".into(),
            });
        };
        if !lines.are_typed() {
            presenter.line(&line)?;
        }
        if let Some(answer) = answer(&line) {
            return Ok(answer);
        }
        if matches!(line.trim().to_lowercase().as_str(), "p" | "project") {
            match agent.keep_rule(rule) {
                Ok(path) => {
                    presenter.styled(TextStyle::Dim, &format!("saved in {}\n", path.display()))?;
                }
                Err(why) => presenter.note(TextStyle::Yellow, &format!("this session only: {why}")),
            }
            return Ok(PermissionAnswer::AllowAlways);
        }
    }
}

/// What a line means. Only a clear yes is one; words that are no answer are
/// the reason of a no.
fn answer(line: &str) -> Option<PermissionAnswer> {
    let line = line.trim();
    let (word, rest) = line.split_once([' ', ',']).unwrap_or((line, ""));
    let rest = rest.trim();
    match (word.to_lowercase().as_str(), rest) {
        ("", _) | ("p" | "project", "") => None,
        ("y" | "yes", "") => Some(PermissionAnswer::Allow),
        ("a" | "always", "") => Some(PermissionAnswer::AllowAlways),
        ("n" | "no", "") => Some(PermissionAnswer::Deny { reason: "the person said no".into() }),
        ("n" | "no", why) => Some(denied(why)),
        _ => Some(denied(line)),
    }
}

fn denied(why: &str) -> PermissionAnswer {
    PermissionAnswer::Deny { reason: format!("the person said no: {why}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn q6_only_a_clear_yes_is_one() {
        assert_eq!(answer("y"), Some(PermissionAnswer::Allow));
        assert_eq!(answer(" Yes "), Some(PermissionAnswer::Allow));
        assert_eq!(answer("a"), Some(PermissionAnswer::AllowAlways));
        assert_eq!(answer(""), None);
        assert_eq!(answer("p"), None, "a rule for the project is more than an answer");
        for no in ["n", "no, use ls", "yes but not like that", "maybe"] {
            assert!(matches!(answer(no), Some(PermissionAnswer::Deny { .. })), "{no}");
        }
        assert_eq!(answer("n use ls"), Some(denied("use ls")));
    }
}
