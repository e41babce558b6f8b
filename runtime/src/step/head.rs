//! A network of one layer with one output, resolved in one piece.

use super::{Step, Way};
use crate::features::ACCUMULATORS;
use crate::format::{Model, op, perspective_order};
use crate::kernels::Tier;
use crate::ops::{ActivateDot, Rescale, Work};

/// ACTIVATE_DOT and RESCALE to one number: the most common network of all, small enough that following two records
/// would show.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FusedHead<'a> {
    dot: ActivateDot<'a>,
    rescale: Rescale<'a>,
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

impl<'a> FusedHead<'a> {
    /// `None` for any other network, also where RESCALE reads one of the dot's several rows.
    pub fn resolve(model: &Model<'a>, kernels: &Tier) -> Option<Self> {
        let [first, second] = model.ops() else { return None };
        if !ACCUMULATORS || first.kind != op::ACTIVATE_DOT {
            return None;
        }
        let (first, second) = (Step::resolve(model, kernels, first)?, Step::resolve(model, kernels, second)?);
        let (Way::One(Work::ACTIVATE_DOT(dot)), Way::One(Work::RESCALE(rescale))) = (first.way, second.way) else {
            return None;
        };
        let (first, second) = (first.places, second.places);
        // RESCALE may also read one of many sums; a head has row 0 and no other.
        let is_whole = second.read == first.write && second.write.range().len() == size_of::<i32>();
        let input = model.input();
        is_whole.then_some(Self {
            dot,
            rescale,
            write: second.write.range().start,
            hidden: input.hidden as usize,
            buckets: input.bucket_count as usize,
            workspace_len: model.workspace_len_bytes(),
            two: input.perspectives == 2,
            other_first: input.perspectives == 2 && input.order == perspective_order::OTHER_FIRST,
        })
    }

    /// The output for accumulators of the right length and a bucket that there is.
    #[inline(always)]
    pub fn score(&self, own: &[i16], other: &[i16], bucket: usize) -> i32 {
        let other = if self.two { other } else { &[] };
        let (first, second) = if self.other_first { (other, own) } else { (own, other) };
        let weights = self.dot.weights.start(bucket, first.len() + second.len());
        let sum = (self.dot.dot)(first, second, weights, self.dot.max);
        self.rescale.one(sum, bucket, 0)
    }
}
