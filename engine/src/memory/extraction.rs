//! Extraction at work (L5.9 to L5.15): after a turn, a background agent reviews
//! what was said since the last review, and keeps what earns its place.
//!
//! Everything that a review knows is taken when the turn ends; it runs beside
//! the next one. One runs at a time; the newest context that comes meanwhile is
//! reviewed after it. Nothing here ends a turn, and nothing that it finds is
//! part of a request: memories are brought in by recall, in later turns.

pub mod host_review;
mod job_reader;
mod review_error;
pub(crate) mod small_review;
pub mod statement;

use crate::background::TaskHandle;
use crate::event::{Event, Finder};
use crate::memory::recall::topic;
use crate::permit::{Remit, Room};
use crate::session::fork::{self, Errand, Until};
use crate::session::memory_keeper::Keeper;
use crate::session::memory_state::{Job, JobReader, MemorySwitch, Scene, SmallReview};
use crate::session::memory_writes::{MemoryFiles, Writer};
use crate::session::prelude::{INSTRUCTIONS, NESTED};
use crate::session::small_model::SmallModel;
use crate::session::{Error, Session, weighed};
use everfold_extract::{
    Due, ReviewContext, ReviewCost, ReviewDirective, ReviewSpan, ReviewWay, Worth, directive, due,
    extracted, proposal, review, worth,
};
use everfold_kernel::ports::{Bodies, Kept, MemoryError, MemoryScope, ModelKind};
use everfold_kernel::provenance::Source;
use everfold_kernel::record::ActSum;
use everfold_kernel::settings::Reviewer;
use everfold_kernel::tokens::estimate_text;
use everfold_kernel::{Decision, Entry, Flag, QuerySource, Testimony, Tokens};
use everfold_memory_judge::wish::{WishRules, wishes};
use everfold_memory_recall::{Manifest, Topic};
use everfold_prefix::system::Profile;
use review_error::ReviewError;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// How a task is called.
const NAME: &str = "extract";
/// Attachments that hold instruction files.
const INSTRUCTION_KINDS: &[&str] = &[INSTRUCTIONS, NESTED];

/// Looks at a turn that ended well, on the main thread.
pub(crate) async fn extract(session: &mut Session) -> Result<(), Error> {
    let Some(scene) = scene(session) else { return Ok(()) };
    if session.state.memory_switch == MemorySwitch::Off {
        // What is said now is not looked at later either.
        scene.passed(&to_review(session, &scene));
        return Ok(());
    }
    let turns = {
        let mut state = session.memory.extraction.state();
        state.turns += 1;
        state.turns
    };
    let setting = session.config.background.extraction;
    if let Due::Not(why) = due(setting, turns, &session.config.limits.extract) {
        tracing::debug!(?why, "no review");
        return Ok(());
    }
    let found = to_review(session, &scene);
    match worth(&found) {
        Worth::Nothing => return Ok(()),
        Worth::Passing => {
            scene.state.skip(&found);
            return Ok(());
        }
        Worth::SavedAlready => scene.passed(&found),
        Worth::Asking if !can_review(session) => {
            if let Some(kept) = keep_by_rule(session, &scene, &found, WishRules::Standing).await {
                scene.state.moved(extracted(&found, &kept));
            }
        }
        Worth::Asking => return review_now(session, scene, &found).await,
    }
    session.memory.extraction.state().turns = 0;
    Ok(())
}

/// Whether a model can be asked: rules are what is left where there is none, and
/// where a weak one does not fill in the form.
fn can_review(session: &Session) -> bool {
    let is_lean = session.config.profile(session.model()) == Profile::Lean;
    let is_unfit = session.memory.extraction.state().is_small_unfit;
    session.world.model.kind() == ModelKind::Language && !(is_lean && is_unfit)
}

/// Makes up for reviews that the budget did not allow (L5.42): before what
/// was said goes out of view, and when the session ends.
pub(crate) async fn catch_up(session: &mut Session) -> Result<(), Error> {
    let Some(scene) = scene(session).filter(|scene| scene.state.is_pending()) else {
        return Ok(());
    };
    let found = to_review(session, &scene);
    let is_on = session.is_main() && session.state.memory_switch == MemorySwitch::On;
    if is_on && worth(&found) == Worth::Asking {
        if can_review(session) {
            return review_now(session, scene, &found).await;
        }
        if let Some(kept) = keep_by_rule(session, &scene, &found, WishRules::Standing).await {
            scene.state.moved(extracted(&found, &kept));
        }
    }
    Ok(())
}

