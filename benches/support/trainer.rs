//! The baseline that costs nothing: the loops of the trainer's own example of inference, one number at a time. Written
//! from what they compute: an accumulator is copied, features are added to it and taken from it in place; the output is
//! `Σ clamp(x, 0, 255)² · w` in i32 over both accumulators, divided by 255, plus the bias, times 400, divided by 255 ·
//! 64.

use crate::{CHESS, Cases, FEATURES, PLIES, PORTABLE, Random, features, widths};
use std::hint::black_box;

#[derive(Clone)]
#[repr(C, align(64))]
struct Accumulator<const H: usize>([i16; H]);

impl<const H: usize> Accumulator<H> {
    fn add(&mut self, row: &Self) {
        for (sum, weight) in self.0.iter_mut().zip(&row.0) {
            *sum = sum.wrapping_add(*weight);
        }
    }

    fn remove(&mut self, row: &Self) {
        for (sum, weight) in self.0.iter_mut().zip(&row.0) {
            *sum = sum.wrapping_sub(*weight);
        }
    }

    fn random(random: &mut Random, limit: i32) -> Self {
        Self(std::array::from_fn(|_| random.within(-limit, limit) as i16))
    }
}

struct TrainerNetwork<const H: usize> {
    rows: Vec<Accumulator<H>>,
    /// Of each output bucket, for the side to move and for the other side.
    heads: Vec<[Accumulator<H>; 2]>,
}

impl<const H: usize> TrainerNetwork<H> {
    #[inline(never)]
    fn evaluate(&self, own: &Accumulator<H>, other: &Accumulator<H>, bucket: usize) -> i32 {
        let mut output = 0;
        for (acc, weights) in [own, other].into_iter().zip(&self.heads[bucket]) {
            for (x, weight) in acc.0.iter().zip(&weights.0) {
                let clipped = i32::from(*x).clamp(0, 255);
                output += clipped * clipped * i32::from(*weight);
            }
        }
        (output / 255 + 1) * 400 / (255 * 64)
    }
}

/// A quiet move in both perspectives, then the output, at every width.
pub fn trainer(cases: &mut Cases) {
    widths!(width(cases), 128 256 512 1024 1536 3072);
}

fn width<const H: usize>(cases: &mut Cases) {
    cases.single("trainer-update-head", &format!("(768-{H})x2-1x8"), PORTABLE, 0, || {
        let mut random = Random::new(11);
        let rows = (0..CHESS).map(|_| Accumulator::random(&mut random, 30)).collect();
        let heads = (0..8).map(|_| [(); 2].map(|()| Accumulator::random(&mut random, 63))).collect();
        let network = TrainerNetwork::<H> { rows, heads };
        let mut ring = vec![[(); 2].map(|()| Accumulator::<H>([0; H])); PLIES];
        let lists = features();
        let (mut at, mut ply) = (0, 0);
        move |iterations| {
            for _ in 0..iterations {
                at = (at + 4) % FEATURES;
                let next = (ply + 1) % PLIES;
                let [before, after] = ring.get_disjoint_mut([ply, next]).unwrap();
                ply = next;
                for (side, acc) in after.iter_mut().enumerate() {
                    acc.0.copy_from_slice(&before[side].0);
                    acc.add(&network.rows[lists[at + 2 * side] as usize]);
                    acc.remove(&network.rows[lists[at + 2 * side + 1] as usize]);
                }
                black_box(network.evaluate(&after[0], &after[1], lists[at] as usize % 8));
            }
        }
    });
}
