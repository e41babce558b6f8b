//! What reads or writes accumulators, and requantisation.

use super::{Mismatch, PATTERNS, RANDOM_SHAPES, Random, same};
use crate::features::{ACCUMULATORS, GENERAL, REALS};
use crate::format::activation;
use crate::kernels::{Dot, Moved, Tier, WideDot, scalar};
#[cfg(short_ways)]
use crate::kernels::{MoveDot, MoveRows, NARROW_MAX};

/// The longest vector: two tiles of eight vectors of 32, and an odd rest.
const LONGEST: usize = 553;
const LENGTHS: [usize; 34] = [
    0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 24, 31, 32, 33, 48, 63, 64, 65, 127, 128, 129, 160, 192, 255, 256, 257, 264,
    288, 384, 385, 512, LONGEST,
];
/// Rows of the feature table.
const ROWS: usize = 5;
/// Lists of rows that come and go: a refresh, every fused move, and a row that comes twice.
const MOVES: [(&[u32], &[u32]); 8] = [
    (&[], &[]),
    (&[1], &[]),
    (&[], &[2]),
    (&[0], &[4]),
    (&[3], &[1, 2]),
    (&[4, 0], &[1, 3]),
    (&[0, 1, 2, 3, 4], &[]),
    (&[2, 2], &[0]),
];
/// Clips in use (QA 127, 181, 255, 256, 362) and the two ends.
const CLIPS: [i16; 8] = [1, 127, 181, 182, 255, 256, 362, i16::MAX];
/// Clips and shifts of pairwise products; the format wants max² >> shift ≤ 255.
const PAIRS: [(i16, u32); 10] =
    [(15, 0), (127, 6), (127, 7), (255, 8), (255, 9), (255, 10), (362, 10), (4095, 16), (4096, 20), (i16::MAX, 22)];

/// The same of rounded products; the format wants max << (15 − shift) in i16 besides.
const ROUNDED_PAIRS: [(i16, u32); 9] =
    [(1, 1), (3, 2), (15, 4), (255, 8), (255, 9), (510, 11), (1020, 13), (2040, 15), (2890, 15)];

pub(super) fn check(tier: &Tier, random: &mut Random) -> Result<(), Mismatch> {
    for pattern in 0..PATTERNS {
        for len in LENGTHS {
            every(tier, len, pattern, random)?;
        }
        for _ in 0..RANDOM_SHAPES {
            let len = random.below(LONGEST);
            every(tier, len, pattern, random)?;
        }
    }
    Ok(())
}

fn every(tier: &Tier, len: usize, pattern: u32, random: &mut Random) -> Result<(), Mismatch> {
    if ACCUMULATORS {
        updates(tier, len, pattern, random)?;
        moves(tier, len, pattern, random)?;
        dots(tier, len, pattern, random)?;
        #[cfg(short_ways)]
        moved_dots(tier, len, pattern, random)?;
        products(tier, len, pattern, random)?;
    }
    if ACCUMULATORS && REALS {
        activations(tier, len, pattern, random)?;
    }
    requantisation(tier, len, pattern, random)
}

fn updates(tier: &Tier, len: usize, pattern: u32, random: &mut Random) -> Result<(), Mismatch> {
    let truth = &scalar::KERNELS;
    let (mut source, mut start) = ([0i16; LONGEST], [0i16; LONGEST]);
    let (mut rows, mut narrow) = ([0i16; ROWS * LONGEST], [0i8; ROWS * LONGEST]);
    for index in 0..LONGEST {
        (source[index], start[index]) = (random.i16(pattern), random.i16(pattern));
    }
    for (row, narrow) in rows.iter_mut().zip(&mut narrow) {
        (*row, *narrow) = (random.i16(pattern), random.i16(pattern) as i8);
    }
    for (added, removed) in MOVES {
        for source in [Some(&source[..len]), None] {
            let (mut found, mut expected) = (start, start);
            (tier.update_i16.call)(&mut found[..len], source, &rows, LONGEST, added, removed);
            (truth.update_i16.call)(&mut expected[..len], source, &rows, LONGEST, added, removed);
            same("update_i16", len, &found, &expected)?;
            let (mut found, mut expected) = (start, start);
            (tier.update_i8.call)(&mut found[..len], source, &narrow, LONGEST, added, removed);
            (truth.update_i8.call)(&mut expected[..len], source, &narrow, LONGEST, added, removed);
            same("update_i8", len, &found, &expected)?;
        }
    }
    Ok(())
}