/// Sends whoever reviews for least, if the budget allows it (E2, E6).
async fn review_now(session: &mut Session, scene: Scene, found: &ReviewSpan) -> Result<(), Error> {
    let (way, sum) = review_way(session, found);
    match session.budget.allows_act(&QuerySource::Extract, sum.cost()).await {
        Ok(()) => {
            weighed::note_sum(session, sum).await?;
            match way {
                ReviewWay::Fork => send_reviewer(session, scene),
                ReviewWay::Small => send_small(session, scene),
            }
            session.memory.extraction.state().turns = 0;
        }
        Err(denied) => {
            // What the person asked for in so many words waits for no budget;
            // the rest is looked at when there is one again.
            keep_by_rule(session, &scene, found, WishRules::ExplicitOnly).await;
            if scene.state.put_off(&denied.to_string()) {
                let why = format!("what was said is not reviewed for now: {denied}");
                session.emit(|| Event::Notice(why));
            }
        }
    }
    Ok(())
}

/// Who reviews for least.
fn review_way(session: &Session, found: &ReviewSpan) -> (ReviewWay, ActSum) {
    let (config, limits) = (&session.config, &session.config.limits);
    let said = found.testimony.said.iter().filter(|said| said.by.source <= Source::Model);
    let said: Tokens = said.map(|said| estimate_text(&said.text, limits)).sum();
    let told = estimate_text(everfold_extract::small::system_prompt(), limits);
    let cost = ReviewCost {
        terms: &weighed::cost_terms(session),
        prefix: session.state.fold.count(),
        new: said + told + told,
        small: config.models.table.spec(&config.models.small).prices.as_ref(),
    };
    let is_lean = config.profile(session.model()) == Profile::Lean;
    let reviewer = match config.memory.keep.reviewer {
        // A weak model keeps by one question with a form what it would not by
        // tools (Q18).
        Reviewer::Auto if is_lean => Reviewer::Small,
        Reviewer::Auto if session.memory.extraction.state().is_small_unfit => Reviewer::Fork,
        wanted => wanted,
    };
    everfold_extract::way(&cost, reviewer, &limits.economy)
}

/// Writes to the log which reviews took place.
pub(crate) async fn note_reviews(session: &mut Session) -> Result<(), Error> {
    for extracted in session.memory.extraction.take_done() {
        session.append(Entry::Decision(Decision::Extracted(extracted))).await?;
    }
    Ok(())
}

fn scene(session: &Session) -> Option<Scene> {
    let memories = session.world.memories.clone()?;
    let flags = &session.config.flags;
    // With daily logs the agent keeps its own, and the dream distils them (L5.22).
    let wanted = flags.is_on(Flag::Extract) && !flags.is_on(Flag::DailyLogs);
    wanted.then(|| Scene {
        memories,
        limits: Arc::clone(&session.config.limits),
        budget: session.budget.clone(),
        session: session.log.id.clone(),
        state: session.memory.extraction.clone(),
    })
}

/// All that is in view, for a memory that the main agent writes itself.
pub(crate) fn everything_said(session: &Session) -> Testimony {
    let ground = ReviewContext { memory_dirs: &[], instruction_kinds: INSTRUCTION_KINDS };
    review(session.state.fold.messages(), None, ground).testimony
}

fn to_review(session: &Session, scene: &Scene) -> ReviewSpan {
    scene.review(session.state.fold.messages())
}

/// Sends an agent, now or after the one that runs (L5.12).
fn send_reviewer(session: &mut Session, scene: Scene) {
    let places = scene.memories.places().iter();
    let rooms = places.map(|place| Room::Markdown(place.dir.clone())).collect();
    let remit = Remit::writing_in(rooms);
    let keeper = Arc::new(Keeper::new(session.log.id.clone()));
    let rounds = session.config.limits.extract.rounds;
    let mut errand = Errand::new(QuerySource::Extract, String::new(), remit, rounds);
    errand.until = Until::CleanWrites;
    errand.files = Some(Arc::new(MemoryFiles::new(
        Arc::clone(&session.memory.plain_files),
        Arc::clone(&scene.memories),
        Writer::Reviewer(Arc::clone(&keeper)),
    )));
    let Some(fork) = fork::fork_off(session, errand) else { return };
    let reader = JobReader::Fork { fork: Box::new(fork), keeper };
    send_job(session, Job { reader, scene });
}

/// Asks the small model about what is new, now or after the review that runs.
fn send_small(session: &mut Session, scene: Scene) {
    let review = SmallReview {
        messages: session.state.fold.messages().to_vec(),
        model: SmallModel::of(session),
    };
    send_job(session, Job { reader: JobReader::Small(Box::new(review)), scene });
}

fn send_job(session: &mut Session, job: Job) {
    let deadline = Duration::from_secs(session.config.limits.extract.deadline_s);
    let state = session.memory.extraction.clone();
    let next = state.state().desk.take(job);
    let Some(job) = next else { return };
    session.runtime.background.start(NAME, QuerySource::Extract, deadline, |task| async move {
        let mut job = Some(job);
        let mut ended = Ok(());
        while let Some(next) = job.take() {
            if !task.cancel().is_cancelled() {
                ended = next.run(&task).await;
                let is_refused = ended.as_ref().is_err_and(ReviewError::is_refusal);
                state.state().is_refused = is_refused;
            }
            job = state.state().desk.done();
        }
        ended
    });
}

