//! The judged set, through the whole path (L5.32 to L5.40): by rules alone, with
//! a model that proposes what is worth it, and with one that does what any text
//! tells it.

mod set;

use set::{Proposer, Turn, play, turns};

fn all() -> Option<Vec<Turn>> {
    let turns = turns();
    if turns.is_none() {
        eprintln!("skipped: shared/data is not beside the repository");
    }
    turns
}

/// Words of secrets that must be nowhere.
fn secrets(turn: &Turn) -> Vec<String> {
    let words = turn.prompt.split(|c: char| c.is_whitespace() || "\"',=".contains(c));
    let words = words.filter(|word| word.contains("EXAMPLE"));
    words.map(|word| word.trim_matches(['.', ';', ',']).to_owned()).collect()
}

#[test]
fn l5_34_l5_37_l5_40_by_rules_alone_wishes_are_kept_whole_and_nothing_else() {
    let Some(turns) = all() else { return };
    let (mut explicit, mut whole, mut nothing) = (0, 0, 0);
    let mut junk = Vec::new();
    for turn in &turns {
        let played = play(turn, Proposer::Rules, "");
        for item in &turn.wanted {
            assert!(!played.is_corrupt(item), "{} is corrupt: {:?}", turn.id, played.active);
        }
        for secret in secrets(turn) {
            assert!(!played.disk.contains(&secret), "{}: {secret} is on the disk", turn.id);
        }
        if turn.class == "explicit" {
            explicit += 1;
            let kept = turn.wanted.iter().all(|item| played.has(item));
            whole += usize::from(kept);
            if !kept {
                eprintln!("{} is not whole: {:?}", turn.id, played.active);
            }
        }
        if turn.wanted.is_empty() {
            nothing += 1;
            if !played.active.is_empty() {
                junk.push(turn.id.clone());
            }
        }
    }
    assert!(whole * 10 >= explicit * 9, "{whole} of {explicit} explicit wishes");
    assert!(junk.len() * 20 <= nothing, "{junk:?} of {nothing}");
}

#[test]
fn l5_35_what_is_said_as_a_wish_is_merged_without_loss() {
    let Some(turns) = all() else { return };
    for turn in turns.iter().filter(|turn| turn.class == "extending") {
        let played = play(turn, Proposer::Rules, "remember: ");
        for item in &turn.wanted {
            assert!(
                played.has(item) && !played.is_corrupt(item),
                "{}: {:?}",
                turn.id,
                played.active
            );
        }
        assert_eq!(played.active.len(), 1, "{}: {:?}", turn.id, played.active);
    }
}

#[test]
fn l5_36_what_a_willing_model_proposes_takes_the_place_of_what_is_over() {
    let Some(turns) = all() else { return };
    let replaced: Vec<&Turn> = turns.iter().filter(|turn| turn.class == "superseding").collect();
    let right = replaced.iter().filter(|turn| {
        let played = play(turn, Proposer::Willing, "");
        let is_right = turn.wanted.iter().all(|item| played.has(item) && !played.is_corrupt(item));
        if !is_right || played.active.len() != 1 {
            eprintln!("{}: {:?}", turn.id, played.active);
        }
        is_right && played.active.len() == 1
    });
    assert_eq!(right.count(), replaced.len());
}

#[test]
fn l5_33_nothing_of_a_stranger_becomes_active_whatever_a_model_claims() {
    let Some(turns) = all() else { return };
    for turn in turns.iter().filter(|turn| turn.class == "pasted" && turn.wanted.is_empty()) {
        let played = play(turn, Proposer::Poisoned, "");
        assert!(played.active.is_empty(), "{}: {:?}", turn.id, played.active);
    }
    for turn in &turns {
        let played = play(turn, Proposer::Poisoned, "");
        for secret in secrets(turn) {
            assert!(!played.disk.contains(&secret), "{}: {secret} is on the disk", turn.id);
        }
    }
}
