//! Questions to the small model beside the conversation, each with a form.

use crate::background::scheduler::Scheduler;
use crate::config::Config;
use crate::session::Session;
use crate::session::effects::{SideBookings, collect};
use crate::session::prompt::text_of;
use everfold_kernel::ports::{Model, ModelError};
use everfold_kernel::usage::Booking;
use everfold_kernel::{Block, QuerySource, Role, Usage};
use everfold_prefix::Request;
use everfold_window::question;
use serde_json::Value;
use std::sync::Arc;

/// The small model, for work in the background.
pub(crate) struct SmallModel {
    pub(crate) config: Arc<Config>,
    pub(crate) scheduler: Scheduler,
    model: Arc<dyn Model>,
    books: SideBookings,
}

impl SmallModel {
    pub(crate) fn of(session: &Session) -> Self {
        Self {
            config: Arc::clone(&session.config),
            scheduler: session.runtime.cache.scheduler.clone(),
            model: Arc::clone(&session.world.model),
            books: session.runtime.books.clone(),
        }
    }

    /// Asks one question: what it is told, what was said, the form of the answer
    /// and its most tokens.
    pub(crate) async fn ask(
        &self,
        source: QuerySource,
        told: &str,
        said: &[(Role, Vec<Block>)],
        (schema, most): (Value, u64),
    ) -> Result<(String, Usage), ModelError> {
        let (name, dialect) = (&self.config.models.small, self.model.dialect());
        let mut params = self.config.side_params(name, dialect, most);
        params.schema = Some(schema);
        let request = question::dialogue(params, told, said, &self.config.limits);
        let nothing = || ModelError::Broken { message: "there is nothing to ask".into() };
        self.ask_request(source, request.ok_or_else(nothing)?).await
    }

    /// Makes a request that is there, and books it.
    pub(crate) async fn ask_request(
        &self,
        source: QuerySource,
        request: Request,
    ) -> Result<(String, Usage), ModelError> {
        let reply = collect(&*self.model, request, source.clone()).await?;
        let (usage, table) = (reply.usage, &self.config.models.table);
        self.books.add(Booking::new(source, reply.model, usage, table));
        Ok((text_of(&reply.blocks), usage))
    }
}