/// Both accumulators at once: a quiet move, a capture, and a row that comes twice.
fn moves(tier: &Tier, len: usize, pattern: u32, random: &mut Random) -> Result<(), Mismatch> {
    let truth = &scalar::KERNELS;
    let mut source = [0i16; LONGEST];
    let (mut rows, mut narrow) = ([0i16; ROWS * LONGEST], [0i8; ROWS * LONGEST]);
    for source in &mut source {
        *source = random.i16(pattern);
    }
    for (row, narrow) in rows.iter_mut().zip(&mut narrow) {
        (*row, *narrow) = (random.i16(pattern), random.i16(pattern) as i8);
    }
    let both = len - len % 2;
    for moved in [
        Moved::Quiet([[0, 4], [3, 1]]),
        Moved::Quiet([[2, 2], [0, 2]]),
        Moved::Capture([[1, 0, 4], [4, 2, 2]]),
        Moved::Capture([[0, 1, 2], [3, 4, 0]]),
    ] {
        let (mut found, mut expected) = ([0i16; LONGEST], [0i16; LONGEST]);
        (tier.update_both_i16.call)(&mut found[..both], &source[..both], &rows, LONGEST, &moved);
        (truth.update_both_i16.call)(&mut expected[..both], &source[..both], &rows, LONGEST, &moved);
        same("update_both_i16", both, &found, &expected)?;
        (tier.update_both_i8.call)(&mut found[..both], &source[..both], &narrow, LONGEST, &moved);
        (truth.update_both_i8.call)(&mut expected[..both], &source[..both], &narrow, LONGEST, &moved);
        same("update_both_i8", both, &found, &expected)?;
    }
    Ok(())
}

