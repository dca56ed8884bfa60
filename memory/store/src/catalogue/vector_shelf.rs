//! The vectors of memories (R14), kept beside the cards, a file for each
//! embedder: `vectors-<id>.bin`.
//!
//! A vector is of a file as it was: its key is made of path, number, size and
//! times, as a card's. What has no vector yet is found by its words; making the
//! missing ones is for whoever nobody waits for.

use super::folder::{Folders, Found};
use super::{Card, Catalogue};
use crate::checksum::sum;
use crate::journal::ContentId;
use crate::shelf;
use everfold_memory_recall::{Document, Embedder, PassageSum, Vectors};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

/// The form of the file, and how a memory is cut into passages.
const NAME: [u8; 8] = *b"mnvec\0\0\x02";
/// Characters of the file's name that tell embedders apart.
const ID_CHARS: usize = 16;

/// The vectors that one embedder made of the cards of a catalogue.
pub(super) struct VectorShelf {
    embedder: Arc<dyn Embedder>,
    known: Vec<(u64, Vectors)>,
    /// For each card its place among them.
    places: Vec<Option<usize>>,
    sum: PassageSum,
    /// The edition of the cards that the places are of: to find them takes longer
    /// than a query.
    edition: Option<u64>,
}

impl VectorShelf {
    fn read(folders: &Folders, embedder: &Arc<dyn Embedder>) -> Self {
        let known = match folders.read(&file_of(&**embedder), NAME) {
            Found::Nothing => Vec::new(),
            Found::Unusable(path) => {
                unusable(&path);
                Vec::new()
            }
            Found::Whole(body) => decode(body.bytes(), embedder.id()).unwrap_or_else(|| {
                tracing::warn!(embedder = embedder.id(), "kept vectors are none, and made anew");
                Vec::new()
            }),
        };
        let (embedder, sum) = (Arc::clone(embedder), PassageSum::default());
        Self { embedder, known, places: Vec::new(), sum, edition: None }
    }

    /// Finds the vector of each card.
    fn follow(&mut self, cards: &[Card], edition: u64) {
        if self.edition.replace(edition) == Some(edition) {
            return;
        }
        let place = |card: &Card| self.known.binary_search_by_key(&key(card), |one| one.0).ok();
        self.places = cards.iter().map(place).collect();
        self.sum = PassageSum::of(self.found().flatten());
    }

    /// The vectors of each card.
    fn found(&self) -> impl Iterator<Item = Option<&Vectors>> {
        let of = |place: &Option<usize>| place.and_then(|at| self.known.get(at)).map(|one| &one.1);
        self.places.iter().map(of)
    }

    fn write(&self, folders: &Folders) {
        let mut body = Vec::new();
        let id = self.embedder.id().as_bytes();
        body.extend(u32::try_from(id.len()).unwrap_or(u32::MAX).to_le_bytes());
        body.extend(id);
        body.extend((self.known.len() as u64).to_le_bytes());
        for (key, vectors) in &self.known {
            body.extend(key.to_le_bytes());
            vectors.encode(&mut body);
        }
        // Who cannot write them makes them again.
        let _ = folders.write(&file_of(&*self.embedder), NAME, &body);
    }
}

/// Says that a kept file cannot be used.
pub(super) fn unusable(path: &Path) {
    let path = path.display();
    tracing::warn!(%path, "a file of the catalogue is damaged or of another version; it is made anew");
}

/// A file for each embedder.
fn file_of(embedder: &dyn Embedder) -> String {
    let id = ContentId::of(embedder.id().as_bytes());
    format!("vectors-{}.bin", id.as_str().chars().take(ID_CHARS).collect::<String>())
}

