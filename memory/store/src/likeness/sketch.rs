//! What a memory is about, in a few numbers.
//!
//! A number for each of its words that carry a meaning, by their stems; signs
//! of scripts without spaces count in pairs. Of a long memory a part of them
//! is kept, the same part for near-copies: those of its name and description
//! first, then those whose numbers are lowest.

use everfold_memory_file::Memory;
use everfold_memory_file::index::is_sub_index;
use everfold_memory_recall::stems;
use std::collections::BTreeSet;

/// Most numbers of a memory.
pub(crate) const MOST: usize = 32;
/// Most of them that are of its name and description.
const MOST_OF_HEAD: usize = 16;
/// How much of a body is looked at, in bytes.
const BODY_BYTES: usize = 16 * 1024;
/// Most words of a text that others are compared with.
const MOST_ASKED: usize = 256;

/// The numbers of a memory. A list of pointers has none: it says nothing itself.
pub(crate) fn of_memory(text: &str) -> Vec<u32> {
    if is_sub_index(text) {
        return Vec::new();
    }
    let memory = Memory::parse(text);
    let name = memory.front.name.unwrap_or_default();
    let about = memory.front.description.unwrap_or_default();
    let mut kept: Vec<u32> = ranked(&format!("{name}\n{about}")).take(MOST_OF_HEAD).collect();
    let body = memory.body.get(..memory.body.floor_char_boundary(BODY_BYTES)).unwrap_or_default();
    for number in ranked(body) {
        if kept.len() >= MOST {
            break;
        }
        if !kept.contains(&number) {
            kept.push(number);
        }
    }
    kept
}

/// The numbers of a text that is looked for, sorted.
pub(crate) fn of_question(text: &str) -> Vec<u32> {
    let mut all: Vec<u32> = ranked(text).take(MOST_ASKED).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// The numbers of a text's words. Those of very short ones, which are in every
/// other text, come last.
fn ranked(text: &str) -> impl Iterator<Item = u32> {
    let words = stems(text).into_iter().filter(|stem| !stem.starts_with(is_spaceless));
    let words = words.map(|stem| (u8::from(stem.len() <= 2), number(&stem)));
    let mut all: Vec<(u8, u32)> = words.chain(pairs(text).map(|n| (0, n))).collect();
    all.sort_unstable();
    all.dedup();
    all.into_iter().map(|(_, number)| number)
}

/// The numbers of neighbouring signs of scripts without spaces; one that
/// stands alone counts for itself.
fn pairs(text: &str) -> impl Iterator<Item = u32> {
    let mut found = BTreeSet::new();
    for run in text.split(|sign| !is_spaceless(sign)).filter(|run| !run.is_empty()) {
        let signs: Vec<char> = run.chars().collect();
        if signs.len() == 1 {
            found.insert(number(run));
        }
        found.extend(signs.windows(2).map(|two| number(&two.iter().collect::<String>())));
    }
    found.into_iter()
}

fn is_spaceless(sign: char) -> bool {
    matches!(sign, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// FNV-1a, folded: the same on every machine. Two words of one number are
/// taken for one; that costs a look at a memory too many.
fn number(word: &str) -> u32 {
    let whole = word.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |sum, byte| {
        (sum ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    u32::try_from((whole ^ (whole >> 32)) & u64::from(u32::MAX)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shared(one: &str, other: &str) -> usize {
        let asked = of_question(other);
        of_memory(one).iter().filter(|n| asked.contains(n)).count()
    }

    #[test]
    fn l5_35_near_copies_share_numbers_in_every_script() {
        let memory =
            "---\nname: Deploys\ndescription: when we deploy\n---\nDeploys go out on Thursdays.\n";
        assert!(shared(memory, "we deploy on Thursday") >= 2);
        assert_eq!(shared(memory, "the tea is green"), 0);
        assert!(
            shared("---\nname: 部署\n---\n我们每周四部署到生产环境。\n", "每周四部署生产") >= 3
        );
        assert_eq!(shared("---\nname: x\n---\n部门会议\n", "全部署名"), 0, "pairs, not signs");
        let list = "---\nmetadata:\n  node_type: index\n---\n- [A](a.md) — deploys\n- [B](b.md)\n";
        assert!(of_memory(list).is_empty());
    }

    #[test]
    fn l5_35_a_long_memory_has_a_bounded_sketch_that_holds_its_head() {
        let body: String = (0..5_000).map(|n| n.to_string() + "th ").collect();
        let long = format!("---\nname: Zebra crossing\ndescription: about stripes\n---\n{body}\n");
        assert_eq!(of_memory(&long).len(), MOST);
        assert_eq!(shared(&long, "zebra stripe crossings"), 3);
    }
}
