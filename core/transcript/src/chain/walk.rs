//! From the last thing said back to the newest boundary.

use super::Half;
use super::boundary::Bound;
use super::index::{Form, Index};
use everfold_kernel::RecordId;
use std::collections::{BTreeMap, BTreeSet};

/// A path through the chain, in the order of the conversation.
#[derive(Debug, Default)]
pub(super) struct Trunk {
    pub(super) path: Vec<usize>,
    /// The boundary that it starts at.
    pub(super) boundary: Option<usize>,
    /// Preserved records that the file does not have.
    pub(super) unknown: u64,
}

/// Where the conversation ends: the line that the walk starts from.
///
/// Ends are lines that are nobody's parent. Of the messages that they lead
/// back to, the one latest in the file was said last; the walk starts from the
/// end behind it, so that decisions after the last message count too.
pub(super) fn start(index: &Index, half: Half, rewound: Option<&RecordId>) -> Option<usize> {
    if let Some(leaf) = rewound.and_then(|id| index.position(id)) {
        return Some(leaf);
    }
    let mut parents = BTreeSet::new();
    for (at, node) in index.nodes().filter(|(_, node)| node.half == half) {
        if let Some(parent) = index.parent(at)
            && index.get(parent).is_some_and(|parent| parent.half == node.half)
        {
            parents.insert(parent);
        }
    }
    let mine = index.nodes().filter(|(_, node)| node.half == half);
    let ends = mine.filter(|(at, _)| !parents.contains(at));
    let mut known = BTreeMap::new();
    let best = ends.filter_map(|(end, _)| Some((last_message(index, end, &mut known)?, end))).max();
    // Without any message there may still be decisions; and lines whose
    // parents form a ring have no end at all.
    let mut fallback = index.nodes().rev().filter(|(_, node)| node.half == half);
    best.map(|(_, end)| end).or_else(|| fallback.next().map(|(at, _)| at))
}

/// The nearest message at or before a line. What was found for lines on the
/// way is remembered, so that many ends on one long chain cost no more than one.
fn last_message(
    index: &Index,
    end: usize,
    known: &mut BTreeMap<usize, Option<usize>>,
) -> Option<usize> {
    let mut seen = BTreeSet::new();
    let mut next = Some(end);
    let mut found = None;
    while let Some(at) = next.filter(|at| seen.insert(*at)) {
        if let Some(earlier) = known.get(&at) {
            found = *earlier;
            break;
        }
        if index.get(at)?.form == Form::Message {
            found = Some(at);
            break;
        }
        next = index.parent(at);
    }
    known.extend(seen.into_iter().map(|at| (at, found)));
    found
}

/// Follows parents from a line to a boundary or a root.
pub(super) fn trunk(index: &Index, bounds: &BTreeMap<usize, Bound>, start: Option<usize>) -> Trunk {
    let mut trunk = Trunk::default();
    let mut seen = BTreeSet::new();
    let mut next = start;
    while let Some(at) = next.filter(|at| seen.insert(*at)) {
        trunk.path.push(at);
        if bounds.contains_key(&at) {
            trunk.boundary = Some(at);
            break;
        }
        let parent = index.parent(at);
        next = match parent.and_then(|parent| preserved_by(index, bounds, at, parent)) {
            Some((boundary_at, bound, place)) => {
                let kept = bound.preserved.iter().take(place + 1).rev();
                let kept = kept.filter_map(|id| index.position(id));
                trunk.path.extend(kept.filter(|at| seen.insert(*at)));
                Some(anchor_of(index, boundary_at, bound))
            }
            None => parent,
        };
    }
    trunk.path.reverse();
    insert_preserved(index, bounds, &mut trunk);
    trunk
}

/// The newest boundary before `child` that preserved `parent`.
fn preserved_by<'a>(
    index: &Index,
    bounds: &'a BTreeMap<usize, Bound>,
    child: usize,
    parent: usize,
) -> Option<(usize, &'a Bound, usize)> {
    let id = &index.get(parent)?.id;
    let mut before = bounds.range(..child).rev();
    before.find_map(|(at, bound)| Some((*at, bound, *bound.places.get(id)?)))
}

fn anchor_of(index: &Index, boundary_at: usize, bound: &Bound) -> usize {
    let after: Vec<usize> = index.held().map(|(at, _)| at).filter(|at| *at > boundary_at).collect();
    bound.anchor(index, boundary_at, &after)
}

/// Puts preserved records into their place, where the walk did not come by.
fn insert_preserved(index: &Index, bounds: &BTreeMap<usize, Bound>, trunk: &mut Trunk) {
    let Some((at, bound)) = trunk.boundary.and_then(|at| Some((at, bounds.get(&at)?))) else {
        return;
    };
    let known: Vec<usize> = bound.preserved.iter().filter_map(|id| index.position(id)).collect();
    trunk.unknown = (bound.preserved.len() - known.len()) as u64;
    let on_path: BTreeSet<usize> = trunk.path.iter().copied().collect();
    if known.iter().any(|at| on_path.contains(at)) {
        return;
    }
    let anchor = bound.anchor(index, at, &trunk.path);
    let place = trunk.path.iter().position(|at| *at == anchor);
    let place = place.map_or(trunk.path.len().min(1), |place| place + 1);
    trunk.path.splice(place..place, known);
}
