//! What a person tells to remember, in so many words (`# text`): saved at once,
//! through the gate, as stated by them.

use super::Scene;
use super::keeper::Keeper;
use crate::event::{Event, Kept as How};
use crate::memory_switch::MemorySwitch;
use crate::session::Session;
use everfold_extract::{Review, Said, Who, by_rule, capture};
use everfold_kernel::ports::{Bodies, MemoryBefore, MemoryScope};
use everfold_kernel::{RecordId, settings};
use everfold_memfile::slug::{free_slug, slugify};
use std::path::PathBuf;
use std::sync::Arc;

impl Session {
    /// Saves a memory that the person states, and tells where it is. An error
    /// says why there is none, in words for them.
    ///
    /// # Errors
    /// If memory is off, or the gate or the store says no.
    pub async fn remember(&self, text: &str) -> Result<PathBuf, String> {
        if self.memory_switch == MemorySwitch::Off {
            return Err("memory is off in this session; /memory on".to_owned());
        }
        let Some(memories) = self.world.memories.clone() else {
            return Err("this session has no memory".to_owned());
        };
        let scene = Scene {
            world: self.world.clone(),
            memories,
            limits: Arc::clone(&self.config.limits),
            budget: self.budget.clone(),
            session: self.id.clone(),
            state: self.remembering.extraction.clone(),
        };
        let path = scene.keep_stated(text, self.remembering.main.author().messages).await?;
        let paths = vec![path.clone()];
        self.background.tell(Event::Remembered { paths, how: How::Saved });
        Ok(path)
    }
}

impl Scene {
    async fn keep_stated(&self, text: &str, messages: Vec<RecordId>) -> Result<PathBuf, String> {
        let record = messages.into_iter().next().unwrap_or_else(|| RecordId::from(""));
        let captured =
            capture::stated(text, record.clone()).ok_or("there is nothing to remember")?;
        let said = Said { record, who: Who::Person, text: text.to_owned() };
        // The person's own word waits for nobody's.
        let keeper = Keeper::new(Arc::clone(&self.limits), settings::Review::Auto);
        let from = self.provenance();
        keeper.begin(Review { said: vec![said], ..Review::default() }, from.clone());
        let mut places = self.memories.places().iter();
        let place = places.find(|place| place.scope == MemoryScope::Project);
        let place = place.ok_or("there is no directory for memories of this project")?;
        let most = self.limits.recall.scan_files;
        let heads = self.memories.scan(most, Bodies::Left).await.map_err(|e| e.to_string())?;
        let slug = free_slug(&slugify(&captured.name), |slug| {
            let name = place.dir.join(format!("{slug}.md"));
            slug == "memory" || heads.iter().any(|head| head.path == name)
        });
        let path = place.dir.join(format!("{slug}.md"));
        let text = by_rule(&captured, &from);
        let written = keeper.write(&*self.memories, &path, &text, MemoryBefore::Absent).await;
        written.map_err(|error| error.to_string())?;
        // One that is there already may have taken it up.
        keeper.kept().saved.first().cloned().ok_or_else(|| "it is remembered already".to_owned())
    }
}
