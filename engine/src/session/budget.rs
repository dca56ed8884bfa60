//! What work in the background may spend (L5.27): the one who says yes or no.
//!
//! Whoever is about to ask a model in the background asks here first, and does
//! without where the answer is no. What a session spent is read from its log;
//! what a day took is counted over all processes. Main thread, sub-agents and
//! summaries that make room for the conversation are not held back: the person
//! waits for them.

use everfold_kernel::ports::{Clock, Model, Spending, Spent};
use everfold_kernel::usage::Booking;
use everfold_kernel::{Class, Classify, Ledger, QuerySource, settings};
use std::sync::{Arc, Mutex, PoisonError};

/// Why work in the background has to do without a model now.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Denied {
    /// The session spent what it may.
    #[error(
        "the session's background budget is used up ({0}); everfold.budget.session_* raises it"
    )]
    Session(String),
    /// The day's sessions together spent what they may.
    #[error("today's background budget is used up ({0}); everfold.budget.daily_* raises it")]
    Day(String),
    /// The provider's rate limit is nearly used up.
    #[error("{0} % of the provider's rate limit are left; that is kept for the conversation")]
    RateLimit(u64),
}

impl Classify for Denied {
    fn class(&self) -> Class {
        Class::Degrade
    }
}

/// The budget of a session. Clones share what was spent.
#[derive(Clone)]
pub struct Budget {
    limits: settings::BudgetSettings,
    clock: Arc<dyn Clock>,
    model: Arc<dyn Model>,
    days: Option<Arc<dyn Spending>>,
    session: Arc<Mutex<Spent>>,
}

impl Budget {
    pub(crate) fn new(
        limits: settings::BudgetSettings,
        world: &everfold_kernel::ports::World,
    ) -> Self {
        Self {
            limits,
            clock: Arc::clone(&world.clock),
            model: Arc::clone(&world.model),
            days: world.spending.clone(),
            session: Arc::default(),
        }
    }

    /// Whether a request may be made for this source now.
    ///
    /// # Errors
    /// What is used up.
    pub async fn allows(&self, source: &QuerySource) -> Result<(), Denied> {
        if !is_metered(source) {
            return Ok(());
        }
        let limits = &self.limits;
        let session = *self.session();
        if let Some(what) = over(session, limits.session_tokens, limits.session_usd) {
            return Err(Denied::Session(what));
        }
        if let Some(left) = self.model.headroom()
            && left.percent < limits.rate_limit_percent
            && left.resets.is_none_or(|at| at > self.clock.now())
        {
            return Err(Denied::RateLimit(left.percent));
        }
        let Some(days) = &self.days else { return Ok(()) };
        match days.spent(self.today()).await {
            Ok(day) => match over(day, limits.daily_tokens, limits.daily_usd) {
                Some(what) => Err(Denied::Day(what)),
                None => Ok(()),
            },
            Err(error) => {
                tracing::warn!(%error, "the day's budget is not looked at");
                Ok(())
            }
        }
    }

    /// Counts toward the session what one source used.
    pub(crate) fn count(&self, source: &QuerySource, spent: Spent) {
        if is_metered(source) {
            let mut session = self.session();
            *session = session.and(spent);
        }
    }

    /// Counts what a session that is resumed has spent.
    pub(crate) fn restore(&self, ledger: &Ledger) {
        for (source, _, line) in ledger.lines() {
            let Ok(source) = source.parse();
            self.count(&source, Spent::new(&line.usage, line.cost));
        }
    }

    /// Counts a new booking toward the day.
    pub(crate) async fn spend(&self, booking: &Booking) {
        let Some(days) = self.days.as_ref().filter(|_| is_metered(&booking.source)) else { return };
        if let Err(error) = days.add(self.today(), &booking.source, Spent::of(booking)).await {
            tracing::warn!(%error, "a request is not counted toward the day");
        }
    }

    fn today(&self) -> jiff::civil::Date {
        self.clock.now().to_zoned(jiff::tz::TimeZone::UTC).date()
    }

    fn session(&self) -> std::sync::MutexGuard<'_, Spent> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether a source has to keep to the budget. Summaries that make room are
/// needed for the conversation to go on.
fn is_metered(source: &QuerySource) -> bool {
    source.is_background() && *source != QuerySource::Compact
}

fn over(spent: Spent, tokens: u64, usd: f64) -> Option<String> {
    if spent.tokens >= tokens {
        return Some(format!("{} of {tokens} tokens", spent.tokens));
    }
    (spent.cost.0 >= usd).then(|| format!("{:.2} of {usd:.2} dollars", spent.cost.0))
}
