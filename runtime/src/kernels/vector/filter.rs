//! What filters of single channels multiply: rows of a window, one below the other, in a lane of 32 bits.
//!
//! Four bytes a lane where an instruction multiplies four bytes and adds all products ([`ByteFilter`]), two i16
//! everywhere and for maps of i16 ([`WordFilter`]). Bytes hold their zero point, and so does padding; its product with
//! the sum of the weights is taken off the bias. What i16 hold is without it.

use super::Simd;
use super::band::Lane;
use super::dense::Dense;
use crate::format::element;
use crate::kernels::maps::Map;
use crate::workspace::{rest, typed};
use core::marker::PhantomData;

/// Most rows in a lane.
pub(super) const MOST_DOWN: usize = 4;

/// How an instruction set multiplies the rows of a lane by their weights.
pub(in crate::kernels) trait Filter: Copy {
    /// Rows in a lane.
    const DOWN: usize;
    type Simd: Simd;
    /// As many lanes as a vector of i32 has.
    type Lanes: Copy;
    type Sums: Copy;

    fn simd(self) -> Self::Simd;
    /// Whether it multiplies what such a map holds.
    fn takes(map: &Map) -> bool;
    /// What an element that stands for 0 counts.
    fn excess(map: &Map) -> i32;
    /// A lane of such elements.
    fn padding(map: &Map) -> i32;
    /// Elements of a map's bytes in lanes, as many as `out` has, from those of the rows on; `None` for a row of padding
    /// and one that the window does not have.
    fn lay(map: &Map, x: &[u8], rows: &[Option<usize>; MOST_DOWN], out: &mut [i32]);
    /// Puts the weights of a lane's row `down` beside those that are there.
    fn put_weights(down: usize, taps: &[i8], out: &mut [i32]);

    fn zero(self) -> Self::Sums;
    /// # Safety
    /// A vector can be read from `lanes`.
    unsafe fn load(self, lanes: *const i32) -> Self::Lanes;
    /// Adds the products of all rows, each lane's to its own sum.
    fn mac(self, sums: Self::Sums, x: Self::Lanes, w: Self::Lanes) -> Self::Sums;
    fn sums(self, sums: Self::Sums) -> <Self::Simd as Simd>::I32;
}

/// Two i16 a lane, on every instruction set.
#[derive(Clone, Copy)]
pub(in crate::kernels) struct WordFilter<S>(S);

impl<S: Simd> WordFilter<S> {
    #[inline(always)]
    pub const fn new(s: S) -> Self {
        Self(s)
    }
}

impl<S: Simd> Filter for WordFilter<S> {
    const DOWN: usize = 2;
    type Simd = S;
    type Lanes = S::I16;
    type Sums = S::I32;

    #[inline(always)]
    fn simd(self) -> S {
        self.0
    }
    #[inline(always)]
    fn takes(_: &Map) -> bool {
        true
    }
    #[inline(always)]
    fn excess(_: &Map) -> i32 {
        0
    }
    #[inline(always)]
    fn padding(_: &Map) -> i32 {
        0
    }
    #[inline(always)]
    fn lay(map: &Map, x: &[u8], rows: &[Option<usize>; MOST_DOWN], out: &mut [i32]) {
        match map.element {
            element::U8 => pair(x, map.zero, rows, out),
            element::I8 => pair(typed::<i8>(x), map.zero, rows, out),
            _ => pair(typed::<i16>(x), map.zero, rows, out),
        }
    }
    #[inline(always)]
    fn put_weights(down: usize, taps: &[i8], out: &mut [i32]) {
        for (pair, tap) in out.iter_mut().zip(taps) {
            let tap = i32::from(*tap);
            *pair = if down == 0 { tap & 0xFFFF } else { *pair | tap << 16 };
        }
    }

    #[inline(always)]
    fn zero(self) -> S::I32 {
        self.0.zero32()
    }
    #[inline(always)]
    unsafe fn load(self, lanes: *const i32) -> S::I16 {
        // SAFETY: the caller vouches for a vector; two i16 of a lane lie as a vector of i16 wants them.
        unsafe { self.0.load(&*lanes.cast::<S::Chunk>()) }
    }
    #[inline(always)]
    fn mac(self, sums: S::I32, x: S::I16, w: S::I16) -> S::I32 {
        self.0.add_pairs(sums, x, w)
    }
    #[inline(always)]
    fn sums(self, sums: S::I32) -> S::I32 {
        sums
    }
}

