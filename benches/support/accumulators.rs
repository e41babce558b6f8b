//! The kernels on accumulators, called as a tier's table has them: a game's ring of plies, rows at random, eight output
//! buckets.

use crate::{CHESS, Cases, FEATURES, PLIES, Random, features, widths};
use bytemuck::cast_slice;
use std::cell::{LazyCell, RefCell};
use std::hint::black_box;
use std::rc::Rc;
use tamis_quant::run::AlignedBytes;
use tamis_runtime::kernels::Tier;
use tamis_runtime::raw::activation;
use tamis_runtime::testing::{Dot, PairwiseU8};

/// One entry of a tier's table.
type PickDot = fn(&Tier) -> Dot;
/// The same of pairs.
type PickPairs = fn(&Tier) -> PairwiseU8;

/// The upper clip of most NNUEs.
const MAX: i16 = 255;
/// Output buckets.
const BUCKETS: usize = 8;

/// Both accumulators of a ply.
#[derive(Clone)]
#[repr(C, align(64))]
struct Pair<const H: usize>([[i16; H]; 2]);

type Ring<const H: usize> = Rc<RefCell<Vec<Pair<H>>>>;

/// Update, refresh, the dots, pairwise products and activations.
pub fn accumulators(cases: &mut Cases) {
    widths!(width(cases), 128 256 512 1024 1536 3072);
}

fn width<const H: usize>(cases: &mut Cases) {
    let rows = LazyCell::new(|| aligned(CHESS * H, 30));
    let narrow = LazyCell::new(|| leaked(Random::new(2).vector(CHESS * H, -120, 120, |value| value as i8 as u8)));
    let weights = LazyCell::new(|| aligned(BUCKETS * 2 * H, 63));
    let ring: LazyCell<Ring<H>> = LazyCell::new(|| {
        let mut random = Random::new(3);
        let mut pair = || Pair([(); 2].map(|()| std::array::from_fn(|_| random.within(-100, 299) as i16)));
        Rc::new(RefCell::new((0..PLIES).map(|_| pair()).collect()))
    });
    let lists = LazyCell::new(|| &*features().leak());
    // A table row at random comes; in `hot`, one of eight.
    for (name, hot) in [("add", false), ("add-hot", true)] {
        cases.every_tier("update_i16", &format!("{H}-{name}"), |tier| {
            let (ring, rows, lists) = (Rc::clone(&ring), *rows, *lists);
            walk(ring, move |at, _, after| {
                let feature = if hot { lists[at] % 8 } else { lists[at] };
                (tier.update_i16.call)(&mut after[0], None, rows, H, black_box(&[feature]), &[]);
            })
        });
    }
    // A quiet move and a capture in both perspectives, from one ply to the next.
    for (name, gone) in [("move", 1), ("capture", 2)] {
        cases.every_tier("update_i16", &format!("2x{H}-{name}"), |tier| {
            let (ring, rows, lists) = (Rc::clone(&ring), *rows, *lists);
            walk(ring, move |at, before, after| {
                let list = &lists[at..at + 4];
                for side in 0..2 {
                    let removed = if side == 0 { &list[1..=gone] } else { &list[4 - gone..] };
                    let added = &list[2 * side * (2 - gone)..][..1];
                    (tier.update_i16.call)(&mut after[side], Some(&before[side]), rows, H, added, removed);
                }
            })
        });
    }
    cases.every_tier("update_i16", &format!("2x{H}-refresh-32"), |tier| {
        let (ring, rows, lists) = (Rc::clone(&ring), *rows, *lists);
        let mut from = 0;
        walk(ring, move |_, _, after| {
            from = (from + 64) % FEATURES;
            for (side, acc) in after.iter_mut().enumerate() {
                let added = &lists[from + 32 * side..][..32];
                (tier.update_i16.call)(acc, Some(&rows[..H]), rows, H, added, &[]);
            }
        })
    });
    cases.every_tier("update_i8", &format!("2x{H}-move"), |tier| {
        let (ring, rows, lists) = (Rc::clone(&ring), *narrow, *lists);
        let rows: &[i8] = cast_slice(rows);
        walk(ring, move |at, before, after| {
            for side in 0..2 {
                let list = &lists[at + 2 * side..][..2];
                (tier.update_i8.call)(&mut after[side], Some(&before[side]), rows, H, &list[..1], &list[1..]);
            }
        })
    });
    // Products are rounded at the scales that `quantise` takes.
    let dots: [(&str, PickDot, i16); 5] = [
        ("dot_screlu_short", |tier| tier.dot_screlu_short.call, MAX),
        ("dot_screlu", |tier| tier.dot_screlu.call, MAX),
        ("dot_crelu", |tier| tier.dot_crelu.call, MAX),
        ("dot_sqrrelu", |tier| tier.dot_sqrrelu.call, MAX),
        ("dot_screlu_rounded", |tier| tier.dot_screlu_rounded.call, 1024),
    ];
    for (what, dot, max) in dots {
        for buckets in [1, BUCKETS] {
            cases.every_tier(what, &format!("2x{H}-{buckets}-buckets"), |tier| {
                let (ring, weights, lists, dot) = (Rc::clone(&ring), *weights, *lists, dot(tier));
                walk(ring, move |at, _, after| {
                    // A power of two, which the anchors know when they are compiled.
                    let bank = &weights[(lists[at] as usize & (buckets - 1)) * 2 * H..][..2 * H];
                    black_box(dot(&after[0], &after[1], bank, max));
                })
            });
        }
    }
    cases.every_tier("wide_dot_screlu", &format!("2x{H}"), |tier| {
        let (ring, weights, dot) = (Rc::clone(&ring), *weights, tier.wide_dot_screlu.call);
        walk(ring, move |_, _, after| {
            black_box(dot(&after[0], &after[1], &weights[..2 * H], MAX));
        })
    });
    // As a trainer has them, and as they round at the trainer's scale and at the one that `quantise` takes.
    let pairs: [(&str, PickPairs, i16, u32); 3] = [
        ("pairwise_u8", |tier| tier.pairwise_u8.call, MAX, 9),
        ("pairwise_u8_rounded", |tier| tier.pairwise_u8_rounded.call, MAX, 9),
        ("pairwise_u8_finest", |tier| tier.pairwise_u8_rounded.call, 8 * MAX, 15),
    ];
    for (what, products, max, shift) in pairs {
        cases.every_tier(what, &format!("2x{H}"), |tier| {
            let (ring, products) = (Rc::clone(&ring), products(tier));
            let mut out = AlignedBytes::zeroed(H);
            walk(ring, move |_, _, after| {
                for (acc, out) in after.iter().zip(black_box(out.as_mut()).chunks_mut(H / 2)) {
                    products(acc, max, shift, out);
                }
            })
        });
    }
    for (name, code) in [("screlu", activation::SCRELU), ("pairwise", activation::PAIRWISE_CRELU)] {
        cases.every_tier("activate_f32", &format!("2x{H}-{name}"), |tier| {
            let ring = Rc::clone(&ring);
            let share = if code == activation::PAIRWISE_CRELU { H / 2 } else { H };
            let mut out = vec![0.0; 2 * share];
            walk(ring, move |_, _, after| {
                for (acc, out) in after.iter().zip(black_box(&mut out).chunks_mut(share)) {
                    (tier.activate_f32.call)(acc, code, MAX, 1.0 / 255.0, out);
                }
            })
        });
    }
}

