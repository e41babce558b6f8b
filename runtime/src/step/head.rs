//! A network of one layer with one output, resolved in one piece.

use super::{Banks, Bias, Step, Work};
use crate::built::ACCUMULATORS;
use crate::format::{Model, op, perspective_order};
use crate::kernels::{Dot, Tier};
use crate::num::Divisor;

/// ACTIVATE_DOT and RESCALE to one number: the most common network of all, small enough that following two records
/// would show.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Head<'a> {
    pub dot: Dot,
    pub max: i16,
    pub weights: Banks<'a, i16>,
    pub pre: Divisor,
    pub factor: i32,
    pub divisor: Divisor,
    pub bias: Bias<'a>,
    /// Where the output begins in the workspace.
    pub write: usize,
    /// What the caller's arguments are held against: width of an accumulator, output buckets, bytes of the workspace.
    pub hidden: usize,
    pub buckets: usize,
    pub workspace_len: usize,
    /// Whether there are two accumulators, and whether the other side's comes first.
    pub two: bool,
    pub other_first: bool,
}

impl<'a> Head<'a> {
    /// `None` for any other network, also where RESCALE reads one of the dot's several rows.
    pub fn resolve(model: &Model<'a>, kernels: &Tier) -> Option<Self> {
        let [first, second] = model.ops() else { return None };
        if !ACCUMULATORS || first.kind != op::ACTIVATE_DOT {
            return None;
        }
        let (first, second) = (Step::resolve(model, kernels, first)?, Step::resolve(model, kernels, second)?);
        let Work::ActivateDot { dot, max, weights } = first.work else { return None };
        let Work::Rescale { pre, factor, divisor, bias } = second.work else { return None };
        // RESCALE may also read one of many sums; a head has row 0 and no other.
        let is_whole = second.read == first.write && second.write.range().len() == size_of::<i32>();
        let input = model.input();
        is_whole.then_some(Self {
            dot,
            max,
            weights,
            pre,
            factor,
            divisor,
            bias,
            write: second.write.range().start,
            hidden: input.hidden as usize,
            buckets: input.bucket_count as usize,
            workspace_len: model.workspace_len_bytes(),
            two: input.perspectives == 2,
            other_first: input.perspectives == 2 && input.order == perspective_order::OTHER_FIRST,
        })
    }
}
