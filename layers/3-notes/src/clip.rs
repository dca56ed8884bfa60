//! Cutting text by tokens, never inside a character.

use everfold_kernel::Limits;

/// The start of `text` that is estimated at so many tokens or fewer, ended at
/// a line where one ends in its second half.
pub(crate) fn tokens<'a>(text: &'a str, most: u64, limits: &Limits) -> &'a str {
    let bytes = most.saturating_mul(limits.bytes_per_token_text);
    let end = text.floor_char_boundary(usize::try_from(bytes).unwrap_or(usize::MAX));
    let cut = text.get(..end).unwrap_or(text);
    if cut.len() == text.len() {
        return text;
    }
    match cut.rfind('\n') {
        Some(line) if line >= cut.len() / 2 => cut.get(..line).unwrap_or(cut),
        _ => cut,
    }
}
