//! Hooks around a change of the model.

use crate::agents::model_of;
use crate::event::Event;
use crate::session::{Error, Session};
use everfold_hooks::{Occasion, Switch};
use everfold_kernel::ModelId;
use everfold_kernel::record::CacheTtl;
use everfold_skills::Skill;
use tokio_util::sync::CancellationToken;

/// Tokens that prices are for.
const PRICED_TOKENS: f64 = 1_000_000.0;

impl Session {
    /// Changes the model as [`Session::switch_model`] does, if hooks agree.
    /// The inner result says why not. `source` is who wants it: `command`,
    /// `skill` or `fallback`.
    ///
    /// # Errors
    /// If the log cannot be written.
    pub async fn change_model(
        &mut self,
        model: &ModelId,
        source: &str,
        cancel: &CancellationToken,
    ) -> Result<Result<(), String>, Error> {
        let from = self.model().to_string();
        if from == model.as_str() {
            return self.switch_model(model).await.map(Ok);
        }
        let switch = self.switch_to(&from, model, source);
        let verdict = self.fire(&Occasion::PreModelSwitch(switch), cancel).await?;
        if let Some(why) = verdict.blocked.or(verdict.stop) {
            self.hooking.stop = None;
            return Ok(Err(format!("a PreModelSwitch hook refused {model}: {why}")));
        }
        self.switch_model(model).await?;
        self.fire(&Occasion::PostModelSwitch(switch), cancel).await?;
        Ok(Ok(()))
    }

    /// Lets a skill's own model go on with the turn, a declared break of the
    /// cache. Gives the model to go back to; none where nothing changes.
    pub(crate) async fn lend_model(
        &mut self,
        skill: &Skill,
        cancel: &CancellationToken,
    ) -> Result<Option<ModelId>, Error> {
        // What a repository brings spends nothing before it is trusted (S7).
        let Some(named) = skill.model.as_deref().filter(|_| skill.may_act()) else {
            return Ok(None);
        };
        let to = model_of(&self.config, self.model(), Some(named));
        if to == *self.model() {
            return Ok(None);
        }
        let own = self.lent.clone().unwrap_or_else(|| self.model().clone());
        let reason = format!("the skill {} works with it", skill.name);
        match self.go_over(to, "skill", &reason, cancel).await? {
            Ok(()) => Ok(Some(own)),
            Err(why) => {
                self.emit(|| Event::Notice(why));
                Ok(None)
            }
        }
    }

    /// Goes back to the model from before a skill, with the person's next words.
    pub(crate) async fn return_model(&mut self, cancel: &CancellationToken) -> Result<(), Error> {
        let Some(own) = self.lent.take() else { return Ok(()) };
        let reason = "what the skill was for is done";
        if let Err(why) = self.go_over(own, "skill", reason, cancel).await? {
            self.emit(|| Event::Notice(why));
        }
        Ok(())
    }

    fn switch_to<'a>(&self, from: &'a str, to: &'a ModelId, source: &'a str) -> Switch<'a> {
        let tokens = self.fold.count().0;
        let cache = self.config.cache;
        let price = self.config.table.spec(to).prices.map(|prices| match cache {
            Some(CacheTtl::FiveMinutes) => prices.cache_write_5m,
            Some(CacheTtl::OneHour) => prices.cache_write_1h,
            None => prices.input,
        });
        #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^52 tokens")]
        let millions = tokens as f64 / PRICED_TOKENS;
        Switch {
            from,
            to: to.as_str(),
            source,
            context_tokens: tokens,
            cache_ttl: cache.map(CacheTtl::as_str),
            write_usd: price.map(|price| price * millions),
        }
    }
}
