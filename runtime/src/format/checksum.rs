//! The checksum: sixteen 32-bit lanes, so that every vector unit and every microcontroller computes it at memory speed.
//!
//! Each 64-byte block is sixteen little-endian words; lane `l` takes word `l`:
//! `lane ← rotate_left((lane ^ word) · 0x9E3779B1, 13)`, starting from `l + 1`. Every step is a bijection of the lane
//! for a fixed word and of the word for a fixed lane, so a change confined to one word of the file always changes the
//! lane. The digest folds the lanes, in order, into a 64-bit state with the same property. A single flipped bit is
//! therefore always found; other damage slips through with probability 2⁻³² per lane. This guards against accidents,
//! not forgery.

use crate::features::IS_SMALL;
use core::ops::Range;

/// Lanes, and words in a block.
const LANES: usize = 16;
/// 2³² divided by the golden ratio, made odd: an invertible multiplier whose bits are spread.
const WORD_MULTIPLIER: u32 = 0x9E37_79B1;
/// 2⁶⁴ divided by the golden ratio, made odd.
const FOLD_MULTIPLIER: u64 = 0x9E37_79B9_7F4A_7C15;
/// Where [`super::Header::checksum`] lies, as word indices of the first block.
const CHECKSUM_WORDS: Range<usize> = 6..8;

/// The checksum of a container. `bytes` must be a multiple of 64 long (a shorter rest is ignored); the checksum field
/// of the first block counts as zero.
pub fn checksum(bytes: &[u8]) -> u64 {
    let (blocks, _) = bytes.as_chunks::<64>();
    block_by_block(blocks.iter().map(words), bytes.len())
}

/// The same of a container as its words, of which there are whole blocks.
pub(super) fn of_words(file: &[u32]) -> u64 {
    if IS_SMALL {
        return lane_by_lane(file);
    }
    let (blocks, _) = file.as_chunks::<LANES>();
    block_by_block(blocks.iter().map(|block| block.map(u32::from_le)), size_of_val(file))
}

/// All lanes side by side, as vectors have it.
#[inline(always)]
fn block_by_block(mut blocks: impl Iterator<Item = [u32; LANES]>, len_bytes: usize) -> u64 {
    let mut lanes = core::array::from_fn(first);
    if let Some(mut words) = blocks.next() {
        for index in CHECKSUM_WORDS {
            words[index] = 0;
        }
        absorb(&mut lanes, &words);
        for words in blocks {
            absorb(&mut lanes, &words);
        }
    }
    lanes.into_iter().fold(len_bytes as u64, fold)
}

/// One lane after the other, so that none needs memory.
fn lane_by_lane(words: &[u32]) -> u64 {
    let mut state = size_of_val(words) as u64;
    for start in 0..LANES {
        let (mut lane, mut at) = (first(start), start);
        while let Some(word) = words.get(at) {
            lane = step(lane, if at / 2 == CHECKSUM_WORDS.start / 2 { 0 } else { u32::from_le(*word) });
            at += LANES;
        }
        state = fold(state, lane);
    }
    state
}

const fn first(lane: usize) -> u32 {
    lane as u32 + 1
}

const fn step(lane: u32, word: u32) -> u32 {
    (lane ^ word).wrapping_mul(WORD_MULTIPLIER).rotate_left(13)
}

const fn fold(state: u64, lane: u32) -> u64 {
    let state = (state ^ lane as u64).wrapping_mul(FOLD_MULTIPLIER);
    state ^ state >> 29
}

fn words(block: &[u8; 64]) -> [u32; LANES] {
    let mut words = [0u32; LANES];
    let (chunks, _) = block.as_chunks::<4>();
    for (word, bytes) in words.iter_mut().zip(chunks) {
        *word = u32::from_le_bytes(*bytes);
    }
    words
}

fn absorb(lanes: &mut [u32; LANES], words: &[u32; LANES]) {
    for (lane, word) in lanes.iter_mut().zip(words) {
        *lane = step(*lane, *word);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_single_bit_flip_changes_it_except_in_its_own_field() {
        let mut bytes = [0u8; 192];
        for (index, byte) in bytes.iter_mut().enumerate() {
            *byte = (index * 37) as u8;
        }
        let before = checksum(&bytes);
        for bit in 0..bytes.len() * 8 {
            bytes[bit / 8] ^= 1 << (bit % 8);
            let own_field = (24..32).contains(&(bit / 8));
            assert_eq!(checksum(&bytes) == before, own_field, "bit {bit}");
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
    }

    /// Whatever the length, as bytes or as words.
    #[test]
    fn the_order_of_the_work_does_not_show() {
        let mut words = [0u32; 96];
        for (index, word) in words.iter_mut().enumerate() {
            *word = (index * index + 41 * index) as u32 * 0x0001_0203;
        }
        for len in (0..=96).step_by(16) {
            let (words, bytes) = (&words[..len], bytemuck::cast_slice(&words[..len]));
            assert_eq!(lane_by_lane(words), checksum(bytes), "{len} words");
            assert_eq!(of_words(words), checksum(bytes), "{len} words");
        }
    }

    #[test]
    fn length_is_part_of_it() {
        assert_ne!(checksum(&[0; 64]), checksum(&[0; 128]));
    }
}
