//! Batches: each input's output is the second reader's, however many run beside it and in however much memory.

use super::{Sample, output};
use crate::sample_models::Random;
use crate::second_reader::Container;
use tamis_quant::run::AlignedBytes;
use tamis_runtime::format::Model;
use tamis_runtime::kernels::tiers;
use tamis_runtime::testing::SplitMix;
use tamis_runtime::{Input, Plan, RunError};

/// Inputs of the longest batch: whole tiles of a kernel, and some.
const MOST: usize = 31;

/// All samples, over and over until there are as many as are wanted, in another order each time.
pub fn hold(model: &Model<'_>, container: &Container, samples: &[Sample], random: &mut Random) {
    let bucket = SplitMix(random.draw()).below(model.input().bucket_count) as usize;
    let expected: Vec<Vec<u8>> = samples
        .iter()
        .map(|sample| {
            let values = container.evaluate(&sample.given(), bucket);
            values.last().unwrap().bytes(container.element_of_value(values.len() - 1))
        })
        .collect();
    for tier in tiers() {
        let plan = Plan::new(*model, tier);
        let count = 1 + SplitMix(random.draw()).below(MOST as u32) as usize;
        let room = 1 + SplitMix(random.draw()).below(MOST as u32) as usize;
        let first = random.draw() as usize % samples.len();
        let chosen: Vec<usize> = (0..count).map(|index| (first + 5 * index + index / 7) % samples.len()).collect();
        let inputs: Vec<Input<'_>> = chosen.iter().map(|sample| samples[*sample].input()).collect();
        let mut workspace = AlignedBytes::zeroed(plan.batch_len_bytes(room));
        workspace.as_mut().fill(0x96);
        let place = format!("{count} inputs, room for {room}, bucket {bucket}, {}", tier.name);
        let mut seen = 0;
        let done = plan.run_batch(&inputs, bucket, workspace.as_mut(), |index, found| {
            assert_eq!(index, seen, "{place}: order");
            assert!(output(found) == expected[chosen[index]], "{place}: output {index}, and the second reader");
            seen += 1;
        });
        assert_eq!((done, seen), (Ok(()), count), "{place}");
        let none = |_: usize, _: tamis_runtime::Output<'_>| panic!("{place}: an output of a batch that is refused");
        if plan.batch_len_bytes(1) > 0 {
            let short = &mut workspace.as_mut()[..plan.batch_len_bytes(1) - 1];
            let refused = plan.run_batch(&inputs, bucket, short, none);
            assert!(matches!(refused, Err((0, RunError::Workspace { .. }))), "{place}: {refused:?}");
        }
        let mut odd = inputs.clone();
        odd.push(Input::U8(&[]));
        let refused = plan.run_batch(&odd, bucket, workspace.as_mut(), none);
        assert!(matches!(refused, Err((index, _)) if index == count), "{place}: {refused:?}");
    }
}
