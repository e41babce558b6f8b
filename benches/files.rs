//! Large files, in and out: from 50 MB of f32 to a container, stage by stage, and loading a container of 50 MB. Processor time
//! of one thread, memory included that a stage takes and gives back; ids as in `models`.
#![allow(missing_docs, reason = "criterion's macros make an item without")]
#![allow(clippy::unwrap_used, reason = "a benchmark fails by panicking")]

use benches::{king_buckets, king_buckets_container, processor_time};
use criterion::{BenchmarkId, Criterion, SamplingMode, criterion_group, criterion_main};
use std::hint::black_box;
use std::time::Duration;
use tamis_quant::import::read_raw;
use tamis_quant::pack::{Provenance, to_container};
use tamis_quant::proof::prove;
use tamis_quant::quantise::quantise;
use tamis_runtime::format::{Model, checksum};

/// What a shape is called: bytes of the input.
const SHAPE: &str = "50MB";

/// One id; what `work` returns is dropped within the measurement.
fn measure<R>(criterion: &mut Criterion, name: &str, mut work: impl FnMut() -> R) {
    let mut group = criterion.benchmark_group(name);
    group.sampling_mode(SamplingMode::Flat);
    group.bench_function(BenchmarkId::new(SHAPE, "portable"), |bencher| {
        bencher.iter_custom(|iterations| {
            let start = processor_time();
            for _ in 0..iterations {
                black_box(work());
            }
            processor_time() - start
        });
    });
}

/// `quantise` is what the command does between reading a file and packing: read, quantise, prove.
fn quantising(criterion: &mut Criterion) {
    let (arch, raw) = king_buckets(16);
    let net = read_raw(&raw, &arch).unwrap();
    let integers = quantise(&net).unwrap();
    let proof = prove(&integers);
    assert!(proof.holds(), "the proof without witnesses is measured: {:?}", proof.violations);
    measure(criterion, "quantise-read", || read_raw(black_box(&raw), &arch).unwrap());
    measure(criterion, "quantise-round", || quantise(black_box(&net)).unwrap());
    measure(criterion, "quantise-prove", || prove(black_box(&integers)));
    measure(criterion, "quantise-pack", || to_container(black_box(&integers), &proof, &Provenance::default()).unwrap());
    drop((net, integers));
    measure(criterion, "quantise", || {
        let integers = quantise(&read_raw(black_box(&raw), &arch).unwrap()).unwrap();
        prove(&integers)
    });
    measure(criterion, "quantise-to-container", || {
        let integers = quantise(&read_raw(black_box(&raw), &arch).unwrap()).unwrap();
        to_container(&integers, &prove(&integers), &Provenance::default()).unwrap()
    });
}

/// Loading is the checksum, a pass over the file, and the structure, which is the same file with everything but the checksum
/// done: the difference of two measurements would drown in their noise.
fn loading(criterion: &mut Criterion) {
    let file = king_buckets_container(32);
    let bytes = file.as_ref();
    measure(criterion, "load", || Model::parse(black_box(bytes)).unwrap());
    measure(criterion, "load-checksum", || checksum(black_box(bytes)));
}

/// The clock: two dependent operations of a cycle each, a million times, so that times of two machines can be compared.
fn clock(criterion: &mut Criterion) {
    let [add, flip] = black_box([0x9E37_79B9_7F4A_7C15_u64, 0xBF58_476D_1CE4_E5B9]);
    let chain = || (0..1_000_000).fold(black_box(1_u64), |x, _| x.wrapping_add(add) ^ flip);
    criterion.bench_function("clock/two-million-cycles/portable", |bencher| bencher.iter(chain));
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
