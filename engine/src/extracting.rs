//! Extraction at work (L5.9 to L5.15): after a turn, a background agent reviews
//! what was said since the last review, and keeps what earns its place.
//!
//! Everything that a review knows is taken when the turn ends; it runs beside
//! the next one. One runs at a time; the newest context that comes meanwhile is
//! reviewed after it. Nothing here ends a turn, and nothing that it finds is
//! part of a request: memories are brought in by recall, in later turns.

pub(crate) mod elsewhere;
pub(crate) mod keeper;
mod stating;

use crate::background::TaskHandle;
use crate::budget::Budget;
use crate::event::{Event, Kept as How};
use crate::fork::{Errand, Fork, Until};
use crate::instructing::{INSTRUCTIONS, NESTED};
use crate::memory_files::{MemoryFiles, Writer};
use crate::memory_switch::MemorySwitch;
use crate::permit::{Remit, Room};
use crate::recalling::topic;
use crate::session::{Error, Session};
use crate::world::World;
use everfold_extract::{
    Desk, Directive, Due, Ground, Provenance, Review, Worth, by_rule, captured, directive, due,
    review, worth,
};
use everfold_kernel::ports::{Bodies, Memories, MemoryBefore, MemoryError, MemoryScope, ModelKind};
use everfold_kernel::record::Extracted;
use everfold_kernel::settings::Deed;
use everfold_kernel::{Decision, Entry, Flag, Limits, QuerySource, RecordId, SessionId};
use everfold_memfile::slug::{free_slug, slugify};
use everfold_recall::{Manifest, Topic};
use jiff::tz::TimeZone;
use keeper::{Keeper, Kept};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How a task is called.
const NAME: &str = "extract";
/// Attachments that hold instruction files.
const INSTRUCTION_KINDS: &[&str] = &[INSTRUCTIONS, NESTED];

/// What a session knows of its reviews. Clones are the same.
#[derive(Clone, Default)]
pub(crate) struct Extraction(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    desk: Desk<Job>,
    /// The last message that was considered (L5.10).
    cursor: Option<RecordId>,
    /// Turns since the last review.
    turns: u64,
    /// Reviews that are not in the log yet.
    done: Vec<Extracted>,
}

impl Extraction {
    /// Takes the cursor from a log.
    pub(crate) fn restore(&self, through: RecordId) {
        self.state().cursor = Some(through);
    }

    /// Forgets how far it came; the log says it again.
    pub(crate) fn forget(&self) {
        self.state().cursor = None;
    }

    /// Reviews that are not in the log yet.
    fn take_done(&self) -> Vec<Extracted> {
        std::mem::take(&mut self.state().done)
    }

