//! What an agent does now, in a few words, under a coordinator (L7.7).
//!
//! Asked of the agent's own model on its warm prefix, or of the small model on
//! the newest messages, whichever is cheaper. Tools are refused by not being
//! run: only the text of the one answer counts. It spends from the background
//! budget (L5.27), and where that says no, there is no summary.

use super::Agents;
use crate::background::budget::{Budget, Denied};
use crate::config::{Config, Delegation};
use crate::session::Session;
use crate::session::agent_context::Peek;
use crate::session::effects::{SideBookings, collect, side_request};
use everfold_economy::{CostTerms, Weighing, cache_state};
use everfold_kernel::ports::{BoxFuture, ModelError, World};
use everfold_kernel::record::{ActSum, SumVerdict};
use everfold_kernel::tokens::estimate_text;
use everfold_kernel::usage::Booking;
use everfold_kernel::{Flag, Prices, QuerySource, Timestamp, Tokens};
use everfold_mail::policy::{self, StatusModel};
use everfold_prefix::{Directive, Fold};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Interval, MissedTickBehavior, interval};

/// A limit of no time still lets others run.
const SHORTEST: Duration = Duration::from_millis(5);

/// Says from time to time what an agent does. Without a coordinator it never does.
pub(super) struct Summing {
    watch: Option<Watch>,
}

struct Watch {
    peek: Peek,
    tick: Interval,
    last: Option<Timestamp>,
    asking: Option<BoxFuture<'static, Option<String>>>,
    world: World,
    config: Arc<Config>,
    books: SideBookings,
    budget: Budget,
}

impl Summing {
    pub(super) fn new(agents: &Agents, session: &mut Session) -> Self {
        let seat = agents.seat();
        let config = &agents.config();
        let wanted = config.agents.delegation == Delegation::Coordinator
            && config.flags.is_on(Flag::AgentSummary);
        if !wanted {
            return Self { watch: None };
        }
        let peek = Peek::default();
        session.runtime.peek = Some(peek.clone());
        let period = Duration::from_secs(config.limits.agents.summary_s).max(SHORTEST);
        let mut tick = interval(period);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Self {
            watch: Some(Watch {
                peek,
                tick,
                last: None,
                asking: None,
                world: seat.world.clone(),
                config: Arc::clone(config),
                books: seat.books.clone(),
                budget: Budget::clone(session.budget()),
            }),
        }
    }

    pub(super) async fn next(&mut self) -> String {
        let Some(watch) = &mut self.watch else { return std::future::pending().await };
        loop {
            if let Some(asking) = &mut watch.asking {
                let said = asking.await;
                watch.asking = None;
                if let Some(said) = said {
                    return said;
                }
            }
            watch.tick.tick().await;
            watch.begin();
        }
    }
}

impl Watch {
    /// Asks, if there is news.
    fn begin(&mut self) {
        let now = self.world.clock.now();
        let Some((fold, step)) = self.peek.look() else { return };
        if !policy::is_due(now, self.last, Some(step), &self.config.limits.agents) {
            return;
        }
        self.last = Some(now);
        let (world, config) = (self.world.clone(), Arc::clone(&self.config));
        let (books, budget) = (self.books.clone(), self.budget.clone());
        self.asking = Some(Box::pin(async move {
            let said = ask(fold, step, &world, &config, &books, &budget).await;
            said.map_err(|error| tracing::debug!(%error, "no summary of an agent")).ok().flatten()
        }));
    }
}

/// What a status line is taken to cost, by the cheaper of the two ways (E1).
fn status_sum(
    way: StatusModel,
    terms: &CostTerms,
    (prefix, small): (Tokens, Option<&Prices>),
    newest: Tokens,
) -> ActSum {
    let weighing = Weighing::new(QuerySource::AgentSummary, "say what an agent does", terms);
    let own = terms.pass(prefix).unwrap_or_default();
    let small = CostTerms { prices: small.copied(), ..*terms }.input(newest);
    let weighing = match way {
        StatusModel::OwnPrefix => weighing
            .costs("one pass over its conversation", prefix, own)
            .saves("asking the small model", newest, small),
        StatusModel::SmallModel => weighing
            .costs("the newest messages, by the small model", newest, small)
            .saves("one pass over its conversation", prefix, own),
    };
    weighing.as_decided(SumVerdict::Done)
}

/// Why an agent has no status line this time.
#[derive(Debug, thiserror::Error)]
enum NoStatus {
    #[error(transparent)]
    Budget(#[from] Denied),
    #[error("the agent has not begun")]
    NotBegun,
    #[error("no request could be made")]
    NoRequest,
    #[error(transparent)]
    Model(#[from] ModelError),
}

async fn ask(
    mut fold: Fold,
    step: Timestamp,
    world: &World,
    config: &Config,
    books: &SideBookings,
    budget: &Budget,
) -> Result<Option<String>, NoStatus> {
    let source = QuerySource::AgentSummary;
    budget.allows(&source).await?;
    let limits = &config.limits;
    let newest = policy::newest(&fold, limits);
    let prelude = fold.prelude().ok_or(NoStatus::NotBegun)?;
    let spec = config.models.table.spec(&prelude.params.model);
    let ttl = prelude.params.cache;
    let cache = cache_state(world.clock.now(), Some(step), ttl, limits.prune.idle_minutes);
    let terms = CostTerms { prices: spec.prices, ttl, cache, rounds: 1.0 };
    let small = config.models.table.spec(&config.models.small).prices.as_ref();
    let way =
        policy::way(&terms, fold.count(), small, estimate_text(&newest, limits), &limits.agents);
    books.weighed(status_sum(way, &terms, (fold.count(), small), estimate_text(&newest, limits)));
    let request = match way {
        StatusModel::OwnPrefix => fold.request(Some(Directive(policy::SUMMARY.trim()))),
        StatusModel::SmallModel => {
            let dialect = world.model.dialect();
            let params =
                config.side_params(&config.models.small, dialect, limits.agents.summary_tokens);
            side_request(config, params, policy::SUMMARY.trim(), &newest)
        }
    };
    let request = request.ok_or(NoStatus::NoRequest)?;
    let reply = collect(&*world.model, request, source.clone()).await?;
    let text = crate::session::prompt::text_of(&reply.blocks);
    books.add(Booking::new(source, reply.model, reply.usage, &config.models.table));
    Ok(policy::read(&text))
}
