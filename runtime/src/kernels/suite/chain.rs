//! Chains of dense layers of bytes, against the definition's layers and roundings one after the other.

use super::{Mismatch, RANDOM_SHAPES, Random, same};
use crate::format::Layout;
use crate::kernels::layers::{ByteLayer, Rounding};
use crate::kernels::whole_chain::WholeChain;
use crate::kernels::{Tier, scalar};
use core::array::from_fn;

/// Most inputs and outputs of a layer.
const WIDEST: usize = 136;
/// Weights of a layer.
const WEIGHTS: usize = WIDEST * WIDEST;
/// Layers.
const MOST: usize = 3;
/// Widths around vectors of 4, 8 and 16 rows, groups and pairs of groups.
const WIDTHS: [[usize; MOST + 1]; 12] = [
    [64, 32, 32, 1],
    [33, 16, 8, 4],
    [136, 128, 10, 3],
    [5, 17, 31, 12],
    [1, 1, 1, 1],
    [40, 64, 65, 33],
    [100, 136, 20, 5],
    [7, 9, 24, 8],
    // Of which nothing is left over, but what is said of their scales.
    [136, 32, 16, 2],
    [8, 128, 112, 3],
    [16, 96, 48, 4],
    [24, 16, 128, 1],
];

/// What a last layer ends in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Sums,
    Bytes,
    /// i32, by shifts of 33 and more.
    High,
    /// i32, by any shifts.
    Any,
}

const ENDS: [End; 4] = [End::Sums, End::Bytes, End::High, End::Any];

pub(super) fn check(tier: &Tier, random: &mut Random) -> Result<(), Mismatch> {
    let Some(chains) = tier.chains else { return Ok(()) };
    let random_widths: [[usize; MOST + 1]; RANDOM_SHAPES as usize] = from_fn(|_| from_fn(|_| 1 + random.below(WIDEST)));
    for (case, widths) in WIDTHS.into_iter().chain(random_widths).enumerate() {
        for end in ENDS {
            for is_paired in [false, true] {
                let memory = Memory::of(&widths, is_paired, case as u32 % 4, random);
                let layers = memory.layers(&widths, is_paired, end);
                let mut x: [u8; WIDEST] = from_fn(|_| (random.next() % 128) as u8);
                for (count, name) in (1..=MOST).flat_map(|count| [(count, "chain"), (count, "whole_chain")]) {
                    // The last `count`, so that each comes as the first and the last.
                    let first = MOST - count;
                    let mut found = [7i32; WIDEST];
                    let layers = &layers[first..];
                    let len = layers[count - 1].outputs_len_bytes();
                    let whole = WholeChain::of(layers).filter(|_| name == "whole_chain");
                    if whole.is_none() && name == "whole_chain" {
                        continue;
                    }
                    let call = |x: &[u8], out: &mut [u8]| match &whole {
                        Some(whole) => (chains.whole)(x, whole, out),
                        None => (chains.any)(x, layers, out),
                    };
                    let found: &mut [u8] = bytemuck::cast_slice_mut(&mut found);
                    let mut expected = [7i32; WIDEST];
                    let expected: &mut [u8] = bytemuck::cast_slice_mut(&mut expected);
                    let x = &mut x[..widths[first]];
                    same(name, widths[first], &[call(x, &mut found[..len])], &[true])?;
                    one_by_one(x, layers, &mut expected[..len]);
                    same(name, widths[first], found, expected)?;
                    // Above 127: what the definition says, or nothing.
                    let high = x.len() - 1 - random.below(x.len());
                    x[high] |= 128;
                    if call(x, &mut found[..len]) {
                        one_by_one(x, layers, &mut expected[..len]);
                        same(name, widths[first], &found[..len], &expected[..len])?;
                    }
                    x[high] &= 127;
                }
            }
        }
    }
    Ok(())
}

/// The operands of all layers.
struct Memory {
    weights: [[i8; WEIGHTS]; MOST],
    bias: [[i32; WIDEST]; MOST],
    multipliers: [[i32; WIDEST]; MOST],
    shifts: [[u8; WIDEST]; MOST],
    small_shifts: [u8; WIDEST],
}

