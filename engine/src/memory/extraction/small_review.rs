//! The review that costs least (E2): the small model, on what was said since
//! the last one and nothing else.

use super::{ReviewError, Scene};
use crate::session::effects::{collect, side_request};
use crate::session::memory_keeper::Keeper;
use crate::session::memory_state::SmallReview;
use crate::session::prompt::text_of;
use everfold_extract::{ReviewSpan, small};
use everfold_kernel::ports::{Bodies, Kept};
use everfold_kernel::usage::Booking;
use everfold_kernel::{QuerySource, Usage};
use everfold_memory_recall::{Manifest, Topic};
use everfold_prefix::system::Profile;
use std::collections::BTreeSet;

impl SmallReview {
    /// Asks, and keeps what earns its place.
    pub(super) async fn run(
        &self,
        scene: &Scene,
        found: &ReviewSpan,
    ) -> Result<(Vec<Kept>, Usage), ReviewError> {
        let (answer, usage) = self.ask(scene, found).await?;
        let keeper = Keeper::new(scene.session.clone());
        keeper.begin(found.testimony.clone());
        let proposals = small::proposals(&answer, found, &keeper.author());
        for proposal in proposals.ok_or(ReviewError::NoList)? {
            keeper.propose(&*scene.memories, proposal).await?;
        }
        Ok((keeper.kept(), usage))
    }

    async fn ask(&self, scene: &Scene, found: &ReviewSpan) -> Result<(String, Usage), ReviewError> {
        let limits = &self.config.limits;
        let heads = scene.memories.scan(limits.recall.scan_files, Bodies::Left).await?;
        let topics: Vec<Topic> = heads.iter().map(crate::memory::recall::topic).collect();
        let said: Vec<&str> = found.testimony.by_person().map(|said| said.text.as_str()).collect();
        let manifest = Manifest::new(topics, &said.join("\n"), &BTreeSet::new(), &limits.recall);
        let question = small::question(found, &manifest, &limits.economy);
        let (model, dialect) = (&self.config.models.small, self.world.model.dialect());
        let most = limits.economy.review_answer_tokens;
        let mut params = self.config.side_params(model, dialect, most);
        params.schema = Some(small::answer_schema());
        let told = match self.config.profile(model) {
            Profile::Lean => small::lean_system_prompt(),
            Profile::Full => small::system_prompt(),
        };
        let request = side_request(&self.config, params, told, &question);
        let request = request.ok_or(ReviewError::NoList)?;
        let reply = collect(&*self.world.model, request, QuerySource::Extract).await?;
        let (usage, table) = (reply.usage, &self.config.models.table);
        self.books.add(Booking::new(QuerySource::Extract, reply.model, usage, table));
        Ok((text_of(&reply.blocks), usage))
    }
}
