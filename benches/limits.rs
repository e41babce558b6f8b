//! What the machine can do at most, to read the other benchmarks by: ids `limit/shape/vectors`.
#![allow(missing_docs, reason = "criterion's macros make an item without")]

use benches::{Cases, ThreadTime, limits, measure};
use criterion::{Criterion, criterion_group, criterion_main};
use std::time::Duration;

fn every(criterion: &mut Criterion<ThreadTime>) {
    let mut cases = Cases::new(Vec::new(), |_| true);
    limits(&mut cases);
    measure(criterion, cases);
}

criterion_group! {
    name = all;
    config = Criterion::default()
        .with_measurement(ThreadTime)
        .sample_size(20)
        .warm_up_time(Duration::from_millis(50))
        .measurement_time(Duration::from_millis(200));
    targets = every
}
criterion_main!(all);
