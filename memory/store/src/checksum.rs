//! A quick sum over bytes, for files that are made anew where they are damaged.

/// Eight bytes at a time: these files are large, and read for every question.
pub(crate) fn sum(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<8>();
    let step =
        |sum: u64, word: u64| (sum.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
    let whole =
        words.iter().fold(bytes.len() as u64, |sum, word| step(sum, u64::from_le_bytes(*word)));
    rest.iter().fold(whole, |sum, byte| step(sum, u64::from(*byte)))
}
