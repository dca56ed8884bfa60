//! A quick sum over bytes, for files that are made anew where they are damaged.

/// In four lanes of eight bytes, which a processor goes through side by side:
/// these files are large, and read for every question.
pub(crate) fn sum(bytes: &[u8]) -> u64 {
    const LANES: usize = 4;
    let step =
        |sum: u64, word: u64| (sum.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
    let (blocks, rest) = bytes.as_chunks::<{ 8 * LANES }>();
    let mut lanes = [1_u64, 2, 3, 4];
    for block in blocks {
        let (words, _) = block.as_chunks::<8>();
        for (lane, word) in lanes.iter_mut().zip(words) {
            *lane = step(*lane, u64::from_le_bytes(*word));
        }
    }
    let (words, rest) = rest.as_chunks::<8>();
    let whole = lanes.iter().fold(bytes.len() as u64, |sum, lane| step(sum, *lane));
    let whole = words.iter().fold(whole, |sum, word| step(sum, u64::from_le_bytes(*word)));
    rest.iter().fold(whole, |sum, byte| step(sum, u64::from(*byte)))
}
