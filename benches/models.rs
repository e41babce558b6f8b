//! Whole networks: ids `what/shape/tier`, the tier `portable` where there is only one. Inputs are random; `files` loads
//! large files.
#![allow(missing_docs, reason = "criterion's macros make an item without")]
#![allow(clippy::unwrap_used, reason = "a benchmark fails by panicking")]

use benches::{
    Cases, ThreadTime, batches, evaluations, four_mebibytes, layers, measure, perceptrons, threat_evaluations, trainer,
};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;
use std::time::Duration;
use tamis_runtime::format::Model;
use tamis_runtime::kernels::tiers;
use tamis_runtime::raw::checksum;

/// The checksum alone, and all that loading does: the rest is the difference.
fn load(criterion: &mut Criterion<ThreadTime>) {
    let file = four_mebibytes();
    let bytes = file.as_ref();
    let mut group = criterion.benchmark_group("checksum");
    group.throughput(Throughput::Bytes(bytes.len() as u64));
    group.bench_function(BenchmarkId::new("4MiB", "portable"), |bencher| bencher.iter(|| checksum(black_box(bytes))));
    group.finish();
    let mut group = criterion.benchmark_group("parse");
    group.throughput(Throughput::Bytes(bytes.len() as u64));
    group.bench_function(BenchmarkId::new("4MiB", "portable"), |bencher| {
        bencher.iter(|| Model::parse(black_box(bytes)).unwrap());
    });
}

/// Every evaluation on every tier, and the trainer's own loops beside them.
fn evaluate(criterion: &mut Criterion<ThreadTime>) {
    let mut cases = Cases::new(tiers().collect(), |_| true);
    evaluations(&mut cases);
    threat_evaluations(&mut cases);
    trainer(&mut cases);
    layers(&mut cases);
    perceptrons(&mut cases);
    batches(&mut cases);
    measure(criterion, cases);
}

criterion_group! {
    name = models;
    config = Criterion::default()
        .with_measurement(ThreadTime)
        .sample_size(20)
        .warm_up_time(Duration::from_millis(50))
        .measurement_time(Duration::from_millis(200));
    targets = load, evaluate
}
criterion_main!(models);
