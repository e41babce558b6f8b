//! Rows of a map as a window slides over them: a few at a time, as wide as a band of output columns needs, padding
//! included, in the form in which the kernel multiplies. Memory is the stack's.

use crate::format::element;
use crate::kernels::maps::{Layer, Map};
use crate::workspace::{range, range_mut, typed};
use core::mem::MaybeUninit;

/// Memory on the stack, of which only what is used is filled; vectors of it do not lie across lines of the cache.
#[cfg_attr(not(target_arch = "wasm32"), repr(align(64)))]
pub(super) struct Scratch<T, const N: usize>([MaybeUninit<T>; N]);

impl<T: Copy, const N: usize> Scratch<T, N> {
    #[inline(always)]
    pub const fn new() -> Self {
        Self([const { MaybeUninit::uninit() }; N])
    }

    /// The first `len` elements, all `value`; at most `N`.
    #[inline(always)]
    pub fn filled(&mut self, len: usize, value: T) -> &mut [T] {
        let used = range_mut(&mut self.0, 0..len.min(N));
        for slot in used.iter_mut() {
            slot.write(value);
        }
        // SAFETY: each of them was written above, and a `MaybeUninit` lies as what it holds.
        unsafe { &mut *(core::ptr::from_mut(used) as *mut [T]) }
    }
}

/// The places of a layer and the pixels that they read; a layer of single pixels is one long row.
#[derive(Clone, Copy)]
pub(super) struct View {
    /// Height and width.
    pub from: [usize; 2],
    pub to: [usize; 2],
    pub channels: usize,
    pub kernel: [usize; 2],
    pub stride: [usize; 2],
    pub dilation: [usize; 2],
    pub before: [usize; 2],
}

impl View {
    /// `None` where there is nothing, or where the maps' bytes are fewer than their shapes say.
    #[inline(always)]
    pub fn of(layer: &Layer<'_>, x: &[u8], out: &[u8]) -> Option<Self> {
        let (from, to, geometry) = (&layer.from, &layer.to, &layer.geometry);
        let is_there = |map: &Map, bytes: &[u8]| bytes.len() >> element::shift(map.element) >= map.height * map.row();
        let [kernel, stride] = [geometry.kernel, geometry.stride];
        let some = kernel.iter().chain(&stride).all(|number| *number > 0) && from.channels > 0 && to.channels > 0;
        if !some || geometry.transposed || !is_there(from, x) || !is_there(to, out) {
            return None;
        }
        let mut view = Self {
            from: [from.height, from.width],
            to: [to.height, to.width],
            channels: from.channels,
            kernel,
            stride,
            dilation: geometry.dilation,
            before: geometry.before,
        };
        if kernel == [1, 1] && stride == [1, 1] && view.before == [0, 0] && view.from == view.to {
            (view.from, view.to) = ([1, from.height * from.width], [1, to.height * to.width]);
        }
        Some(view)
    }

    /// Rows from the first to the last that a place reads.
    #[inline(always)]
    pub const fn span(&self) -> usize {
        (self.kernel[0] - 1) * self.dilation[0] + 1
    }

    /// Columns that a band of `places` columns of the output reads.
    #[inline(always)]
    pub const fn columns(&self, places: usize) -> usize {
        (places - 1) * self.stride[1] + (self.kernel[1] - 1) * self.dilation[1] + 1
    }

    /// Columns of the output for which `slots` rows of `channels` elements a pixel fit `room` elements: 0 if none does.
    #[inline(always)]
    pub fn places(&self, slots: usize, channels: usize, room: usize) -> usize {
        let most = room / (slots * channels);
        if most < self.columns(1) { 0 } else { ((most - self.columns(1)) / self.stride[1] + 1).min(self.to[1]) }
    }

    /// Of a row of the input, for a band that begins with output column `first` and reads `columns`: how many columns
    /// of padding it begins with, the first pixel, and how many follow. None where all is padding.
    #[inline(always)]
    pub fn row(&self, padded_row: usize, first: usize, columns: usize) -> Option<(usize, usize, usize)> {
        let row = padded_row.checked_sub(self.before[0]).filter(|row| *row < self.from[0])?;
        let (padding, column, count) = self.held(first, columns)?;
        Some((padding, row * self.from[1] + column, count))
    }

    /// The same of every row, with the first column in place of the first pixel.
    #[inline(always)]
    pub fn held(&self, first: usize, columns: usize) -> Option<(usize, usize, usize)> {
        let start = first * self.stride[1];
        let padding = self.before[1].saturating_sub(start).min(columns);
        let column = start.saturating_sub(self.before[1]);
        let count = self.from[1].saturating_sub(column).min(columns - padding);
        (count > 0).then_some((padding, column, count))
    }
}

/// An element as a kernel multiplies it.
pub(in crate::kernels) trait Lane: Copy + Default + PartialEq + Into<i32> {
    #[cfg_attr(not(short_ways), allow(dead_code, reason = "only a place alone asks"))]
    const ONE: Self;
    /// What stands for 0, which is what a kernel counts too much in every element, padding included.
    fn zero(map: &Map) -> Self;
    /// What four elements of a map of bytes are exclusively or-ed with.
    fn flip(map: &Map) -> u32;
    /// Elements of a map from `start` on.
    fn read(map: &Map, x: &[u8], start: usize, out: &mut [Self]);
}

/// Bytes of which one kind is moved by 128 to be of the other; the zero point stays in.
macro_rules! bytes {
    ($(#[$doc:meta])* $byte:ty, moves $moved:expr) => {
        $(#[$doc])*
        impl Lane for $byte {
            const ONE: Self = 1;
            #[inline(always)]
            fn zero(map: &Map) -> Self {
                (if map.element == $moved { map.zero ^ 0x80 } else { map.zero }) as $byte
            }
            #[inline(always)]
            fn flip(map: &Map) -> u32 {
                if map.element == $moved { 0x8080_8080 } else { 0 }
            }
            #[inline(always)]
            fn read(map: &Map, x: &[u8], start: usize, out: &mut [Self]) {
                let x = range(x, start..start + out.len());
                let flip = Self::flip(map) as u8;
                for (out, x) in out.iter_mut().zip(x) {
                    *out = (x ^ flip) as $byte;
                }
            }
        }
    };
}
bytes!(
    /// Signed ones are moved up.
    u8, moves element::I8
);
bytes!(
    /// Unsigned ones are moved down.
    i8, moves element::U8
);

/// Without the zero point.
impl Lane for i16 {
    const ONE: Self = 1;
    #[inline(always)]
    fn zero(_: &Map) -> Self {
        0
    }
    #[inline(always)]
    fn flip(_: &Map) -> u32 {
        0
    }
    #[inline(always)]
    fn read(map: &Map, x: &[u8], start: usize, out: &mut [Self]) {
        let end = start + out.len();
        match map.element {
            element::U8 => each(range(x, start..end), map.zero, out),
            element::I8 => each(range(typed::<i8>(x), start..end), map.zero, out),
            _ => each(range(typed::<i16>(x), start..end), map.zero, out),
        }
    }
}

#[inline(always)]
fn each<T: Copy + Into<i16>>(x: &[T], zero: i32, out: &mut [i16]) {
    let zero = zero as i16;
    for (out, x) in out.iter_mut().zip(x) {
        *out = (*x).into().wrapping_sub(zero);
    }
}