fn dots(tier: &Tier, len: usize, pattern: u32, random: &mut Random) -> Result<(), Mismatch> {
    let truth = &scalar::KERNELS;
    let (mut own, mut other, mut weights) = ([0i16; LONGEST], [0i16; LONGEST], [0i16; 2 * LONGEST]);
    for index in 0..LONGEST {
        (own[index], other[index]) = (random.i16(pattern), random.i16(pattern));
    }
    for weight in &mut weights {
        *weight = random.i16(pattern);
    }
    let dots: [(&'static str, Dot, Dot); 5] = [
        ("dot_crelu", tier.dot_crelu.call, truth.dot_crelu.call),
        ("dot_screlu", tier.dot_screlu.call, truth.dot_screlu.call),
        ("dot_screlu_short", tier.dot_screlu_short.call, truth.dot_screlu_short.call),
        ("dot_sqrrelu", tier.dot_sqrrelu.call, truth.dot_sqrrelu.call),
        ("dot_screlu_rounded", tier.dot_screlu_rounded.call, truth.dot_screlu_rounded.call),
    ];
    let wide_dots: [(&'static str, WideDot, WideDot); 2] = [
        ("wide_dot_crelu", tier.wide_dot_crelu.call, truth.wide_dot_crelu.call),
        ("wide_dot_screlu", tier.wide_dot_screlu.call, truth.wide_dot_screlu.call),
    ];
    for (operation, tried, defined) in wide_dots.into_iter().filter(|_| GENERAL) {
        for max in CLIPS {
            for second in [&other[..len], &[]] {
                let w = &weights[..len + second.len()];
                let (found, expected) = (tried(&own[..len], second, w, max), defined(&own[..len], second, w, max));
                same(operation, len, &[found], &[expected])?;
            }
        }
    }
    for (operation, tried, defined) in dots {
        for max in CLIPS {
            let max = if operation == "dot_sqrrelu" { i16::MAX } else { max };
            for second in [&other[..len], &[]] {
                let w = &weights[..len + second.len()];
                let (found, expected) = (tried(&own[..len], second, w, max), defined(&own[..len], second, w, max));
                same(operation, len, &[found], &[expected])?;
            }
        }
    }
    Ok(())
}

/// A move and the dot over what it makes in one pass, beside one after the other.
#[cfg(short_ways)]
fn moved_dots(tier: &Tier, len: usize, pattern: u32, random: &mut Random) -> Result<(), Mismatch> {
    let truth = &scalar::KERNELS;
    let (mut rows, mut source) = ([0i16; ROWS * LONGEST], [0i16; 2 * LONGEST]);
    let (mut start, mut weights) = (source, source);
    for value in rows.iter_mut().chain(&mut source).chain(&mut start).chain(&mut weights) {
        *value = random.i16(pattern);
    }
    let w = &weights[..2 * len];
    let dots: [(&'static str, MoveDot, Dot); 4] = [
        ("move_dot_crelu", tier.move_dots.crelu, truth.dot_crelu.call),
        ("move_dot_screlu", tier.move_dots.screlu, truth.dot_screlu.call),
        ("move_dot_screlu_short", tier.move_dots.screlu_short, truth.dot_screlu_short.call),
        ("move_dot_screlu_rounded", tier.move_dots.screlu_rounded, truth.dot_screlu_rounded.call),
    ];
    let moves = [
        Moved::Quiet([[0, 4], [3, 1]]),
        Moved::Quiet([[2, 2], [0, 2]]),
        Moved::Capture([[1, 0, 4], [4, 2, 2]]),
        Moved::Capture([[0, 1, 2], [3, 4, 0]]),
    ];
    let table = MoveRows { rows: &rows, stride: LONGEST };
    let source = &source[..2 * len];
    let has_none = [truth.name, "blocked"].contains(&tier.name);
    // The accumulators and the sum, one after the other.
    let apart = |dot: Dot, moved: &Moved, max, first| {
        let mut pair = start;
        (truth.update_both_i16.call)(&mut pair[..2 * len], source, &rows, LONGEST, moved);
        let (zeroth, other) = pair[..2 * len].split_at(len);
        let (own, other) = if first == 0 { (zeroth, other) } else { (other, zeroth) };
        let sum = dot(own, other, w, max);
        (pair, sum)
    };
    for ((operation, tried, defined), moved) in dots.iter().flat_map(|dot| moves.iter().map(move |moved| (*dot, moved)))
    {
        for (max, first) in CLIPS.into_iter().flat_map(|max| [(max, 0), (max, 1)]) {
            let mut found = start;
            let Some(sum) = tried(&mut found[..2 * len], source, &table, moved, w, first, max) else {
                // Nothing done; only where there is no such kernel, or no whole number of the longest vectors.
                same(operation, len, &[has_none || !len.is_multiple_of(32) || len == 0], &[true])?;
                same(operation, len, &found, &start)?;
                continue;
            };
            let (pair, expected) = apart(defined, moved, max, first);
            same(operation, len, &[sum], &[expected])?;
            same(operation, len, &found, &pair)?;
        }
    }
    // Where the others have a kernel, so has this.
    same("move_dot_narrow", len, &[tier.move_dots.narrow.is_none()], &[has_none])?;
    if let (Some(narrow), Ok(w), Ok(source)) = (&tier.move_dots.narrow, w.try_into(), source.try_into()) {
        for (moved, first) in moves.iter().flat_map(|moved| [(moved, 0), (moved, 1)]) {
            let mut found = start;
            let Some(out) = found.first_chunk_mut() else { unreachable!("as long as the weights") };
            let sum = match moved {
                Moved::Quiet(changes) => (narrow.quiet)(out, source, &table, changes, w, first),
                Moved::Capture(changes) => (narrow.capture)(out, source, &table, changes, w, first),
            };
            let (pair, expected) = apart(truth.dot_screlu_short.call, moved, NARROW_MAX, first);
            same("move_dot_narrow", len, &[sum], &[Some(expected)])?;
            same("move_dot_narrow", len, &found, &pair)?;
            // Nothing done for a row that is not there.
            found = start;
            let Some(out) = found.first_chunk_mut() else { unreachable!("as long as the weights") };
            let beyond = (narrow.quiet)(out, source, &table, &[[0, 1], [2, ROWS as u32]], w, first);
            same("move_dot_narrow", len, &[beyond], &[None])?;
            let Some(out) = found.first_chunk_mut() else { unreachable!("as long as the weights") };
            let beyond = (narrow.capture)(out, source, &table, &[[0, 1, ROWS as u32], [2, 3, 4]], w, first);
            same("move_dot_narrow", len, &[beyond], &[None])?;
            same("move_dot_narrow", len, &found, &start)?;
        }
    }
    // A row that is not there, at whatever place, is refused.
    for place in 0..4 {
        let mut rows_of = [[0; 2]; 2];
        rows_of.as_flattened_mut()[place] = ROWS as u32;
        let (moved, mut found) = (Moved::Quiet(rows_of), start);
        let sum = (tier.move_dots.crelu)(&mut found[..2 * len], source, &table, &moved, w, 0, 255);
        same("move_dot_crelu", len, &[sum.is_none() || len == 0], &[true])?;
        same("move_dot_crelu", len, &found, &start)?;
    }
    Ok(())
}

fn products(tier: &Tier, len: usize, pattern: u32, random: &mut Random) -> Result<(), Mismatch> {
    let truth = &scalar::KERNELS;
    let x = core::array::from_fn::<_, LONGEST, _>(|_| random.i16(pattern));
    let even = len - len % 2;
    for (max, shift) in PAIRS {
        let (mut found, mut expected) = ([0u8; LONGEST], [0u8; LONGEST]);
        (tier.pairwise_u8.call)(&x[..even], max, shift, &mut found[..even / 2]);
        (truth.pairwise_u8.call)(&x[..even], max, shift, &mut expected[..even / 2]);
        same("pairwise_u8", len, &found, &expected)?;
    }
    for (max, shift) in ROUNDED_PAIRS {
        let (mut found, mut expected) = ([0u8; LONGEST], [0u8; LONGEST]);
        (tier.pairwise_u8_rounded.call)(&x[..even], max, shift, &mut found[..even / 2]);
        (truth.pairwise_u8_rounded.call)(&x[..even], max, shift, &mut expected[..even / 2]);
        same("pairwise_u8_rounded", len, &found, &expected)?;
    }
    Ok(())
}

fn activations(tier: &Tier, len: usize, pattern: u32, random: &mut Random) -> Result<(), Mismatch> {
    let truth = &scalar::KERNELS;
    let x = core::array::from_fn::<_, LONGEST, _>(|_| random.i16(pattern));
    let even = len - len % 2;
    for code in [activation::CRELU, activation::SCRELU, activation::SQRRELU, activation::PAIRWISE_CRELU] {
        let (read, written) = if code == activation::PAIRWISE_CRELU { (even, even / 2) } else { (len, len) };
        for max in CLIPS {
            let (mut found, mut expected) = ([0f32; LONGEST], [0f32; LONGEST]);
            let inverse = 1.0 / f32::from(max);
            (tier.activate_f32.call)(&x[..read], code, max, inverse, &mut found[..written]);
            (truth.activate_f32.call)(&x[..read], code, max, inverse, &mut expected[..written]);
            same("activate_f32", len, &found.map(f32::to_bits), &expected.map(f32::to_bits))?;
        }
    }
    Ok(())
}

fn requantisation(tier: &Tier, len: usize, pattern: u32, random: &mut Random) -> Result<(), Mismatch> {
    let truth = &scalar::KERNELS;
    // All shifts, only those of multipliers with 31 bits, the one where the forms part, and those on both sides of it
    // with sums that leave room for the difference.
    for (shifts_of, less) in [(1..63, 0), (33..63, 0), (32..34, 0), (20..40, 18)] {
        let (mut x, mut multipliers, mut shifts) = ([0i32; LONGEST], [0i32; LONGEST], [0u8; LONGEST]);
        for index in 0..LONGEST {
            x[index] = random.i32(pattern) >> less;
            multipliers[index] = random.i32(pattern) & i32::MAX;
            shifts[index] = (shifts_of.start + random.below(shifts_of.len())) as u8;
        }
        let (x, multipliers, shifts) = (&x[..len], &multipliers[..len], &shifts[..len]);
        // A build without `general` has no zero points.
        let zero_of = |zero: i32| if GENERAL { zero } else { 0 };
        for (low, high, zero) in [(0, 127, 0), (0, 255, 0), (3, 250, 128), (0, 255, random.below(256) as i32)] {
            let [of_u8, of_i8] = [zero_of(zero), zero_of(zero - 128)];
            let (mut found, mut expected) = ([0u8; LONGEST], [0u8; LONGEST]);
            (tier.requantise_u8.call)(x, multipliers, shifts, low, high, of_u8, &mut found[..len]);
            (truth.requantise_u8.call)(x, multipliers, shifts, low, high, of_u8, &mut expected[..len]);
            same("requantise_u8", len, &found, &expected)?;
            // The same ends of i8.
            let (low, high) = (low - 128, high - 128);
            let (mut found, mut expected) = ([0i8; LONGEST], [0i8; LONGEST]);
            (tier.requantise_i8.call)(x, multipliers, shifts, low, high, of_i8, &mut found[..len]);
            (truth.requantise_i8.call)(x, multipliers, shifts, low, high, of_i8, &mut expected[..len]);
            same("requantise_i8", len, &found, &expected)?;
        }
        // All i32, and those of i16 with a zero point.
        for (low, high, zero) in [(i32::MIN, i32::MAX, 0), (-0x8000, 0x7FFF, random.below(0x1_0001) as i32 - 0x8000)] {
            let zero = zero_of(zero);
            let (mut found, mut expected) = ([0i32; LONGEST], [0i32; LONGEST]);
            (tier.requantise_i32.call)(x, multipliers, shifts, low, high, zero, &mut found[..len]);
            (truth.requantise_i32.call)(x, multipliers, shifts, low, high, zero, &mut expected[..len]);
            same("requantise_i32", len, &found, &expected)?;
        }
    }
    Ok(())
}
