//! Whole files and whole evaluations: ids `what/shape/tier`, the tier `portable` where there is only one.
#![allow(missing_docs, reason = "criterion's macros make an item without")]
#![allow(clippy::unwrap_used, reason = "a benchmark fails by panicking")]

use benches::{four_mebibytes, reference};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;
use std::time::Duration;
use tamis_quant::positions::Position;
use tamis_quant::run::AlignedBytes;
use tamis_runtime::format::{Model, checksum};
use tamis_runtime::kernels::tiers;
use tamis_runtime::nnue::AccumulatorPair;
use tamis_runtime::nnue::chess::{ChessView, Perspective};
use tamis_runtime::{Output, Plan};

/// Width of the reference network.
const HIDDEN: usize = 128;
const SHAPE: &str = "768x128x2x1";
/// A middle game with 30 men.
const FEN: &str = "r1bq1rk1/pp2ppbp/2np1np1/8/3NP3/2N1BP2/PPPQ2PP/R3KB1R w KQ - 3 9";

/// The checksum alone, and all that loading does: the rest is the difference.
fn load(criterion: &mut Criterion) {
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

/// The reference network on a position with 30 men: from nothing, after a quiet move, and the layers behind alone.
fn evaluate(criterion: &mut Criterion) {
    let file = reference();
    let model = Model::parse(file.as_ref()).unwrap();
    let position = Position::from_fen(FEN).unwrap();
    let view = ChessView { mirrored: false, king_table: model.king_table().unwrap() };
    let lists = Perspective::BOTH.map(|perspective| {
        let (own, opponent) = (position.own_king(), position.opponent_king());
        view.features(position.pieces().iter().copied(), own, opponent, perspective).collect::<Vec<u32>>()
    });
    let bucket = usize::from(model.bucket_table().unwrap()[position.pieces().len()]);
    let mut workspace = AlignedBytes::zeroed(model.workspace_len_bytes());
    for tier in tiers() {
        let plan = Plan::new(model, tier);
        let mut pair = AccumulatorPair::<HIDDEN>::new();
        let refresh = |pair: &mut AccumulatorPair<HIDDEN>| {
            for (side, list) in lists.iter().enumerate() {
                pair.refresh(&plan, side, black_box(list)).unwrap();
            }
        };
        refresh(&mut pair);
        let before = pair.clone();
        let mut head = |pair: &AccumulatorPair<HIDDEN>| match pair.evaluate(&plan, 0, bucket, workspace.as_mut()) {
            Ok(Output::I32(&[centipawns])) => centipawns,
            _ => 0,
        };
        criterion.benchmark_group("evaluate-head").bench_function(BenchmarkId::new(SHAPE, tier.name), |bencher| {
            bencher.iter(|| head(black_box(&before)));
        });
        criterion.benchmark_group("evaluate-refresh").bench_function(BenchmarkId::new(SHAPE, tier.name), |bencher| {
            bencher.iter(|| {
                refresh(&mut pair);
                head(&pair)
            });
        });
        criterion.benchmark_group("evaluate-update").bench_function(BenchmarkId::new(SHAPE, tier.name), |bencher| {
            bencher.iter(|| {
                for (side, list) in lists.iter().enumerate() {
                    let removed = list[0];
                    pair.update(&plan, black_box(&before), side, &[removed ^ 1], &[removed]).unwrap();
                }
                head(&pair)
            });
        });
    }
}

criterion_group! {
    name = models;
    config = Criterion::default()
        .sample_size(30)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_millis(1000));
    targets = load, evaluate
}
criterion_main!(models);
