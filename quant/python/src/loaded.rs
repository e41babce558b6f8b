//! A container and what borrows it, in one value.

use self_cell::self_cell;
use tamis_quant::pack::{PackError, unpack_program};
use tamis_quant::program::ProgramInput;
use tamis_quant::run::AlignedBytes;
use tamis_runtime::format::{Model, ParseError};
use tamis_runtime::raw::input_kind;
use tamis_runtime::{Plan, kernels};

/// A plan over the bytes that it was made of.
pub struct Bound<'m> {
    /// The plan, on the fastest tier of this machine.
    pub plan: Plan<'m>,
}

self_cell! {
    /// A checked container.
    pub struct Loaded {
        owner: AlignedBytes,
        #[not_covariant]
        dependent: Bound,
    }
}

impl Loaded {
    /// Checks the bytes, and makes the plan.
    pub fn parse(bytes: &[u8]) -> Result<Self, ParseError> {
        Self::try_new(AlignedBytes::copy_of(bytes), |bytes| {
            Ok(Bound { plan: Plan::new(Model::parse(bytes.as_ref())?, kernels::best()) })
        })
    }

    /// What the network takes.
    pub fn input(&self) -> Result<ProgramInput, PackError> {
        self.with_dependent(|_, Bound { plan }| {
            let input = plan.model().input();
            // A program of accumulators is as large as the network, and its input is this.
            Ok(match input.kind {
                input_kind::FEATURES => ProgramInput::Features {
                    features: input.size as usize,
                    perspectives: input.perspectives as usize,
                    max_active: input.max_active as usize,
                    buckets: input.bucket_count as usize,
                    set: input.feature_set,
                    other_first: false,
                },
                _ => unpack_program(plan.model())?.input,
            })
        })
    }
}
