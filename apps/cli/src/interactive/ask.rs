//! Asking the person whether a tool may run (Q6).

use super::fill;
use super::lines::Lines;
use crate::present::{Look, Presenter};
use everfold::Agent;
use everfold::kernel::ports::{Answer, PermissionAsk};
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
                answer = fill::fill(presenter, lines, &asked) => open.answer(answer?),
                () = open.voided() => {
                    presenter.note(Look::Yellow, "the server does not wait for it any more");
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
) -> io::Result<Answer> {
    presenter.styled(Look::Bold, &format!("{} wants to run:\n", ask.tool))?;
    for line in ask.summary.lines() {
        presenter.line(&format!("  {line}"))?;
    }
    loop {
        let rule = &ask.rule;
        let question =
            format!("yes / always ({rule}) / always in this project / no, and why? [y/a/p/n] ");
        presenter.text(&question)?;
        let Some(line) = lines.next().await else {
            presenter.line("")?;
            return Ok(Answer::Deny { reason: "the input ended before an answer".into() });
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
                    presenter.styled(Look::Dim, &format!("kept in {}\n", path.display()))?;
                }
                Err(why) => presenter.note(Look::Yellow, &format!("only for now: {why}")),
            }
            return Ok(Answer::AllowAlways);
        }
    }
}

/// What a line means. Only a clear yes is one; words that are no answer are
/// the reason of a no.
fn answer(line: &str) -> Option<Answer> {
    let line = line.trim();
    let (word, rest) = line.split_once([' ', ',']).unwrap_or((line, ""));
    let rest = rest.trim();
    match (word.to_lowercase().as_str(), rest) {
        ("", _) | ("p" | "project", "") => None,
        ("y" | "yes", "") => Some(Answer::Allow),
        ("a" | "always", "") => Some(Answer::AllowAlways),
        ("n" | "no", "") => Some(Answer::Deny { reason: "the person said no".into() }),
        ("n" | "no", why) => Some(denied(why)),
        _ => Some(denied(line)),
    }
}

fn denied(why: &str) -> Answer {
    Answer::Deny { reason: format!("the person said no: {why}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn q6_only_a_clear_yes_is_one() {
        assert_eq!(answer("y"), Some(Answer::Allow));
        assert_eq!(answer(" Yes "), Some(Answer::Allow));
        assert_eq!(answer("a"), Some(Answer::AllowAlways));
        assert_eq!(answer(""), None);
        assert_eq!(answer("p"), None, "a rule for the project is more than an answer");
        for no in ["n", "no, use ls", "yes but not like that", "maybe"] {
            assert!(matches!(answer(no), Some(Answer::Deny { .. })), "{no}");
        }
        assert_eq!(answer("n use ls"), Some(denied("use ls")));
    }
}
