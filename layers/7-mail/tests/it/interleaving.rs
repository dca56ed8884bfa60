//! Senders and an agent that is about to end, in every order that a scheduler
//! may choose.

use everfold_mail::Inbox;
use shuttle::sync::{Arc, Mutex};
use shuttle::thread;

/// Runs senders against an agent that takes, ends when nothing waits, and
/// checks that what was accepted came once and in order.
fn one_life(senders: u32, letters: u32) {
    let inbox = Arc::new(Mutex::new(Inbox::default()));
    let sending: Vec<_> = (0..senders)
        .map(|sender| {
            let inbox = Arc::clone(&inbox);
            thread::spawn(move || {
                let mut accepted = Vec::new();
                for number in 0..letters {
                    if inbox.lock().unwrap().put((sender, number)).is_ok() {
                        accepted.push((sender, number));
                    }
                }
                accepted
            })
        })
        .collect();
    let agent = {
        let inbox = Arc::clone(&inbox);
        thread::spawn(move || {
            let mut seen = Vec::new();
            loop {
                seen.extend(inbox.lock().unwrap().take());
                // Here the model answers, and letters may come.
                thread::yield_now();
                if inbox.lock().unwrap().close_if_empty() {
                    return seen;
                }
            }
        })
    };
    let accepted: Vec<Vec<(u32, u32)>> = sending.into_iter().map(|t| t.join().unwrap()).collect();
    let seen = agent.join().unwrap();
    for mine in &accepted {
        let got: Vec<_> = seen
            .iter()
            .filter(|(sender, _)| mine.first().is_some_and(|m| m.0 == *sender))
            .copied()
            .collect();
        assert_eq!(&got, mine, "lost, twice or out of order");
    }
    assert_eq!(seen.len(), accepted.iter().map(Vec::len).sum::<usize>());
}

#[test]
fn l7_5_no_letter_is_lost_when_an_agent_ends_in_any_interleaving() {
    shuttle::check_random(|| one_life(3, 3), 2_000);
    shuttle::check_pct(|| one_life(2, 2), 2_000, 3);
}

#[test]
#[ignore = "the full figure, for soak runs"]
fn l7_5_no_letter_is_lost_soak() {
    shuttle::check_random(|| one_life(4, 5), 200_000);
}
