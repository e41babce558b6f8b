//! The inputs of one place of a window, as i16 without their zero point.

use super::{rest, typed};
use crate::format::element;
use crate::kernels::maps::{Geometry, Map};

/// The inputs of an output place: tap after tap from the top left to the bottom right, of each the channels of a group.
#[derive(Debug, Clone, Copy)]
pub(super) struct Patch<'x> {
    pub geometry: &'x Geometry,
    pub from: Map,
    pub x: &'x [u8],
    /// The output's pixel.
    pub place: [usize; 2],
    /// The first channel of the group, and how many it has.
    pub first: usize,
    pub count: usize,
}

impl Patch<'_> {
    /// Elements.
    pub fn len(&self) -> usize {
        self.geometry.kernel[0] * self.geometry.kernel[1] * self.count
    }

    /// Elements `start..start + out.len()`; padding is 0.
    pub fn fill(&self, start: usize, out: &mut [i16]) {
        let (mut tap, mut channel, mut rest) = (start / self.count.max(1), start % self.count.max(1), out);
        while !rest.is_empty() {
            let len = (self.count - channel).min(rest.len()).max(1);
            let (now, later) = rest.split_at_mut(len);
            match self.pixel(tap) {
                Some(pixel) => self.widen(pixel + self.first + channel, now),
                None => now.fill(0),
            }
            (tap, channel, rest) = (tap + 1, 0, later);
        }
    }

    /// The first element of the pixel that a tap reads; none in the padding.
    fn pixel(&self, tap: usize) -> Option<usize> {
        let across = self.geometry.kernel[1].max(1);
        let row = self.geometry.input(0, self.place[0], tap / across, self.from.height)?;
        let column = self.geometry.input(1, self.place[1], tap % across, self.from.width)?;
        Some((row * self.from.width + column) * self.from.channels)
    }

    fn widen(&self, at: usize, out: &mut [i16]) {
        let zero = self.from.zero as i16;
        match self.from.element {
            element::U8 => each(self.x, at, out, |x| i16::from(x).wrapping_sub(zero)),
            element::I8 => each(typed::<i8>(self.x), at, out, |x| i16::from(x).wrapping_sub(zero)),
            _ => each(typed::<i16>(self.x), at, out, |x| x.wrapping_sub(zero)),
        }
    }
}

#[inline(always)]
fn each<T: Copy>(x: &[T], at: usize, out: &mut [i16], one: impl Fn(T) -> i16) {
    let x = rest(x, at);
    out.iter_mut().zip(x).for_each(|(out, x)| *out = one(*x));
}
