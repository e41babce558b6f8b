//! Large files, in and out: from 50 MB of f32 to a container, stage by stage, and loading a container of 50 MB.
//! Processor time of one thread, memory included that a stage takes and gives back; ids as in `models`.
#![allow(missing_docs, reason = "criterion's macros make an item without")]
#![allow(clippy::unwrap_used, reason = "a benchmark fails by panicking")]

use benches::{king_buckets, king_buckets_container, processor_time};
use criterion::{BenchmarkId, Criterion, SamplingMode, criterion_group, criterion_main};
use std::hint::black_box;
use std::time::Duration;
use tamis_quant::import::read_raw;
use tamis_quant::pack::{Provenance, pack};
use tamis_quant::proof::prove;
use tamis_quant::quantise::quantise;
use tamis_runtime::format::Model;
use tamis_runtime::raw::checksum;

/// What a shape is called: bytes of the input.
const SHAPE: &str = "50MB";

/// One id; what `work` returns is dropped within the measurement.
fn measure<R>(criterion: &mut Criterion, name: &str, shape: &str, mut work: impl FnMut() -> R) {
    let mut group = criterion.benchmark_group(name);
    group.sampling_mode(SamplingMode::Flat);
    group.bench_function(BenchmarkId::new(shape, "portable"), |bencher| {
        bencher.iter_custom(|iterations| (0..iterations).map(|_| time(&mut work)).sum());
    });
}

fn time<R>(work: impl FnOnce() -> R) -> Duration {
    let start = processor_time();
    black_box(work());
    processor_time() - start
}

/// `quantise` is what the command does with `--scales trainer` between reading a file and packing: read, quantise,
/// prove.
fn quantising(criterion: &mut Criterion) {
    let (arch, raw) = king_buckets(16, 1024);
    let net = read_raw(&raw, &arch).unwrap();
    let integers = quantise(&net).unwrap();
    let program = integers.lower().unwrap();
    let proof = prove(&program);
    assert!(proof.holds(), "the proof without witnesses is measured: {:?}", proof.violations);
    measure(criterion, "quantise-read", SHAPE, || read_raw(black_box(&raw), &arch).unwrap());
    measure(criterion, "quantise-round", SHAPE, || quantise(black_box(&net)).unwrap());
    measure(criterion, "quantise-prove", SHAPE, || prove(&black_box(&integers).lower().unwrap()));
    measure(criterion, "quantise-pack", SHAPE, || pack(black_box(&program), &proof, &Provenance::default()).unwrap());
    drop((net, integers, program));
    measure(criterion, "quantise", SHAPE, || {
        let integers = quantise(&read_raw(black_box(&raw), &arch).unwrap()).unwrap();
        prove(&integers.lower().unwrap())
    });
    measure(criterion, "quantise-to-container", SHAPE, || {
        let integers = quantise(&read_raw(black_box(&raw), &arch).unwrap()).unwrap();
        let program = integers.lower().unwrap();
        pack(&program, &prove(&program), &Provenance::default()).unwrap()
    });
}

/// A file of 50 MB, the checksum's pass over it, and the structure, which is the rest: every record, and the gaps
/// between tensors and behind rows. It is far below the noise of a whole pass, so it is the difference of the two taken
/// in turns and summed, and 0 where that is not positive. In `1000-wide` every row of 1000 weights has a gap, 24576 in
/// all.
fn loading(criterion: &mut Criterion) {
    for (shape, hidden) in [(SHAPE, 1024), ("50MB-1000-wide", 1000)] {
        let file = king_buckets_container(32, hidden);
        let bytes = file.as_ref();
        measure(criterion, "load", shape, || Model::parse(black_box(bytes)).unwrap());
        measure(criterion, "load-checksum", shape, || checksum(black_box(bytes)));
        let id = BenchmarkId::new(shape, "portable");
        criterion.benchmark_group("load-structure").bench_function(id, |bencher| {
            bencher.iter_custom(|iterations| {
                let (mut all, mut sum) = (Duration::ZERO, Duration::ZERO);
                for _ in 0..iterations.max(20) {
                    all += time(|| Model::parse(black_box(bytes)).unwrap());
                    sum += time(|| checksum(black_box(bytes)));
                }
                let each = all.saturating_sub(sum) / iterations.max(20) as u32;
                (each * iterations as u32).max(Duration::from_nanos(1))
            });
        });
    }
}

/// The clock, so that times of two machines can be compared: ten million times two operations of a cycle each, every
/// one waiting for the one before.
fn clock(criterion: &mut Criterion) {
    let [add, flip] = black_box([0x9E37_79B9_7F4A_7C15_u64, 0xBF58_476D_1CE4_E5B9]);
    measure(criterion, "clock", "20-million-cycles", || {
        (0..10_000_000).fold(black_box(1_u64), |x, _| x.wrapping_add(add) ^ flip)
    });
}

criterion_group! {
    name = files;
    config = Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(100))
        .measurement_time(Duration::from_millis(1000));
    targets = clock, quantising, loading
}
criterion_main!(files);
