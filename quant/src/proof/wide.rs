//! When an integer head has sums of 64 bits.

use super::accumulators::ranges;
use super::bounds::contributions;
use super::span::Span;
use super::sums::row_bounds;
use crate::program::{Clip, Program, QuantTensor};

/// Whether sums of a dot over accumulators can leave i32: of clipped ones whatever they are, of others as far as they
/// go.
pub(crate) fn leaves_i32(program: &Program, weights: &QuantTensor, clip: Clip, max: i32) -> bool {
    let fits = |(low, high): &(i64, i64)| i32::try_from(*low).is_ok() && i32::try_from(*high).is_ok();
    let leaves = |accumulators: &[(i64, i64)]| {
        let limits = contributions(clip, max, accumulators);
        (0..weights.banks).any(|bank| !row_bounds(weights, weights.bank(bank), &limits).iter().all(fits))
    };
    let any = vec![(i64::from(i16::MIN), i64::from(i16::MAX)); weights.inputs];
    if !leaves(&any) || matches!(clip, Clip::Crelu | Clip::Screlu) {
        return leaves(&any);
    }
    leaves(&Span::of_program(program, &ranges(program)).each(weights.inputs))
}