/// Goes round the plies: `step(place in the features, the ply before, this ply)`.
fn walk<const H: usize>(
    ring: Ring<H>,
    mut step: impl FnMut(usize, &[[i16; H]; 2], &mut [[i16; H]; 2]),
) -> impl FnMut(u64) {
    let (mut at, mut ply) = (0, 0);
    move |iterations| {
        let mut ring = ring.borrow_mut();
        let ring: &mut [Pair<H>; PLIES] = ring.first_chunk_mut().unwrap();
        for _ in 0..iterations {
            at = (at + 4) % FEATURES;
            let next = (ply + 1) % PLIES;
            let [before, after] = ring.get_disjoint_mut([ply, next]).unwrap();
            step(at, &before.0, &mut after.0);
            ply = next;
        }
    }
}

/// `len` numbers within `±limit`, for the rest of the program.
fn aligned(len: usize, limit: i32) -> &'static [i16] {
    let mut random = Random::new(4);
    cast_slice(leaked((0..len).flat_map(|_| (random.within(-limit, limit) as i16).to_le_bytes()).collect()))
}

/// Bytes at a multiple of 64, for the rest of the program.
fn leaked(bytes: Vec<u8>) -> &'static [u8] {
    let bytes: &'static AlignedBytes = Box::leak(Box::new(AlignedBytes::copy_of(&bytes)));
    bytes.as_ref()
}
