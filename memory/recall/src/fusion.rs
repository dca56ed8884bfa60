//! One order out of several.
//!
//! Scores of different rankers do not compare; their ranks do. Each ranker
//! gives its n-th pick 1 / ([`DAMPING`] + n), and the sums decide. Used where
//! a second ranker (embeddings, a model's picks) stands beside the local one.

use std::collections::BTreeMap;

/// How little the very first ranks count over the next ones; the usual value
/// of reciprocal rank fusion.
const DAMPING: f64 = 60.0;

/// Fuses orders, best first. What is first seen in an earlier order wins a tie.
///
/// ```
/// let fused = everfold_memory_recall::fuse(&[vec!["a", "b", "c"], vec!["b", "c"]]);
/// assert_eq!(fused, ["b", "c", "a"]);
/// ```
#[must_use]
pub fn fuse<T: Ord + Copy>(orders: &[Vec<T>]) -> Vec<T> {
    let mut sums: BTreeMap<T, (f64, usize)> = BTreeMap::new();
    let mut seen = 0;
    for order in orders {
        let mut rank = DAMPING;
        for item in order {
            rank += 1.0;
            seen += 1;
            sums.entry(*item).or_insert((0.0, seen)).0 += 1.0 / rank;
        }
    }
    let mut fused: Vec<(T, (f64, usize))> = sums.into_iter().collect();
    fused.sort_by(|(_, a), (_, b)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    fused.into_iter().map(|(item, _)| item).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r8_one_order_stays_as_it_is() {
        assert_eq!(fuse(&[vec![3, 1, 2]]), [3, 1, 2]);
        assert!(fuse::<u8>(&[]).is_empty());
    }
}
