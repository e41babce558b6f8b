//! Random networks of convolutions of every kind of window: the runtime gives the integer model's bytes on every tier.

use tamis_quant::program::Operation;
use tests::networks::runs_everywhere;
use tests::note;
use tests::windows::{Drawn, programs};

/// How many are run.
const GRAPHS: usize = 300;

#[test]
fn they_run_as_the_integer_model_does() {
    let (mut last, mut widest, mut strides) = (0, [0; 2], std::collections::BTreeSet::new());
    for Drawn { seed, program, samples } in programs().take(GRAPHS) {
        runs_everywhere(&program, &samples);
        for node in &program.nodes {
            if let Operation::Convolution(op) = &node.op {
                widest = [0, 1].map(|axis| op.window.kernel[axis].max(widest[axis]));
                strides.insert(op.window.stride);
            }
        }
        last = seed as usize;
    }
    let refused = last - GRAPHS;
    note!("{GRAPHS} graphs, {refused} refused");
    assert_eq!((widest, strides.len()), ([10, 4], 9), "every size and every stride");
    assert!(refused < 3 * GRAPHS, "{refused}");
}
