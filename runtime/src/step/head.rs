//! A network of one layer with one output, resolved in one piece.

use super::demands::{Demands, Order};
use super::{Step, Way};
use crate::features::ACCUMULATORS;
use crate::format::{Model, element, op};
use crate::kernels::{Dot, Tier};
#[cfg(short_ways)]
use crate::kernels::{MoveDot, MoveRows, Moved, NARROW, NARROW_MAX, NarrowMoveDots};
#[cfg(short_ways)]
use crate::ops::DotForm;
use crate::ops::{Banks, Requantisation, Requantise, Rescale, Work};
use crate::output::Output;
use crate::sure::bias_at;
use crate::workspace::typed_mut;

/// ACTIVATE_DOT and RESCALE, or ROUNDED_DOT and REQUANTISE, to one number: the most common network of all, small enough
/// that following two records would show.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FusedHead<'a> {
    dot: Dot,
    max: i16,
    weights: Banks<'a, i16>,
    ending: Ending<'a>,
    /// Where the output begins in the workspace.
    write: usize,
    pub demands: Demands,
    /// The dot with the move before it.
    #[cfg(short_ways)]
    move_dot: MoveDot,
    /// The same for accumulators of [`NARROW`] elements, SCReLU whose products fit and a clip of [`NARROW_MAX`], which
    /// these kernels have built in; none for any other network.
    #[cfg(short_ways)]
    narrow: Option<NarrowMoveDots>,
    /// The rows of a move, where both accumulators have all of them in one block; elsewhere none, with which no kernel
    /// does anything.
    #[cfg(short_ways)]
    rows: MoveRows<'a>,
}

/// What becomes of the sum.
#[derive(Debug, Clone, Copy)]
enum Ending<'a> {
    /// Divided.
    Rescale(Rescale<'a>),
    /// With the dot's bias, rounded once.
    Requantise(Banks<'a, i32>, Requantisation<'a>),
}

impl<'a> FusedHead<'a> {
    /// `None` for any other network, also where RESCALE reads one of the dot's several rows.
    pub fn resolve(model: &Model<'a>, kernels: &Tier) -> Option<Self> {
        let [first, second] = model.ops() else { return None };
        if !ACCUMULATORS || !matches!(first.kind, op::ACTIVATE_DOT | op::ROUNDED_DOT) {
            return None;
        }
        #[cfg(short_ways)]
        let form = DotForm::of(model.tensor(first.weights), first);
        #[cfg(short_ways)]
        let move_dot = match form {
            _ if first.kind == op::ROUNDED_DOT => kernels.move_dots.screlu_rounded,
            DotForm::Crelu => kernels.move_dots.crelu,
            DotForm::ScreluShort => kernels.move_dots.screlu_short,
            DotForm::Sqrrelu | DotForm::Screlu => kernels.move_dots.screlu,
        };
        #[cfg(short_ways)]
        let is_short = first.kind == op::ACTIVATE_DOT && matches!(form, DotForm::ScreluShort);
        let (first, second) = (Step::resolve(model, kernels, first)?, Step::resolve(model, kernels, second)?);
        let (dot, max, weights, ending) = match (first.way, second.way) {
            (Way::One(Work::ACTIVATE_DOT(dot)), Way::One(Work::RESCALE(rescale))) => {
                (dot.dot, dot.max, dot.weights, Ending::Rescale(rescale))
            }
            (Way::One(Work::ROUNDED_DOT(dot)), Way::One(Work::REQUANTISE(Requantise::Plain(requantisation))))
                if requantisation.element == element::I32 =>
            {
                (dot.dot, dot.max, dot.weights, Ending::Requantise(dot.bias, requantisation))
            }
            _ => return None,
        };
        let (first, second) = (first.places, second.places);
        // The second may also read one of many sums; a head has row 0 and no other.
        let is_whole = second.read == first.write && second.write.range().len() == size_of::<i32>();
        is_whole.then_some(Self {
            dot,
            max,
            weights,
            ending,
            write: second.write.range().start,
            demands: Demands::of(model),
            #[cfg(short_ways)]
            move_dot,
            #[cfg(short_ways)]
            narrow: kernels
                .move_dots
                .narrow
                .filter(|_| is_short && (model.input().hidden as usize, max) == (NARROW, NARROW_MAX)),
            #[cfg(short_ways)]
            rows: MoveRows { rows: &[], stride: 0 },
        })
    }

