//! One operation at a time, on slices: ids `kernel/shape/tier`.
#![allow(missing_docs, reason = "criterion's macros make an item without")]

use benches::Random;
use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;
use std::time::Duration;
use tamis_runtime::format::Layout;
use tamis_runtime::kernels::{Dot, Kernels, TIERS};

/// The upper clip of most NNUEs.
const MAX: i16 = 255;
/// Widths of accumulators.
const WIDTHS: [usize; 3] = [256, 512, 1024];
/// (inputs, outputs) of dense layers: a first layer on images, and one behind an accumulator.
const DENSE: [(usize, usize); 2] = [(784, 128), (256, 32)];

/// One entry of a tier's table.
type Pick = fn(&Kernels) -> Dot;

/// Runs `measure` on every tier; `elements` are those of the larger operand.
fn every_tier<R>(
    group: &mut BenchmarkGroup<'_, WallTime>,
    shape: &str,
    elements: usize,
    mut measure: impl FnMut(&Kernels) -> R,
) {
    group.throughput(Throughput::Elements(elements as u64));
    for tier in TIERS {
        group.bench_function(BenchmarkId::new(shape, tier.name), |bencher| bencher.iter(|| measure(tier)));
    }
}

/// One feature added: half of what a refresh does for a feature, and all that a promotion needs on top of a move.
fn add(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("add_i16");
    for width in WIDTHS {
        let mut random = Random::new(1);
        let mut acc = random.vector(width, -500, 500, |value| value as i16);
        let row = random.vector(width, -120, 120, |value| value as i16);
        every_tier(&mut group, &width.to_string(), width, |tier| (tier.add_i16.call)(&mut acc, black_box(&row)));
    }
}

/// A move: a feature in, a feature out, one pass.
fn update(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("move_i16");
    for width in WIDTHS {
        let mut random = Random::new(2);
        let [source, added, removed] =
            [500, 120, 120].map(|high| random.vector(width, -high, high, |value| value as i16));
        let mut acc = vec![0; width];
        every_tier(&mut group, &width.to_string(), width, |tier| {
            (tier.move_i16.call)(black_box(&mut acc), black_box(&source), black_box(&added), black_box(&removed));
        });
    }
}

/// The head of a network of one layer, in the form for small weights and in that for any.
fn dots(criterion: &mut Criterion) {
    let kernels: [(&str, Pick); 3] = [
        ("dot_crelu", |tier| tier.dot_crelu.call),
        ("dot_screlu_short", |tier| tier.dot_screlu_short.call),
        ("dot_screlu", |tier| tier.dot_screlu.call),
    ];
    for (name, dot) in kernels {
        let mut group = criterion.benchmark_group(name);
        for width in WIDTHS {
            let mut random = Random::new(3);
            let x = random.vector(width, -300, 500, |value| value as i16);
            let w = random.vector(width, -127, 127, |value| value as i16);
            every_tier(&mut group, &width.to_string(), width, |tier| dot(tier)(black_box(&x), black_box(&w), MAX));
        }
    }
}

fn affine_u8(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("affine_u8");
    for (inputs, outputs) in DENSE {
        let mut random = Random::new(5);
        let x = random.vector(inputs, 0, 127, |value| value as u8);
        let stride = outputs.next_multiple_of(4);
        let w = random.vector(stride * inputs.next_multiple_of(4), -127, 127, |value| value as i8);
        let bias = random.vector(outputs, -10_000, 10_000, |value| value);
        let mut out = vec![0; outputs];
        every_tier(&mut group, &format!("{inputs}x{outputs}"), inputs * outputs, |tier| {
            (tier.affine_u8.call)(black_box(&x), black_box(&w), stride, black_box(&bias), black_box(&mut out));
        });
    }
}

fn affine_f32(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("affine_f32");
    for (inputs, outputs) in DENSE {
        let mut random = Random::new(6);
        let Some(stride) = Layout::Rows.stride(outputs, inputs, size_of::<f32>()) else { continue };
        let (x, w, bias) = (random.reals(inputs), random.reals(stride * outputs), random.reals(outputs));
        let mut out = vec![0.0; outputs];
        every_tier(&mut group, &format!("{inputs}x{outputs}"), inputs * outputs, |tier| {
            (tier.affine_f32.call)(black_box(&x), black_box(&w), stride, black_box(&bias), black_box(&mut out));
        });
    }
}

criterion_group! {
    name = kernels;
    config = Criterion::default()
        .sample_size(30)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_millis(700));
    targets = add, update, dots, affine_u8, affine_f32
}
criterion_main!(kernels);
