//! The layers behind the accumulators at several densities, and dense int8 networks, through the public functions.

use crate::Cases;
use crate::Random;
use crate::dense::DENSITIES;
use crate::evaluations::consume;
use crate::nets::{multi_layer, perceptron};
use bytemuck::cast_slice;
use std::cell::LazyCell;
use std::hint::black_box;
use tamis_quant::run::AlignedBytes;
use tamis_runtime::{Input, Plan};

/// Positions in turn.
const POSITIONS: usize = 64;
/// Width of one accumulator.
const HIDDEN: usize = 1024;
/// Dense networks: their name and their widths.
const PERCEPTRONS: [&[usize]; 4] = [&[784, 128, 10], &[256, 32, 32, 1], &[768, 256, 1], &[64, 256, 128, 1]];

/// 2x1024 accumulators -> pairwise -> 16 -> 32 -> 1, so many per cent of the groups of four products not zero.
pub fn layers(cases: &mut Cases) {
    let model = LazyCell::new(multi_layer);
    for density in DENSITIES {
        let accumulators = LazyCell::new(|| &*Box::leak(Box::new(positions(density))));
        cases.every_tier("layers", &format!("1024-16-32-1x8-{density}%"), |tier| {
            let (plan, accumulators) = (Plan::new(*model, tier), *accumulators);
            let mut workspace = AlignedBytes::zeroed(plan.model().workspace_len_bytes());
            let all: &[i16] = cast_slice(accumulators.as_ref());
            let mut turn = 0;
            move |iterations| {
                for _ in 0..iterations {
                    turn = (turn + 1) % POSITIONS;
                    let (own, other) = all[turn * 2 * HIDDEN..][..2 * HIDDEN].split_at(HIDDEN);
                    let input = Input::Accumulators(own, other);
                    consume(plan.run(input, turn * 5 % 8, workspace.as_mut()).unwrap());
                }
            }
        });
    }
}

/// Dense networks, `exact` and where the weights earn the paired form.
pub fn perceptrons(cases: &mut Cases) {
    for widths in PERCEPTRONS {
        for (name, earns_pairs) in [("exact", false), ("paired", true)] {
            let words: Vec<String> = widths.iter().map(usize::to_string).collect();
            let model = LazyCell::new(|| perceptron(widths, earns_pairs));
            cases.every_tier("perceptron", &format!("{}-{name}", words.join("-")), |tier| {
                let plan = Plan::new(*model, tier);
                let x = AlignedBytes::copy_of(&Random::new(5).vector(widths[0], 0, 127, |value| value as u8));
                let mut workspace = AlignedBytes::zeroed(plan.model().workspace_len_bytes());
                move |iterations| {
                    let (x, workspace) = (x.as_ref(), workspace.as_mut());
                    for _ in 0..iterations {
                        // Not the slice itself, which `black_box` writes as two words: reading them as one waits for
                        // all that was begun before, and evaluations would not overlap as they do in a program.
                        consume(plan.run(Input::U8(&x[black_box(0)..]), 0, workspace).unwrap());
                    }
                }
            });
        }
    }
}

/// Rows of a batch: as many as the runtime gains by.
const ROWS: usize = 24;

/// The first of these networks on several rows at once.
pub fn batches(cases: &mut Cases) {
    let widths = PERCEPTRONS[0];
    let model = LazyCell::new(|| perceptron(widths, false));
    let words: Vec<String> = widths.iter().map(usize::to_string).collect();
    cases.every_tier("batch", &format!("{}x{ROWS}", words.join("-")), |tier| {
        let plan = Plan::new(*model, tier);
        let row = |seed| AlignedBytes::copy_of(&Random::new(seed).vector(widths[0], 0, 127, |value| value as u8));
        let rows: Vec<AlignedBytes> = (0..ROWS as u64).map(row).collect();
        let mut workspace = AlignedBytes::zeroed(plan.batch_len_bytes(ROWS));
        move |iterations| {
            let inputs: Vec<Input<'_>> = rows.iter().map(|row| Input::U8(black_box(row.as_ref()))).collect();
            for _ in 0..iterations {
                plan.run_batch(&inputs, 0, workspace.as_mut(), |_, output| consume(output)).unwrap();
            }
        }
    });
}

/// Accumulators in which a group of four neurons, in either perspective, is live in both halves or its products are
/// zero.
fn positions(density: u32) -> AlignedBytes {
    let mut random = Random::new(u64::from(density));
    let mut all = vec![0i16; POSITIONS * 2 * HIDDEN];
    for accumulator in all.chunks_mut(HIDDEN) {
        let (first, second) = accumulator.split_at_mut(HIDDEN / 2);
        for (first, second) in first.chunks_mut(4).zip(second.chunks_mut(4)) {
            let live = random.within(0, 99) < density as i32;
            for (first, second) in first.iter_mut().zip(second) {
                (*first, *second) =
                    if live { (random.within(120, 255) as i16, random.within(120, 255) as i16) } else { (-50, 100) };
            }
        }
    }
    AlignedBytes::copy_of(cast_slice(&all))
}
