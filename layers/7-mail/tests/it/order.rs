//! Letters are shown in order for each sender, whatever order they came in.

use everfold_kernel::Timestamp;
use everfold_kernel::ports::{Body, Letter};
use everfold_mail::apply::in_order;
use proptest::prelude::*;

fn letter(sender: u8, seq: u64, sent: i64) -> Letter {
    Letter {
        id: format!("{sender}-{seq}").into(),
        from: format!("agent{sender}"),
        seq,
        sent: Timestamp::from_second(sent).unwrap(),
        summary: None,
        body: Body::Message { text: String::new() },
        provenance: None,
    }
}

proptest! {
    #[test]
    fn l7_5_each_senders_letters_come_once_and_in_order(
        raw in proptest::collection::vec((0_u8..4, 0_u64..12, 0_i64..50), 0..40)
    ) {
        // The clock of a sender may go back: its numbers count, not its times.
        let letters: Vec<Letter> = raw.iter().map(|(s, n, t)| letter(*s, *n, *t)).collect();
        let ordered = in_order(letters.clone());
        for sender in 0..4 {
            let name = format!("agent{sender}");
            let seqs: Vec<u64> = ordered.iter().filter(|l| l.from == name).map(|l| l.seq).collect();
            prop_assert!(seqs.windows(2).all(|pair| pair[0] < pair[1]), "{:?}", seqs);
        }
        let mut ids: Vec<_> = letters.iter().map(|l| l.id.clone()).collect();
        ids.sort();
        ids.dedup();
        prop_assert_eq!(ordered.len(), ids.len());
    }
}