fn decode(body: &[u8], id: &str) -> Option<Vec<(u64, Vectors)>> {
    let (length, rest) = body.split_first_chunk::<4>()?;
    let (kept, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
    let (count, mut rest) = rest.split_first_chunk::<8>()?;
    if kept != id.as_bytes() {
        return None;
    }
    let count = usize::try_from(u64::from_le_bytes(*count)).ok()?;
    let mut known = Vec::with_capacity(count.min(body.len() / 8));
    for _ in 0..count {
        let (key, after) = rest.split_first_chunk::<8>()?;
        rest = after;
        known.push((u64::from_le_bytes(*key), Vectors::decode(&mut rest)?));
    }
    (rest.is_empty() && known.is_sorted_by_key(|one| one.0)).then_some(known)
}

/// A file as it is, in a number.
fn key(card: &Card) -> u64 {
    let mut bytes = Vec::with_capacity(card.path.len() + 32);
    let mark = card.mark;
    for value in [mark.number, mark.bytes, mark.modified, mark.changed] {
        bytes.extend(value.to_le_bytes());
    }
    bytes.extend(card.path.as_bytes());
    sum(&bytes)
}

impl Catalogue {
    /// Finds the vectors that an embedder made of the cards, in what is kept.
    /// Says how many are missing.
    pub fn find_vectors(&mut self, embedder: &Arc<dyn Embedder>) -> usize {
        let at = self.shelf_of(embedder);
        let Some(kept) = self.vectors.get_mut(at) else { return 0 };
        kept.follow(&self.cards, self.edition);
        kept.places.iter().filter(|place| place.is_none()).count()
    }

    /// The vectors that were found, in the order of the cards, and their sum.
    #[must_use]
    pub fn vectors(&self, embedder: &dyn Embedder) -> (Vec<Option<&Vectors>>, PassageSum) {
        let kept = self.vectors.iter().find(|kept| kept.embedder.id() == embedder.id());
        let nothing = || (vec![None; self.cards.len()], PassageSum::default());
        kept.map_or_else(nothing, |kept| (kept.found().collect(), kept.sum.clone()))
    }

    /// Makes the vectors that are missing, until a time comes, and keeps them.
    /// Says how many are still missing.
    pub fn make_vectors(&mut self, embedder: &Arc<dyn Embedder>, until: Option<Instant>) -> usize {
        let at = self.shelf_of(embedder);
        let Some(kept) = self.vectors.get_mut(at) else { return 0 };
        kept.follow(&self.cards, self.edition);
        let missing = self.cards.iter().zip(&kept.places).filter(|(_, place)| place.is_none());
        let missing: Vec<&Card> = missing.map(|(card, _)| card).collect();
        let mut made = Vec::new();
        for card in &missing {
            if until.is_some_and(|until| Instant::now() >= until) {
                break;
            }
            made.push((key(card), vectors_of(&self.dir, card, &**embedder)));
        }
        let left = missing.len() - made.len();
        if !made.is_empty() {
            // What is of no file any more goes.
            let mut used: Vec<usize> = kept.places.iter().copied().flatten().collect();
            used.sort_unstable();
            let still = used.iter().filter_map(|at| kept.known.get(*at)).cloned();
            kept.known = still.chain(made).collect();
            kept.known.sort_unstable_by_key(|one| one.0);
            kept.known.dedup_by_key(|one| one.0);
            kept.edition = None;
            kept.follow(&self.cards, self.edition);
            kept.write(&self.folders);
        }
        left
    }

    fn shelf_of(&mut self, embedder: &Arc<dyn Embedder>) -> usize {
        let known = self.vectors.iter().position(|kept| kept.embedder.id() == embedder.id());
        known.unwrap_or_else(|| {
            self.vectors.push(VectorShelf::read(&self.folders, embedder));
            self.vectors.len() - 1
        })
    }
}

/// One that cannot be read has no passages, and so no vectors.
fn vectors_of(dir: &Path, card: &Card, embedder: &dyn Embedder) -> Vectors {
    // What it says of itself is on its card.
    let Some(memory) = shelf::read(dir, &card.path, 0) else { return Vectors::default() };
    let document = Document {
        name: card.name.as_deref().unwrap_or(&card.path),
        description: card.description.as_deref().unwrap_or_default(),
        body: memory.body(),
        ..Document::default()
    };
    Vectors::of(embedder, &document)
}