impl Memory {
    fn of(widths: &[usize; MOST + 1], is_paired: bool, pattern: u32, random: &mut Random) -> Self {
        let mut memory = Self {
            weights: [[0; WEIGHTS]; MOST],
            bias: [[0; WIDEST]; MOST],
            multipliers: [[0; WIDEST]; MOST],
            shifts: [[0; WIDEST]; MOST],
            small_shifts: [0; WIDEST],
        };
        for layer in 0..MOST {
            let (inputs, outputs) = (widths[layer], widths[layer + 1]);
            let stride = outputs.next_multiple_of(4);
            for row in 0..outputs {
                for col in 0..inputs {
                    let any = random.i16(pattern) as i8;
                    let weight = if is_paired { any.clamp(-64, 64) } else { any };
                    memory.weights[layer][Layout::K4.offset(stride, row, col)] = weight;
                }
                memory.bias[layer][row] = random.i32(pattern);
                memory.multipliers[layer][row] = (random.i32(pattern) & i32::MAX) | 1 << 30;
                // Mostly such that bytes come out, and all that there are.
                memory.shifts[layer][row] =
                    if random.below(4) == 0 { 33 + random.below(30) } else { 37 + random.below(6) } as u8;
                memory.small_shifts[row] = 1 + random.below(62) as u8;
            }
            // Most layers have one scale, and some of those but for one output.
            if random.below(4) != 0 {
                let (multiplier, shift) = (memory.multipliers[layer][0], memory.shifts[layer][0]);
                let other = random.below(2 * outputs);
                for row in (0..outputs).filter(|row| *row != other) {
                    (memory.multipliers[layer][row], memory.shifts[layer][row]) = (multiplier, shift);
                }
            }
        }
        memory
    }

    fn layers(&self, widths: &[usize; MOST + 1], is_paired: bool, end: End) -> [ByteLayer<'_>; MOST] {
        from_fn(|layer| {
            let (inputs, outputs) = (widths[layer], widths[layer + 1]);
            let stride = outputs.next_multiple_of(4);
            let end = if layer + 1 == MOST { end } else { End::Bytes };
            let to_bytes = end == End::Bytes;
            // The last may have outputs that no other layer could read.
            let bytes = if layer + 1 == MOST { [(0, 127), (0, 255), (3, 200)][outputs % 3] } else { (0, 127) };
            let rounding = (end != End::Sums).then(|| Rounding {
                multipliers: &self.multipliers[layer][..outputs],
                shifts: &(if end == End::Any { &self.small_shifts } else { &self.shifts[layer] })[..outputs],
                low: if to_bytes { bytes.0 } else { -70_000 },
                high: if to_bytes { bytes.1 } else { 90_000 },
                to_bytes,
            });
            let weights = &self.weights[layer][..stride * inputs.next_multiple_of(4)];
            match ByteLayer::new(weights, stride, &self.bias[layer][..outputs], inputs, is_paired, rounding) {
                Some(layer) => layer,
                None => unreachable!("lengths and shifts are those of a layer"),
            }
        })
    }
}

fn one_by_one(x: &[u8], layers: &[ByteLayer<'_>], out: &mut [u8]) {
    let truth = &scalar::KERNELS;
    let (mut from, mut len) = ([0u8; WIDEST], x.len());
    from[..len].copy_from_slice(x);
    for (index, layer) in layers.iter().enumerate() {
        let mut sums = [0i32; WIDEST];
        let sums = &mut sums[..layer.bias().len()];
        (truth.affine_u8.call)(&from[..len], layer.weights(), layer.stride(), layer.bias(), sums);
        len = sums.len();
        let to: &mut [u8] = if index + 1 == layers.len() { &mut *out } else { &mut from[..len] };
        match layer.rounding() {
            None => bytemuck::cast_slice_mut(to).copy_from_slice(sums),
            Some(by) if by.to_bytes => {
                (truth.requantise_u8.call)(sums, by.multipliers, by.shifts, by.low, by.high, 0, to);
            }
            Some(by) => {
                let to = bytemuck::cast_slice_mut(to);
                (truth.requantise_i32.call)(sums, by.multipliers, by.shifts, by.low, by.high, 0, to);
            }
        }
    }
}
