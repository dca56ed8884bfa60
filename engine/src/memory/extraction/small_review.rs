//! The review that costs least (E2): the small model, on what was said since
//! the last one and nothing else. A weak one picks sentences (Q18), any other
//! answers with memories.

use super::{ReviewError, Scene};
use crate::session::memory_keeper::Keeper;
use crate::session::memory_state::SmallReview;
use everfold_extract::{ReviewSpan, label, proposal, small};
use everfold_kernel::ports::{Bodies, Kept};
use everfold_kernel::{Block, QuerySource, Role, Usage};
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
        let keeper = Keeper::new(scene.session.clone());
        keeper.begin(found.testimony.clone());
        let config = &self.model.config;
        let usage = match config.profile(&config.models.small) {
            Profile::Lean => self.pick(scene, found, &keeper).await?,
            Profile::Full => self.write(scene, found, &keeper).await?,
        };
        Ok((keeper.kept(), usage))
    }

    /// What the person said, a sentence at a time.
    async fn pick(
        &self,
        scene: &Scene,
        found: &ReviewSpan,
        keeper: &Keeper,
    ) -> Result<Usage, ReviewError> {
        let limits = &self.model.config.limits.extract;
        let (mut picks, mut usage) = (BTreeSet::new(), Usage::default());
        for question in label::questions(found, limits) {
            let form = (label::answer_schema(), label::ANSWER_TOKENS);
            let said = label::dialogue(&question.sentence);
            let (answer, used) =
                self.model.ask(QuerySource::Extract, label::system_prompt(), &said, form).await?;
            usage.add(&used);
            if label::is_picked(&answer).ok_or(ReviewError::NoList)? {
                picks.insert(question.place);
            }
        }
        for wish in label::wishes(found, &picks, limits) {
            let proposal = proposal(&wish, &found.testimony, keeper.author());
            keeper.propose(&*scene.memories, proposal).await?;
        }
        Ok(usage)
    }

    /// The memories that the model would write.
    async fn write(
        &self,
        scene: &Scene,
        found: &ReviewSpan,
        keeper: &Keeper,
    ) -> Result<Usage, ReviewError> {
        let limits = &self.model.config.limits;
        let heads = scene.memories.scan(limits.recall.scan_files, Bodies::Left).await?;
        let topics: Vec<Topic> = heads.iter().map(crate::memory::recall::topic).collect();
        let said: Vec<&str> = found.testimony.by_person().map(|said| said.text.as_str()).collect();
        let manifest = Manifest::new(topics, &said.join("\n"), &BTreeSet::new(), &limits.recall);
        let told = Block::text(small::question(found, &manifest, &limits.economy));
        let said = [(Role::User, vec![told])];
        let form = (small::answer_schema(), limits.economy.review_answer_tokens);
        let (answer, usage) =
            self.model.ask(QuerySource::Extract, small::system_prompt(), &said, form).await?;
        let proposals = small::proposals(&answer, found, &keeper.author());
        for proposal in proposals.ok_or(ReviewError::NoList)? {
            keeper.propose(&*scene.memories, proposal).await?;
        }
        Ok(usage)
    }
}
