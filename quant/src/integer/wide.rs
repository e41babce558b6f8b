//! Integer heads with sums of 64 bits.

use super::data::clipped;
use crate::program::{Operation, QuantTensor};
use tamis_runtime::raw::num;

/// What a wide head makes of accumulators.
pub(super) fn head(op: &Operation, x: &[i32], bucket: usize) -> Vec<i32> {
    let Operation::WideHead { weights, bias, clip, max, pre, factor, divisor } = op else {
        panic!("{} is no wide head", op.word())
    };
    let activated: Vec<i32> = x.iter().map(|value| clipped(*clip, *max, *value)).collect();
    let (sums, bias) = (sums(weights, &activated, bucket), &bias.integers()[bias.bank(bucket)]);
    assert_eq!(sums.len(), bias.len(), "a bias for each row of `{}`", weights.name);
    let one = |(sum, bias): (i64, &i32)| num::rescale_wide(sum, *pre, *bias, *factor, *divisor);
    sums.into_iter().zip(bias).map(one).collect()
}

fn sums(weights: &QuantTensor, x: &[i32], bucket: usize) -> Vec<i64> {
    assert_eq!(weights.inputs, x.len(), "inputs of `{}`", weights.name);
    let rows = weights.bank(bucket);
    let mut sums = vec![0i64; rows.len()];
    for (column, x) in weights.integers().chunks(weights.outputs).zip(x) {
        let bank = &column[rows.clone()];
        sums.iter_mut().zip(bank).for_each(|(sum, weight)| *sum += i64::from(*weight) * i64::from(*x));
    }
    sums
}