    /// The same behind accumulators whose moves take these rows.
    #[cfg(short_ways)]
    pub const fn behind(self, rows: MoveRows<'a>) -> Self {
        Self { rows, ..self }
    }

    /// The output for accumulators of the right length and a bucket that there is.
    #[inline(always)]
    pub fn score(&self, own: &[i16], other: &[i16], bucket: usize) -> i32 {
        self.end(self.sum(own, other, bucket), bucket)
    }

    /// The dot; [`FusedHead::end`] makes the output of it.
    #[inline(always)]
    pub fn sum(&self, own: &[i16], other: &[i16], bucket: usize) -> i32 {
        #[cfg(not(short_ways))]
        {
            let (first, second) = match self.demands.order {
                Order::Own => (own, [].as_slice()),
                Order::OwnFirst => (own, other),
                Order::OtherFirst => (other, own),
            };
            let weights = self.weights.start(bucket, first.len() + second.len());
            (self.dot)(first, second, weights, self.max)
        }
        // Branches, which are always taken alike, in place of choices that each sum would wait for.
        #[cfg(short_ways)]
        match self.demands.order {
            Order::OwnFirst => self.dot(own, other, bucket),
            Order::OtherFirst => self.dot(other, own, bucket),
            Order::Own => self.dot(own, &[], bucket),
        }
    }

    #[cfg(short_ways)]
    #[inline(always)]
    fn dot(&self, first: &[i16], second: &[i16], bucket: usize) -> i32 {
        let Some(weights) = self.weights.found(bucket, first.len() + second.len()) else { return 0 };
        (self.dot)(first, second, weights, self.max)
    }

    /// The dot after a move, whose accumulators are made on the way; `None`, and nothing done, where the network or the
    /// kernel has no such way. out, source: (2, hidden), perspective 0 first · own: the perspective to move.
    #[cfg(short_ways)]
    #[inline(always)]
    pub fn move_and_sum(
        &self,
        out: &mut [i16],
        source: &[i16],
        moved: &Moved,
        own: usize,
        bucket: usize,
    ) -> Option<i32> {
        let weights = self.weights.found(bucket, out.len())?;
        let first = own ^ usize::from(self.demands.order == Order::OtherFirst);
        if let (Some(narrow), Ok(w)) = (&self.narrow, weights.try_into())
            && let (Ok(out), Ok(source)) = (out.try_into(), source.try_into())
        {
            return match moved {
                Moved::Quiet(changes) => (narrow.quiet)(out, source, &self.rows, changes, w, first),
                Moved::Capture(changes) => (narrow.capture)(out, source, &self.rows, changes, w, first),
            };
        }
        (self.move_dot)(out, source, &self.rows, moved, weights, first, self.max)
    }

    /// The output for a sum.
    #[inline(always)]
    pub fn end(&self, sum: i32, bucket: usize) -> i32 {
        match &self.ending {
            Ending::Rescale(rescale) => rescale.one(sum, bucket, 0),
            Ending::Requantise(bias, by) => by.one(sum.wrapping_add(bias_at(bias.bank(bucket), 0)), bucket),
        }
    }

    /// A score in its place, as the output.
    #[inline(always)]
    pub fn written<'w>(&self, score: i32, workspace: &'w mut [u8]) -> Output<'w> {
        let Some(place) = workspace.get_mut(self.write..) else { return Output::I32(&[]) };
        let Some(place) = place.get_mut(..size_of::<i32>()) else { return Output::I32(&[]) };
        let [out] = typed_mut::<i32>(place) else { return Output::I32(&[]) };
        *out = score;
        Output::I32(core::slice::from_ref(out))
    }
}
