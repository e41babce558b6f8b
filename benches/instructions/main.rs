//! Every hot operation a fixed number of times, for a tool that counts instructions. `instructions/run` runs it under
//! one.
//!
//! [`counted_from_here`] is entered once for each case, in the order in which the ids are printed; the tool counts what
//! happens in it and nothing else. A tool that sees no functions counts from one line end that is printed by itself to
//! the next: one stands before each case and one behind it, and the first two have nothing between them.

use benches::{
    Case, Cases, accumulators, batches, dense, evaluations, layers, maps, perceptrons, tails, threat_evaluations,
};
use tamis_runtime::kernels::{by_name, tiers};

/// Enough for an odd start to be small, few enough for an emulator: valgrind is fifty times slower than the machine.
const ITERATIONS: u64 = 4;
/// One shape of each operation, and one of each network.
const SHAPES: [&str; 52] = [
    "update_i16/2x256-move",
    "update_i16/2x256-capture",
    "update_i16/2x256-refresh-32",
    "update_i8/2x256-move",
    "dot_crelu/2x256-8-buckets",
    "dot_screlu/2x256-8-buckets",
    "dot_screlu_short/2x256-8-buckets",
    "dot_sqrrelu/2x256-8-buckets",
    "wide_dot_screlu/2x256",
    "dot_screlu_rounded/2x256-8-buckets",
    "pairwise_u8/2x256",
    "pairwise_u8_rounded/2x256",
    "activate_f32/2x256-screlu",
    "activate_f32/2x256-pairwise",
    "affine_u8/256x32",
    "affine_u7/256x32",
    "affine_u7/32x32",
    "affine_u7/32x1",
    "affine_u7_paired/256x32",
    "affine_i8/256x32",
    "affine_u7_sparse/1024x16-20%",
    "affine_u7_sparse/1024x16-100%",
    "affine_f32/16x32",
    "affine_f32_columns/16x32",
    "affine_f32/32x1",
    "activation_f32/32-crelu",
    "dequantise_f32/16",
    "requantise_u8/32",
    "requantise_i8/32",
    "requantise_i32/32",
    "convolve/1x1-64-64-25x5",
    "convolve/3x3-16-16-32x32",
    "convolve/10x4-1-64-49x10",
    "convolve/3x3-3-8-96x96",
    "depthwise/3x3-64-25x5",
    "depthwise/3x3-8-48x48",
    "update/(768-128)x2-1x8",
    "update-head/(768-128)x2-1x8",
    "update-head/(768-128)x2-1x8-rounded",
    "stack-head/(768-128)x2-1x8",
    "engine-head/(768-128)x2-1x8",
    "engine-make-unmake/(768-128)x2-1x8",
    "engine-again/(768-128)x2-1x8",
    "c-engine-head/(768-128)x2-1x8",
    "c-engine-make-unmake/(768-128)x2-1x8",
    "c-engine-again/(768-128)x2-1x8",
    "engine-head/(86896-128)x2-32-32-1x8",
    "engine-refresh/(86896-128)x2-32-32-1x8",
    "engine-from-cache/(86896-128)x2-32-32-1x8",
    "layers/1024-16-32-1x8-20%",
    "perceptron/256-32-32-1-exact",
    "batch/784-128-10x24",
];

fn main() {
    // What valgrind emulates; an emulator of another machine has all of its tiers.
    let tiers = match cfg!(target_arch = "x86_64") {
        true => ["scalar", "wide", "avx2"].into_iter().filter_map(by_name).collect(),
        false => tiers().collect(),
    };
    let mut cases = Cases::new(tiers, |id| id.rsplit_once('/').is_some_and(|(shape, _)| SHAPES.contains(&shape)));
    accumulators(&mut cases);
    evaluations(&mut cases);
    threat_evaluations(&mut cases);
    layers(&mut cases);
    perceptrons(&mut cases);
    batches(&mut cases);
    dense(&mut cases);
    tails(&mut cases);
    maps(&mut cases);
    println!();
    println!();
    for mut case in cases.into_vec() {
        case.run(1);
        println!();
        counted_from_here(&mut case);
        println!();
        println!("{} {ITERATIONS}", case.id());
    }
}

#[inline(never)]
fn counted_from_here(case: &mut Case) {
    case.run(ITERATIONS);
    // Not the last thing, so that the call is not a jump: the tool sees this function end.
    std::hint::black_box(());
}
