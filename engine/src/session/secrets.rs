//! Keys that were said in a conversation: its log keeps them, and whatever is
//! made of it has them masked (S15).

use crate::session::Session;
use everfold_kernel::{Block, BlockView, Entry, UserOrigin};
use everfold_memory_judge::secrets::KnownSecrets;

/// The secrets in what the model sees.
pub(crate) fn said(session: &Session) -> KnownSecrets {
    let mut known = KnownSecrets::default();
    for message in session.state.fold.messages() {
        for piece in message.pieces() {
            known.learn(&piece.block.plain_text());
        }
    }
    known
}

/// A text without the keys that were said, and without our own (S5).
pub(crate) fn masked(session: &Session, text: &str) -> String {
    said(session).mask(&session.config.redact(text))
}

/// The same for what a summary carries over.
pub(crate) fn mask_summaries(session: &Session, entries: &mut [Entry]) {
    let mut known = None;
    for entry in entries {
        let Entry::User(user) = entry else { continue };
        if user.origin != UserOrigin::CompactSummary {
            continue;
        }
        let known = known.get_or_insert_with(|| said(session));
        for block in &mut user.content {
            let BlockView::Text(text) = block.view() else { continue };
            let masked = known.mask(text);
            if masked != text {
                *block = Block::text(masked);
            }
        }
    }
}