/// Elements of two rows beside each other, without their zero point.
#[cfg_attr(not(target_arch = "wasm32"), inline(always))]
#[cfg_attr(target_arch = "wasm32", inline(never))]
fn pair<T: Copy + Into<i32>>(x: &[T], zero: i32, rows: &[Option<usize>; MOST_DOWN], out: &mut [i32]) {
    let [upper, lower, ..] = *rows;
    match (upper, lower) {
        (Some(upper), Some(lower)) => {
            for ((pair, a), b) in out.iter_mut().zip(rest(x, upper)).zip(rest(x, lower)) {
                *pair = ((*a).into() - zero) & 0xFFFF | ((*b).into() - zero) << 16;
            }
        }
        (Some(upper), None) => {
            for (pair, a) in out.iter_mut().zip(rest(x, upper)) {
                *pair = ((*a).into() - zero) & 0xFFFF;
            }
        }
        (None, Some(lower)) => {
            for (pair, b) in out.iter_mut().zip(rest(x, lower)) {
                *pair = ((*b).into() - zero) << 16;
            }
        }
        (None, None) => out.fill(0),
    }
}

/// Products of dense layers, each lane's inputs by its own weights.
#[allow(dead_code, reason = "not every target has dot products of bytes")]
pub(in crate::kernels) trait LaneProducts: Dense {
    /// Adds the products of four inputs a lane.
    fn mac_lanes(self, sums: Self::Sums, x: Self::Weights, w: Self::Weights) -> Self::Sums;
}

/// Four bytes a lane, of type `I`.
#[derive(Clone, Copy)]
#[allow(dead_code, reason = "not every target has dot products of bytes")]
pub(in crate::kernels) struct ByteFilter<S, D, I>(S, D, PhantomData<I>);

#[allow(dead_code, reason = "not every target has dot products of bytes")]
impl<S: Simd, D, I> ByteFilter<S, D, I> {
    #[inline(always)]
    pub const fn new(s: S, products: D) -> Self {
        const { assert!(size_of::<I>() == 1) };
        Self(s, products, PhantomData)
    }
}

impl<S: Simd, D: LaneProducts, I: Lane + Into<i32>> Filter for ByteFilter<S, D, I> {
    const DOWN: usize = MOST_DOWN;
    type Simd = S;
    type Lanes = D::Weights;
    type Sums = D::Sums;

    #[inline(always)]
    fn simd(self) -> S {
        self.0
    }
    #[inline(always)]
    fn takes(map: &Map) -> bool {
        matches!(map.element, element::U8 | element::I8)
    }
    #[inline(always)]
    fn excess(map: &Map) -> i32 {
        I::zero(map).into()
    }
    #[inline(always)]
    fn padding(map: &Map) -> i32 {
        i32::from_le_bytes([Self::excess(map) as u8; MOST_DOWN])
    }
    #[inline(always)]
    fn lay(map: &Map, x: &[u8], rows: &[Option<usize>; MOST_DOWN], out: &mut [i32]) {
        // Rows that are not there are read where another one is, and replaced.
        let Some(any) = rows.iter().flatten().next() else { return out.fill(Self::padding(map)) };
        let (mut kept, mut added) = (0u32, I::flip(map));
        let mut starts = [*any; MOST_DOWN];
        for (down, (start, row)) in starts.iter_mut().zip(rows).enumerate() {
            let byte = 0xFF << (8 * down);
            match row {
                Some(row) => (*start, kept) = (*row, kept | byte),
                None => added = added & !byte | Self::padding(map) as u32 & byte,
            }
        }
        let [a, b, c, d] = starts.map(|start| rest(x, start));
        if rows[MOST_DOWN - 1].is_none() {
            for (((lane, a), b), c) in out.iter_mut().zip(a).zip(b).zip(c) {
                let three = u32::from(*a) | u32::from(*b) << 8 | u32::from(*c) << 16;
                *lane = (three & kept ^ added) as i32;
            }
            return;
        }
        for ((((lane, a), b), c), d) in out.iter_mut().zip(a).zip(b).zip(c).zip(d) {
            let four = u32::from_le_bytes([*a, *b, *c, *d]);
            *lane = (four & kept ^ added) as i32;
        }
    }
    #[inline(always)]
    fn put_weights(down: usize, taps: &[i8], out: &mut [i32]) {
        for (lane, tap) in out.iter_mut().zip(taps) {
            *lane |= i32::from(*tap as u8) << (8 * down);
        }
    }

    #[inline(always)]
    fn zero(self) -> D::Sums {
        self.1.zero()
    }
    #[inline(always)]
    unsafe fn load(self, lanes: *const i32) -> D::Weights {
        const { assert!(D::ROWS == S::LANES / 2) };
        // SAFETY: the caller vouches for a vector of as many lanes as this has rows.
        unsafe { self.1.load(lanes.cast()) }
    }
    #[inline(always)]
    fn mac(self, sums: D::Sums, x: D::Weights, w: D::Weights) -> D::Sums {
        self.1.mac_lanes(sums, x, w)
    }
    #[inline(always)]
    fn sums(self, sums: D::Sums) -> S::I32 {
        let mut lanes = S::Chunk32::default();
        lanes.as_mut().copy_from_slice(self.1.rows(sums).as_ref());
        self.0.load32(&lanes)
    }
}
