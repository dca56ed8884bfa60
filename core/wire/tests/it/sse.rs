//! The decoder against any cut, and against another decoder.

use crate::events;
use everfold_wire::sse::Decoder;
use futures_util::{StreamExt, stream};
use proptest::prelude::*;

/// A stream of events in the forms that servers use, and their line ends.
fn streams() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        "data: ?[a-zé€😀 :]{0,12}",
        "event: [a-z_]{1,8}",
        ": [a-z]{0,6}",
        "id: [0-9]{1,3}",
    ];
    let event = (proptest::collection::vec(line, 0..5), "data: ?[a-zé€😀]{1,12}");
    let newline = prop_oneof![Just("\n"), Just("\r\n"), Just("\r")];
    (proptest::collection::vec(event, 0..6), newline, any::<bool>()).prop_map(
        |(events, newline, bom)| {
            let mut text = String::from(if bom { "\u{feff}" } else { "" });
            for (lines, last) in events {
                for line in lines.iter().chain([&last]) {
                    text.push_str(line);
                    text.push_str(newline);
                }
                text.push_str(newline);
            }
            text
        },
    )
}

proptest! {
    #[test]
    fn s6_any_cut_gives_the_same_events(text in streams(), cuts in proptest::collection::vec(1_usize..9, 1..40)) {
        let whole = events(text.as_bytes());
        let mut decoder = Decoder::new(1 << 20);
        let mut pieces = Vec::new();
        let mut rest = text.as_bytes();
        for cut in cuts.iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let (head, tail) = rest.split_at((*cut).min(rest.len()));
            pieces.extend(decoder.push(head).unwrap());
            rest = tail;
        }
        prop_assert_eq!(pieces, whole);
    }

    #[test]
    fn s6_no_bytes_make_it_panic(bytes: Vec<u8>, limit in 0_usize..200) {
        let mut decoder = Decoder::new(limit);
        let _ = decoder.push(&bytes);
        let _ = decoder.finish();
    }

    #[test]
    fn s6_it_agrees_with_another_decoder(text in streams()) {
        // The other one leaves a byte order mark in place, so it gets none.
        let text = text.trim_start_matches('\u{feff}').to_owned();
        let ours: Vec<(String, String)> = events(text.as_bytes())
            .into_iter()
            .map(|event| (event.name, event.data))
            .collect();
        prop_assert_eq!(ours, other(&text));
    }
}

fn other(text: &str) -> Vec<(String, String)> {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let bytes = text.as_bytes().to_vec();
        let chunks = stream::iter([Ok::<_, std::io::Error>(bytes::Bytes::from(bytes))]);
        sse_stream::SseByteStream::new(chunks)
            .map(|event| event.unwrap())
            .map(|event| (event.event.unwrap_or_default(), event.data.unwrap_or_default()))
            .collect()
            .await
    })
}