    fn moved(&self, extracted: Extracted) {
        let mut state = self.state();
        state.cursor = Some(extracted.through.clone());
        state.done.push(extracted);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The context of a turn that ended.
struct Job {
    fork: Fork,
    keeper: Arc<Keeper>,
    scene: Scene,
}

/// What a review needs besides the conversation.
#[derive(Clone)]
struct Scene {
    world: World,
    memories: Arc<dyn Memories>,
    limits: Arc<Limits>,
    budget: Budget,
    session: SessionId,
    state: Extraction,
}

impl Session {
    /// Looks at a turn that ended well, on the main thread.
    pub(crate) async fn extract(&mut self) -> Result<(), Error> {
        let Some(scene) = self.scene() else { return Ok(()) };
        if self.memory_switch == MemorySwitch::Off {
            // What is said now is not looked at later either.
            scene.passed(&self.to_review(&scene));
            return Ok(());
        }
        let turns = {
            let mut state = self.remembering.extraction.state();
            state.turns += 1;
            state.turns
        };
        let setting = self.config.extraction;
        if let Due::Not(why) = due(setting, turns, &self.config.limits.extract) {
            tracing::debug!(?why, "no review");
            return Ok(());
        }
        let found = self.to_review(&scene);
        match worth(&found) {
            Worth::Nothing => return Ok(()),
            Worth::SavedAlready => scene.passed(&found),
            Worth::Asking if self.world.model.kind() == ModelKind::Rules => {
                self.keep_by_rule(&scene, &found).await;
            }
            Worth::Asking => match self.budget.allows(&QuerySource::Extract).await {
                Ok(()) => self.send_reviewer(scene),
                Err(denied) => {
                    tracing::info!(%denied, "what was said is looked through by rule");
                    self.keep_by_rule(&scene, &found).await;
                }
            },
        }
        self.remembering.extraction.state().turns = 0;
        Ok(())
    }

    /// Writes to the log which reviews took place.
    pub(crate) async fn note_reviews(&mut self) -> Result<(), Error> {
        for extracted in self.remembering.extraction.take_done() {
            self.append(Entry::Decision(Decision::Extracted(extracted))).await?;
        }
        Ok(())
    }

    fn scene(&self) -> Option<Scene> {
        let memories = self.world.memories.clone()?;
        let flags = &self.config.flags;
        // With daily logs the agent keeps its own, and the dream distils them (L5.22).
        let wanted = flags.is_on(Flag::Extract) && !flags.is_on(Flag::DailyLogs);
        wanted.then(|| Scene {
            world: self.world.clone(),
            memories,
            limits: Arc::clone(&self.config.limits),
            budget: self.budget.clone(),
            session: self.id.clone(),
            state: self.remembering.extraction.clone(),
        })
    }

    fn to_review(&self, scene: &Scene) -> Review {
        scene.review(self.fold.messages())
    }

    /// Sends an agent, now or after the one that runs (L5.12).
    fn send_reviewer(&mut self, scene: Scene) {
        // What others read as well is left to the main agent, in front of the person.
        let own = scene.memories.places().iter().filter(|place| place.scope != MemoryScope::Team);
        let rooms = own.map(|place| Room::Markdown(place.dir.clone())).collect();
        let remit = Remit::writing_in(rooms);
        let keeper = Arc::new(Keeper::new(
            Arc::clone(&self.config.limits),
            self.config.memory.review_of(Deed::Usual),
        ));
        let rounds = self.config.limits.extract.rounds;
        let mut errand = Errand::new(QuerySource::Extract, String::new(), remit, rounds);
        errand.until = Until::CleanWrites;
        errand.files = Some(Arc::new(MemoryFiles::new(
            Arc::clone(&self.remembering.plain_files),
            Arc::clone(&scene.memories),
            Writer::Reviewer(Arc::clone(&keeper)),
        )));
        let Some(fork) = self.fork_off(errand) else { return };
        let deadline = Duration::from_secs(self.config.limits.extract.deadline_s);
        let state = self.remembering.extraction.clone();
        let next = state.state().desk.take(Job { fork, keeper, scene });
        let Some(job) = next else { return };
        self.background.start(NAME, QuerySource::Extract, deadline, |task| async move {
            let mut job = Some(job);
            let mut ended = Ok(());
            while let Some(next) = job.take() {
                ended = if task.cancel().is_cancelled() { ended } else { next.run(&task).await };
                job = state.state().desk.done();
            }
            ended
        });
    }

    /// Keeps what the person asked to keep, without a model (L5.19).
    async fn keep_by_rule(&self, scene: &Scene, found: &Review) {
        match scene.keep_by_rule(found, self.config.memory.review_of(Deed::Usual)).await {
            Ok(kept) => {
                for event in events(&kept, How::ByRule) {
                    self.background.tell(event);
                }
                scene.state.moved(extracted(found, &kept));
            }
            Err(error) => tracing::warn!(%error, "nothing is kept by rule"),
        }
    }
}

impl Job {
    /// Reviews what is there to review by now: the review before may have
    /// moved the cursor.
    async fn run(self, task: &TaskHandle) -> Result<(), String> {
        let Self { fork, keeper, scene } = self;
        let found = scene.review(fork.messages());
        match worth(&found) {
            Worth::Nothing => return Ok(()),
            Worth::SavedAlready => {
                scene.passed(&found);
                return Ok(());
            }
            Worth::Asking => {}
        }
        scene.budget.allows(&QuerySource::Extract).await.map_err(|denied| denied.to_string())?;
        let told = scene.directive(&found).await?;
        keeper.begin(found.clone(), scene.provenance());
        let report = fork.directed(told).run(task.cancel().clone()).await;
        let kept = keeper.kept();
        for denial in &report.end.denials {
            tracing::info!(tool = denial.name, input = %denial.input, "refused to a review");
        }
        tracing::info!(
            saved = kept.saved.len(),
            proposed = kept.proposed.len(),
            refused = kept.refused.len(),
            requests = report.end.requests,
            prompt = report.end.usage.prompt().0,
            cache_read = report.end.usage.cache_read,
            hit_rate = report.end.usage.hit_rate(),
            "a review ended"
        );
        for event in events(&kept, How::Saved) {
            task.tell(event);
        }
        let over = report.end.reason.is_success()
            || matches!(report.end.reason, crate::event::EndReason::TooManyRequests(_));
        // What failed is looked at again after the next turn.
        if !over {
            return Err(format!("the review ended early: {:?}", report.end.reason));
        }
        scene.state.moved(extracted(&found, &kept));
        Ok(())
    }
}

impl Scene {
    fn review(&self, messages: &[everfold_prefix::Message]) -> Review {
        let dirs: Vec<PathBuf> =
            self.memories.places().iter().map(|place| place.dir.clone()).collect();
        let ground = Ground { memory_dirs: &dirs, instruction_kinds: INSTRUCTION_KINDS };
        let cursor = self.state.state().cursor.clone();
        review(messages, cursor.as_ref(), ground)
    }

    /// The cursor moves on without a review (L5.11).
    fn passed(&self, found: &Review) {
        self.state.moved(extracted(found, &Kept::default()));
    }

    fn provenance(&self) -> Provenance {
        let at = self.world.clock.now();
        let today = at.to_zoned(TimeZone::UTC).date();
        Provenance { session: self.session.clone(), today, at }
    }

    async fn directive(&self, found: &Review) -> Result<String, String> {
        let failed = |error: &dyn std::fmt::Display| error.to_string();
        let recall = &self.limits.recall;
        let heads =
            self.memories.scan(recall.scan_files, Bodies::Left).await.map_err(|e| failed(&e))?;
        let said: Vec<&str> = found.said.iter().map(|said| said.text.as_str()).collect();
        let own = heads.iter().filter(|head| head.scope != MemoryScope::Team);
        let topics: Vec<Topic> = own.map(topic).collect();
        let manifest = Manifest::new(topics, &said.join("\n"), &BTreeSet::new(), recall);
        let dir = |scope| {
            let mut places = self.memories.places().iter();
            places.find(|place| place.scope == scope).map(|place| place.dir.as_path())
        };
        let Some(project) = dir(MemoryScope::Project) else {
            return Err("there is no directory for memories of this project".to_owned());
        };
        let told =
            Directive { dir: project, global_dir: dir(MemoryScope::Global), manifest: &manifest };
        directive(found, &told).map_err(|e| failed(&e))
    }

    async fn keep_by_rule(
        &self,
        found: &Review,
        mode: everfold_kernel::settings::Review,
    ) -> Result<Kept, MemoryError> {
        let keeper = Keeper::new(Arc::clone(&self.limits), mode);
        let from = self.provenance();
        keeper.begin(found.clone(), from.clone());
        let mut places = self.memories.places().iter();
        let Some(place) = places.find(|place| place.scope == MemoryScope::Project) else {
            return Ok(Kept::default());
        };
        for captured in captured(found, &self.limits.extract) {
            let heads = self.memories.scan(self.limits.recall.scan_files, Bodies::Left).await?;
            let slug = free_slug(&slugify(&captured.name), |slug| {
                let name = place.dir.join(format!("{slug}.md"));
                slug == "memory" || heads.iter().any(|head| head.path == name)
            });
            let path = place.dir.join(format!("{slug}.md"));
            let text = by_rule(&captured, &from);
            // What is refused is in what was kept, with its reason.
            let _ = keeper.write(&*self.memories, &path, &text, MemoryBefore::Absent).await;
        }
        Ok(keeper.kept())
    }
}

fn extracted(found: &Review, kept: &Kept) -> Extracted {
    let name = |path: &PathBuf| {
        path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    };
    Extracted {
        through: found.last.clone().unwrap_or_else(|| RecordId::from("")),
        saved: kept.saved.iter().chain(&kept.proposed).map(name).collect(),
        refused: kept.refused.iter().map(|(path, why)| format!("{}: {why}", name(path))).collect(),
    }
}

/// What the person is told: the files, never what is in them (L5.15).
fn events(kept: &Kept, how: How) -> Vec<Event> {
    let told = |paths: &[PathBuf], how| {
        let paths = paths.to_vec();
        (!paths.is_empty()).then_some(Event::Remembered { paths, how })
    };
    [told(&kept.saved, how), told(&kept.proposed, How::Proposed)].into_iter().flatten().collect()
}
