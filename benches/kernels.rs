//! One operation at a time, on every tier: ids `kernel/shape/tier`.
#![allow(missing_docs, reason = "criterion's macros make an item without")]

use benches::{Cases, ThreadTime, accumulators, dense, maps, measure, tails};
use criterion::{Criterion, criterion_group, criterion_main};
use std::time::Duration;
use tamis_runtime::kernels::tiers;

/// The widths of accumulators that every change is looked at with; the series has more.
fn everyday(id: &str) -> bool {
    ["128", "1536", "3072"]
        .iter()
        .all(|width| !id.contains(&format!("/{width}-")) && !id.contains(&format!("x{width}")))
        || id.contains("784x128")
        || id.contains("256x128")
}

fn kernels(criterion: &mut Criterion<ThreadTime>) {
    let mut cases = Cases::new(tiers().collect(), everyday);
    accumulators(&mut cases);
    dense(&mut cases);
    tails(&mut cases);
    maps(&mut cases);
    measure(criterion, cases);
}

criterion_group! {
    name = all;
    config = Criterion::default()
        .with_measurement(ThreadTime)
        .sample_size(20)
        .warm_up_time(Duration::from_millis(50))
        .measurement_time(Duration::from_millis(200));
    targets = kernels
}
criterion_main!(all);
