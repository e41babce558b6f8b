//! A network of sparse inputs: of many features only those that are there are given, in ascending order.
//!
//! `cargo run --release -p tamis-runtime --example sparse`

use tamis_runtime::{Input, Output, Plan, RunError, Workspace, format::Model, include_model, kernels};

/// Nine features, of which any may be there, and three probabilities.
static NET: &[u8] = include_model!("../../tests/fuzz/corpus/loader/sparse-reals-without-values.bin");

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let plan = Plan::new(Model::parse(NET)?, kernels::best());
    let mut scratch = Workspace::<512>::new();
    for features in [&[][..], &[2, 5, 8], &[0, 1, 2, 3, 4]] {
        // A network with values takes one for each of the features.
        match plan.run(Input::Sparse { features, values: &[] }, 0, scratch.as_mut())? {
            Output::F32(probabilities) => println!("{features:?}: {probabilities:.3?}"),
            other => println!("{features:?}: no reals, but {other:?}"),
        }
    }
    let refused = plan.run(Input::Sparse { features: &[5, 2], values: &[] }, 0, scratch.as_mut());
    assert_eq!(refused, Err(RunError::FeatureOrder { previous: 5, found: 2 }));
    Ok(())
}
