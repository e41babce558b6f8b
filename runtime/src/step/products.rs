//! A network of products of halves, a layer on bytes and last layers on reals, in one piece: how most engines' networks
//! of several layers look.

use super::demands::{Demands, Order};
use super::tail::Tail;
use super::{Step, Way};
use crate::features::{ACCUMULATORS, REALS};
use crate::format::Model;
use crate::kernels::{TAIL_WIDTH, Tier};
use crate::ops::{AffineI8, ByInput, Products, Work};
use crate::workspace::typed_mut;

/// PAIRWISE_U8 or PAIRWISE_ROUNDED, AFFINE_I8, and a tail behind it: that the steps of a plan are these, each reading
/// what the one before has written, and what they ask of the caller. What the steps hold anyway is read there.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ProductsHead(Demands);

impl ProductsHead {
    /// `None` for any other network.
    pub fn resolve(model: &Model<'_>, steps: &[Step<'_>], done: usize) -> Option<Self> {
        if !ACCUMULATORS || !REALS || done != model.ops().len() {
            return None;
        }
        let [first, second, third] = steps else { return None };
        parts(first, second, third)?;
        let follows =
            |next: &Step<'_>, before: &Step<'_>| !next.places.reads_input && next.places.read == before.places.write;
        let is_whole = first.places.reads_input && follows(second, first) && follows(third, second);
        is_whole.then(|| Self(Demands::of(model)))
    }

    /// Runs the steps, which are those that it was made of; `None`, and the output not written, where an argument does
    /// not fit, which is then the caller's to say. The sums do not reach the workspace.
    #[inline(always)]
    pub fn run(
        &self,
        steps: &[Step<'_>],
        kernels: &Tier,
        [own, other]: [&[i16]; 2],
        bucket: usize,
        workspace: &mut [u8],
    ) -> Option<()> {
        let [first, second, third] = steps else { return None };
        let (products, call, affine, tail) = parts(first, second, third)?;
        if !self.0.are_met(own, other, bucket, workspace) {
            return None;
        }
        let bytes = workspace.get_mut(first.places.write.range())?;
        match self.0.order {
            Order::OwnFirst => products.both(own, other, bytes),
            Order::OtherFirst => products.both(other, own, bytes),
            Order::Own => products.one(own, bytes),
        }
        let mut sums = [0; TAIL_WIDTH];
        let sums = sums.get_mut(..third.places.read.len_bytes() / size_of::<i32>())?;
        let (weights, bias) = (affine.weights.whole(bucket)?, affine.bias.whole(bucket)?);
        call(bytes, weights, affine.weights.stride, bias, sums);
        tail.call(kernels, bucket, sums, typed_mut(workspace.get_mut(third.places.write.range())?));
        Some(())
    }
}

type Parts<'s, 'a> = (&'s Products, crate::kernels::AffineI8<u8>, &'s AffineI8<'a>, &'s Tail<'a>);

/// What three steps hold, where they are such a network's.
#[inline(always)]
fn parts<'s, 'a>(first: &'s Step<'a>, second: &'s Step<'a>, third: &'s Step<'a>) -> Option<Parts<'s, 'a>> {
    let products = match &first.way {
        Way::One(Work::PAIRWISE_U8(products)) => products.products(),
        Way::One(Work::PAIRWISE_ROUNDED(products)) => products.products(),
        _ => return None,
    };
    let Way::One(Work::AFFINE_I8(affine)) = &second.way else { return None };
    let (ByInput::U8(call), Way::Tail(tail)) = (affine.affine, &third.way) else { return None };
    Some((products, call, affine, tail))
}
