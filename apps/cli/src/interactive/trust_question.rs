//! Asking once whether a repository may act, before anything of it does (S7).

use super::lines::{self, Lines};
use crate::args::Talk;
use crate::presenter::{Presenter, TextStyle};
use crate::setup::{self, ProcessEnv};
use crate::trust;
use anyhow::Result;
use everfold_agent::settings::trust::TrustDecision;
use jiff::Timestamp;

/// Asks where there is something to be asked. The answer is the next of these
/// lines, or of the terminal where nobody reads that yet.
pub(crate) async fn ask(
    env: &ProcessEnv,
    talk: &Talk,
    presenter: &Presenter,
    mut lines: Option<&mut Lines>,
) -> Result<()> {
    if talk.bare {
        return Ok(());
    }
    let repository = setup::builder(env, &talk.choices)?.repository()?;
    if !repository.wants_a_word().await {
        return Ok(());
    }
    let imports = repository.outside_imports().await;
    let root = repository.trust().root().display();
    presenter.styled(TextStyle::Bold, &format!("{root} has things that run on their own:\n"))?;
    presenter.table(&trust::rows(repository.trust(), &imports))?;
    presenter
        .line("They run with your permissions. Trust them only if you know who wrote them.")?;
    match &mut lines {
        Some(lines) => lines.settle(presenter).await?,
        None => lines::settle_terminal().await,
    }
    loop {
        presenter.text("trust this repository? [y/N] ")?;
        let line = match &mut lines {
            Some(lines) => lines.answer().await,
            None => lines::one(),
        };
        let Some(line) = line else { return Ok(()) };
        let Some(verdict) = verdict(&line) else { continue };
        repository.say(verdict, Timestamp::now()).await?;
        let done = match verdict {
            TrustDecision::Trusted => "trusted; any change asks again",
            TrustDecision::Declined => "they stay off; `everfold trust` turns them on",
        };
        presenter.styled(TextStyle::Dim, &format!("{done}\n"))?;
        return Ok(());
    }
}

/// Only a plain yes is one.
fn verdict(line: &str) -> Option<TrustDecision> {
    match line.trim().to_lowercase().as_str() {
        "y" | "yes" => Some(TrustDecision::Trusted),
        "" | "n" | "no" => Some(TrustDecision::Declined),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s7_only_a_plain_yes_is_one() {
        assert_eq!(verdict(" Yes "), Some(TrustDecision::Trusted));
        assert_eq!(verdict(""), Some(TrustDecision::Declined));
        assert_eq!(verdict("n"), Some(TrustDecision::Declined));
        assert_eq!(verdict("yes, fix the tests"), None);
    }
}
