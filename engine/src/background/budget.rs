//! What work in the background may spend (L5.27): the one who says yes or no.
//!
//! Whoever is about to ask a model in the background asks here first, and does
//! without where the answer is no. What a session spent is read from its log;
//! what a day took is counted over all processes. Main thread, sub-agents and
//! summaries that make room for the conversation are not held back: the person
//! waits for them.

use everfold_kernel::ports::{Clock, Model, Spending, Spent, SpentOf};
use everfold_kernel::usage::Booking;
use everfold_kernel::{Class, Classify, Ledger, QuerySource, Usd, settings};
use std::sync::{Arc, Mutex, PoisonError};

/// Why work in the background has to do without a model now.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Denied {
    /// The session spent what it may.
    #[error("the session's background budget is spent ({0}); raise everfold.budget.session_*")]
    Session(String),
    /// The day's sessions together spent what they may.
    #[error("today's background budget is spent ({0}); raise everfold.budget.daily_*")]
    Day(String),
    /// It would take more than its share of what the day's conversations cost.
    #[error(
        "background work has spent its share of today's conversation costs ({0}); raise \
         everfold.budget.background_share"
    )]
    Share(String),
    /// The provider's rate limit is nearly used up.
    #[error("{0} % of the provider's rate limit is left, which is kept for the conversation")]
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
    session: Arc<Mutex<SpentOf>>,
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
        self.allows_act(source, Usd(0.0)).await
    }

    /// Whether a request may be made now that will cost about so much.
    ///
    /// # Errors
    /// What is used up, or would be.
    pub async fn allows_act(&self, source: &QuerySource, cost: Usd) -> Result<(), Denied> {
        if !source.is_metered() {
            return Ok(());
        }
        match self.within_limits().await? {
            Some(spent) => self.share(spent, cost),
            None => Ok(()),
        }
    }

    /// Whether a review of another agent's conversation may be made. Its share
    /// is of what it reviews: what conversations of ours cost says nothing of it.
    ///
    /// # Errors
    /// What is used up, or would be.
    pub async fn allows_review(&self, cost: Usd, reviewed: Usd) -> Result<(), Denied> {
        let Some(spent) = self.within_limits().await? else { return Ok(()) };
        let most = self.limits.background_share * reviewed.0;
        // Where nothing is known of its price, the floor of the day is for it too.
        if cost.0 <= most { Ok(()) } else { self.share(spent, Usd(0.0)) }
    }

    /// What counts for the share, where nothing is used up; none where nobody knows.
    async fn within_limits(&self) -> Result<Option<SpentOf>, Denied> {
        let limits = &self.limits;
        let session = *self.session();
        if let Some(what) = over(session.background, limits.session_tokens, limits.session_usd) {
            return Err(Denied::Session(what));
        }
        if let Some(left) = self.model.headroom()
            && left.percent < limits.rate_limit_percent
            && left.resets.is_none_or(|at| at > self.clock.now())
        {
            return Err(Denied::RateLimit(left.percent));
        }
        let Some(days) = &self.days else { return Ok(Some(session)) };
        match days.spent(self.today()).await {
            Ok(day) => match over(day.background, limits.daily_tokens, limits.daily_usd) {
                Some(what) => Err(Denied::Day(what)),
                None => Ok(Some(day)),
            },
            Err(error) => {
                tracing::warn!(%error, "the day's budget is not looked at");
                Ok(None)
            }
        }
    }

    /// Whether the background keeps to its share of the conversations (E6).
    fn share(&self, spent: SpentOf, cost: Usd) -> Result<(), Denied> {
        let limits = &self.limits;
        let would = spent.background.cost.0 + cost.0;
        let most = limits.background_share * spent.conversation.cost.0;
        let is_free = limits.background_share <= 0.0 || would <= limits.background_floor_usd;
        if is_free || would <= most {
            return Ok(());
        }
        Err(Denied::Share(format!("{would:.4} of {most:.4} dollars")))
    }

    /// Counts toward the session what one source used.
    pub(crate) fn count(&self, source: &QuerySource, spent: Spent) {
        self.session().add(source, spent);
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
        let Some(days) = &self.days else { return };
        if let Err(error) = days.add(self.today(), &booking.source, Spent::of(booking)).await {
            tracing::warn!(%error, "a request is not counted toward the day");
        }
    }

    fn today(&self) -> jiff::civil::Date {
        self.clock.now().to_zoned(jiff::tz::TimeZone::UTC).date()
    }

    fn session(&self) -> std::sync::MutexGuard<'_, SpentOf> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn over(spent: Spent, tokens: u64, usd: f64) -> Option<String> {
    if spent.tokens >= tokens {
        return Some(format!("{} of {tokens} tokens", spent.tokens));
    }
    (spent.cost.0 >= usd).then(|| format!("{:.2} of {usd:.2} dollars", spent.cost.0))
}
