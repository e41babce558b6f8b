//! A case: something to measure, under an id `what/shape/tier`. Criterion, the series and the count of instructions run
//! the same.

use criterion::{BenchmarkGroup, BenchmarkId, Criterion, measurement::Measurement};
use std::time::Duration;
use tamis_runtime::kernels::Tier;

/// The tier of what has only one implementation.
pub const PORTABLE: &str = "portable";

/// Something to measure.
pub struct Case {
    /// The operation, or what is done with a network.
    pub what: &'static str,
    /// Widths, and what else tells one case from another.
    pub shape: String,
    /// The tier's name.
    pub tier: &'static str,
    /// Bytes read, or multiplications, of one iteration; 0 where nobody asks.
    pub amount: usize,
    work: Box<dyn FnMut(u64)>,
}

impl Case {
    /// `what/shape/tier`.
    pub fn id(&self) -> String {
        format!("{}/{}/{}", self.what, self.shape, self.tier)
    }

    /// Does it `iterations` times.
    pub fn run(&mut self, iterations: u64) {
        (self.work)(iterations);
    }
}

/// The cases that are wanted, in the order in which they were described: those that share memory side by side.
pub struct Cases {
    list: Vec<Case>,
    tiers: Vec<&'static Tier>,
    wanted: Box<dyn Fn(&str) -> bool>,
}

impl Cases {
    /// None yet; `wanted` is asked with the id before a case is made.
    pub fn new(tiers: Vec<&'static Tier>, wanted: impl Fn(&str) -> bool + 'static) -> Self {
        Self { list: Vec::new(), tiers, wanted: Box::new(wanted) }
    }

    /// One case for each tier; `make` gives what runs a number of iterations.
    pub fn every_tier<W: FnMut(u64) + 'static>(
        &mut self,
        what: &'static str,
        shape: &str,
        mut make: impl FnMut(&'static Tier) -> W,
    ) {
        for tier in self.tiers.clone() {
            self.single(what, shape, tier.name, 0, || make(tier));
        }
    }

    /// One case.
    pub fn single<W: FnMut(u64) + 'static>(
        &mut self,
        what: &'static str,
        shape: &str,
        tier: &'static str,
        amount: usize,
        make: impl FnOnce() -> W,
    ) {
        if (self.wanted)(&format!("{what}/{shape}/{tier}")) {
            self.list.push(Case { what, shape: shape.into(), tier, amount, work: Box::new(make()) });
        }
    }

    /// The cases.
    pub fn into_vec(self) -> Vec<Case> {
        self.list
    }
}

/// Hands every case to criterion.
pub fn measure<M: Measurement<Value = Duration> + Default + 'static>(criterion: &mut Criterion<M>, cases: Cases) {
    for mut case in cases.into_vec() {
        let mut group: BenchmarkGroup<'_, M> = criterion.benchmark_group(case.what);
        let id = BenchmarkId::new(&case.shape, case.tier);
        group.bench_function(id, |bencher| {
            bencher.iter_custom(|iterations| {
                let clock = M::default();
                let start = clock.start();
                case.run(iterations);
                clock.end(start)
            });
        });
    }
}