/// Keeps what the person asked to keep, without a model (L5.19, L5.37).
/// None where that could not be done.
async fn keep_by_rule(
    session: &Session,
    scene: &Scene,
    found: &ReviewSpan,
    rules: WishRules,
) -> Option<Vec<Kept>> {
    match scene.keep_by_rule(found, rules).await {
        Ok(kept) => {
            if let Some(event) = remembered(&kept, Finder::Rule) {
                session.runtime.background.tell(event);
            }
            Some(kept)
        }
        Err(error) => {
            tracing::warn!(%error, "nothing is kept by rule");
            None
        }
    }
}

impl Job {
    /// Reviews what is there to review by now: the review before may have
    /// moved the cursor.
    async fn run(self, task: &TaskHandle) -> Result<(), ReviewError> {
        let Self { reader, scene } = self;
        let found = scene.review(reader.messages());
        match worth(&found) {
            Worth::Nothing => return Ok(()),
            Worth::Passing => {
                scene.state.skip(&found);
                return Ok(());
            }
            Worth::SavedAlready => {
                scene.passed(&found);
                return Ok(());
            }
            Worth::Asking => {}
        }
        let (mut kept, usage) = match reader.ask(&scene, &found, task).await {
            Ok(done) => done,
            Err(error) => {
                // It is looked at again after the next turn. What the person
                // asked for in so many words waits for no model.
                let kept = scene.keep_by_rule(&found, WishRules::ExplicitOnly).await?;
                if let Some(event) = remembered(&kept, Finder::Rule) {
                    task.tell(event);
                }
                return Err(error);
            }
        };
        if kept.iter().all(|kept| kept.memory().is_none()) {
            // What the person asked for in so many words is kept all the same.
            let net = scene.keep_by_rule(&found, WishRules::ExplicitOnly).await;
            kept.extend(net?);
        }
        tracing::info!(
            kept = kept.iter().filter(|kept| kept.memory().is_some()).count(),
            refused = kept.iter().filter(|kept| kept.memory().is_none()).count(),
            prompt = usage.prompt().0,
            cache_read = usage.cache_read,
            hit_rate = usage.hit_rate(),
            "a review ended"
        );
        if let Some(event) = remembered(&kept, Finder::Model) {
            task.tell(event);
        }
        scene.state.moved(extracted(&found, &kept));
        Ok(())
    }
}

impl Scene {
    fn review(&self, messages: &[everfold_prefix::Message]) -> ReviewSpan {
        let dirs: Vec<PathBuf> =
            self.memories.places().iter().map(|place| place.dir.clone()).collect();
        let ground = ReviewContext { memory_dirs: &dirs, instruction_kinds: INSTRUCTION_KINDS };
        let cursor = self.state.state().cursor.clone();
        review(messages, cursor.as_ref(), ground)
    }

    /// The cursor moves on without a review (L5.11).
    fn passed(&self, found: &ReviewSpan) {
        self.state.moved(extracted(found, &[]));
    }

    async fn directive(&self, found: &ReviewSpan) -> Result<String, ReviewError> {
        let recall = &self.limits.recall;
        let heads = self.memories.scan(recall.scan_files, Bodies::Left).await?;
        let said: Vec<&str> = found.testimony.said.iter().map(|said| said.text.as_str()).collect();
        let topics: Vec<Topic> = heads.iter().map(topic).collect();
        let manifest = Manifest::new(topics, &said.join("\n"), &BTreeSet::new(), recall);
        let dir = |scope| {
            let mut places = self.memories.places().iter();
            places.find(|place| place.scope == scope).map(|place| place.dir.as_path())
        };
        let project = dir(MemoryScope::Project).ok_or(ReviewError::NoDirectory)?;
        let told = ReviewDirective {
            dir: project,
            global_dir: dir(MemoryScope::Global),
            team_dir: dir(MemoryScope::Team),
            manifest: &manifest,
        };
        Ok(directive(found, &told)?)
    }

    /// Proposes what rules find in what the person typed.
    async fn keep_by_rule(
        &self,
        found: &ReviewSpan,
        rules: WishRules,
    ) -> Result<Vec<Kept>, MemoryError> {
        let keeper = Keeper::new(self.session.clone());
        keeper.begin(found.testimony.clone());
        for wish in wishes(&found.testimony, rules, &self.limits.extract) {
            keeper
                .propose(&*self.memories, proposal(&wish, &found.testimony, keeper.author()))
                .await?;
        }
        Ok(keeper.kept())
    }
}

/// What the person is told: which memories, and what changed in them (L5.15).
fn remembered(kept: &[Kept], how: Finder) -> Option<Event> {
    let told: Vec<Kept> = kept.iter().filter(|kept| kept.notice().is_some()).cloned().collect();
    (!told.is_empty()).then_some(Event::Remembered { kept: told, how })
}
