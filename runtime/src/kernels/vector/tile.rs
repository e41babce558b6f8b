//! A tile of a convolution: some pixels by some outputs.
//!
//! Weights lie in K4, as in dense layers: a vector of the weights of neighbouring outputs for the same four inputs
//! meets four inputs of several pixels, one after the other. The tile keeps its sums in registers until all inputs have
//! passed; rounding ends it ([`Ends`]).

use super::band::Lane;
use super::dense::{AHEAD, Dense};
use super::ends::{Ends, store_bytes};
use super::finish::Finish;
use super::{IS_COMPACT, Simd};
use crate::kernels::maps::Layer;
use crate::kernels::prefetch::fetch_row;
use crate::workspace::rest_mut;
use core::marker::PhantomData;

/// How an instruction set multiplies four inputs of a pixel by the weights of [`Tile::ROWS`] outputs.
pub(in crate::kernels) trait Tile: Copy {
    /// What it takes for inputs.
    type Input: Lane;
    /// Outputs in a vector of weights.
    const ROWS: usize;
    /// Vectors of weights in the widest tile: 1, 2 or 4.
    const VECTORS: usize;
    /// Vectors of sums that fit the registers, 4, 8 or 16: a tile's pixels times its vectors of weights.
    const SUMS: usize;
    /// Whether those of five or six pixels fit, too, where 4 is said.
    const SIX: bool = false;
    /// As [`Dense::FETCHES`], for single pixels.
    const FETCHES: bool = false;
    type Weights: Copy;
    type Sums: Copy;
    /// `[i32; ROWS]`.
    type Rows: AsRef<[i32]>;
    /// What rounds sums as they lie; `()` where nothing does.
    type Finish: Finish<Self, Self::Sums>;

    fn zero(self) -> Self::Sums;
    /// Sums of both.
    fn merge(self, a: Self::Sums, b: Self::Sums) -> Self::Sums;
    /// # Safety
    /// `4·ROWS` bytes can be read from `w`.
    unsafe fn load(self, w: *const i8) -> Self::Weights;
    /// # Safety
    /// `4·rows` bytes can be read from `w`; `rows` < `ROWS`, a multiple of four.
    unsafe fn load_part(self, w: *const i8, rows: usize) -> Self::Weights;
    /// Adds the products of four inputs.
    ///
    /// # Safety
    /// Four inputs can be read from `x`.
    unsafe fn mac(self, sums: Self::Sums, x: *const Self::Input, w: Self::Weights) -> Self::Sums;
    fn rows(self, sums: Self::Sums) -> Self::Rows;
    /// As [`Dense::mac_ones`] and [`Dense::ones_rows`].
    #[inline(always)]
    fn mac_ones(self, sums: Self::Sums, w: Self::Weights) -> Self::Sums {
        // SAFETY: four inputs.
        unsafe { self.mac(sums, [Self::Input::ONE; 4].as_ptr(), w) }
    }
    #[inline(always)]
    fn ones_rows(self, sums: Self::Sums) -> Self::Rows {
        self.rows(sums)
    }
}

/// The products of dense layers, on bytes of type `I`, of which all are exact. `VECTORS` of weights and
/// `SUMS`: the widest tile.
#[derive(Clone, Copy)]
pub(in crate::kernels) struct ByteTile<D, I, const VECTORS: usize, const SUMS: usize>(D, PhantomData<I>);

impl<D, I, const VECTORS: usize, const SUMS: usize> ByteTile<D, I, VECTORS, SUMS> {
    #[inline(always)]
    pub const fn new(products: D) -> Self {
        const { assert!(size_of::<I>() == 1) };
        Self(products, PhantomData)
    }
}

impl<D: Dense, I: Lane, const VECTORS: usize, const SUMS: usize> Tile for ByteTile<D, I, VECTORS, SUMS> {
    type Input = I;
    const ROWS: usize = D::ROWS;
    const VECTORS: usize = VECTORS;
    const SUMS: usize = SUMS;
    type Weights = D::Weights;
    type Sums = D::Sums;
    type Rows = D::Rows;
    type Finish = ();

    #[inline(always)]
    fn zero(self) -> D::Sums {
        self.0.zero()
    }
    #[inline(always)]
    fn merge(self, a: D::Sums, b: D::Sums) -> D::Sums {
        self.0.add(a, b)
    }
    #[inline(always)]
    unsafe fn load(self, w: *const i8) -> D::Weights {
        // SAFETY: the caller's.
        unsafe { self.0.load(w) }
    }
    #[inline(always)]
    unsafe fn load_part(self, w: *const i8, rows: usize) -> D::Weights {
        // SAFETY: the caller's.
        unsafe { self.0.load_part(w, rows) }
    }
    #[inline(always)]
    unsafe fn mac(self, sums: D::Sums, x: *const I, w: D::Weights) -> D::Sums {
        // SAFETY: the caller vouches for four bytes.
        let four = unsafe { x.cast::<[u8; 4]>().read() };
        self.0.mac(sums, u32::from_le_bytes(four), w)
    }
    #[inline(always)]
    fn rows(self, sums: D::Sums) -> D::Rows {
        self.0.rows(sums)
    }
    #[inline(always)]
    fn mac_ones(self, sums: D::Sums, w: D::Weights) -> D::Sums {
        self.0.mac_ones(sums, w)
    }
    #[inline(always)]
    fn ones_rows(self, sums: D::Sums) -> D::Rows {
        self.0.ones_rows(sums)
    }
}

/// The runs of inputs that an output is summed over, and where the next output's begin.
pub(super) struct Runs<'r> {
    /// From the first pixel's place, in elements.
    pub starts: &'r [usize],
    /// Fours in a run.
    pub groups: usize,
    /// Elements from a pixel's to the next.
    pub pitch: usize,
}

/// Some pixels, one behind the other, from the element `to` of the output on: all channels of a block.
#[inline(always)]
pub(super) fn pixels<S: Simd, T: Tile>(
    s: S,
    t: T,
    layer: &Layer<'_>,
    runs: &Runs<'_>,
    x: &[T::Input],
    (first, count): (usize, usize),
    ends: &Ends<'_>,
    out: &mut [u8],
    (to, some): (usize, usize),
) {
    // What the last four inputs of the last pixel of any run lie before.
    let reach = runs.starts.iter().fold(0, |most, start| most.max(*start)) + (some - 1) * runs.pitch + 4 * runs.groups;
    if reach > x.len() {
        debug_assert!(false, "a band that does not hold its runs");
        return;
    }
    let is_plain = ends.is_bytes && to + (some - 1) * layer.to.channels + first + count <= out.len();
    let mut row = 0;
    while row < count {
        let left = layer.stride - (first + row);
        let at = At { row: first + row, block_row: row, rows: count - row, to, channels: layer.to.channels, is_plain };
        // SAFETY: `reach` is within `x`; the weights of rows from `at.row` on, whole vectors only where so many are
        // left of the stride, are there for all groups: `Way::of` has compared.
        unsafe {
            // A single pixel leaves the sums of others to more vectors of weights: those of a group lie side by side,
            // and a line of the cache that is fetched for one of them has the next.
            let is_single = !IS_COMPACT && some == 1;
            if is_single && T::SUMS >= 8 && left >= 8 * T::ROWS && count - row > 7 * T::ROWS {
                let finishes = &finishes::<T, 8>(t, ends, &at);
                tile::<S, T, 1, 8, true>(s, t, layer, runs, x.as_ptr(), &at, 0, (ends, finishes), out);
                row += 8 * T::ROWS;
            } else if is_single && T::VECTORS < 4 && left >= 4 * T::ROWS && count - row > 3 * T::ROWS {
                let finishes = &finishes::<T, 4>(t, ends, &at);
                tile::<S, T, 1, 4, true>(s, t, layer, runs, x.as_ptr(), &at, 0, (ends, finishes), out);
                row += 4 * T::ROWS;
            } else if T::VECTORS >= 4 && left >= 4 * T::ROWS && count - row > 3 * T::ROWS {
                by_pixels::<S, T, 4, true>(s, t, layer, runs, x.as_ptr(), &at, some, ends, out);
                row += 4 * T::ROWS;
            } else if T::VECTORS >= 2 && left >= 2 * T::ROWS && count - row > T::ROWS {
                by_pixels::<S, T, 2, true>(s, t, layer, runs, x.as_ptr(), &at, some, ends, out);
                row += 2 * T::ROWS;
            } else if T::ROWS == 4 || left >= T::ROWS {
                by_pixels::<S, T, 1, true>(s, t, layer, runs, x.as_ptr(), &at, some, ends, out);
                row += T::ROWS;
            } else {
                by_pixels::<S, T, 1, false>(s, t, layer, runs, x.as_ptr(), &at, some, ends, out);
                row += T::ROWS;
            }
        }
    }
}

/// Which outputs.
struct At {
    /// The first of the layer, and of the block.
    row: usize,
    block_row: usize,
    /// How many there are from it on.
    rows: usize,
    /// The output's element that the first pixel begins with, and elements of a pixel.
    to: usize,
    channels: usize,
    /// Whether they are bytes by high words, and those of all pixels lie within the output.
    is_plain: bool,
}

/// What rounds each vector of a tile's outputs; `None` where they are not rounded as they lie.
#[inline(always)]
fn finishes<T: Tile, const VECTORS: usize>(t: T, ends: &Ends<'_>, at: &At) -> Option<[T::Finish; VECTORS]> {
    if !T::Finish::IS_THERE || !at.is_plain {
        return None;
    }
    let mut all = [T::Finish::of(t, &ends.numbers(at.block_row, T::ROWS))?; VECTORS];
    for (vector, finish) in all.iter_mut().enumerate().skip(1) {
        *finish = T::Finish::of(t, &ends.numbers(at.block_row + vector * T::ROWS, T::ROWS))?;
    }
    Some(all)
}

/// Writes the outputs of a tile from `pixel` on.
///
/// # Safety
/// With [`At::is_plain`] alone.
#[inline(always)]
unsafe fn write<T: Tile, const PIXELS: usize, const VECTORS: usize>(
    t: T,
    finishes: &[T::Finish; VECTORS],
    sums: [[T::Sums; VECTORS]; PIXELS],
    at: &At,
    pixel: usize,
    out: &mut [u8],
) {
    /// Outputs of the longest vector that is rounded so.
    const MOST_ROWS: usize = 8;
    const { assert!(!T::Finish::IS_THERE || T::ROWS <= MOST_ROWS) };
    // One by one, so that the tile's loop keeps them in registers however the one below is compiled.
    let mut vectors = [[t.zero(); PIXELS]; VECTORS];
    for (index, sums) in sums.into_iter().enumerate() {
        for (vector, sums) in vectors.iter_mut().zip(sums) {
            vector[index] = sums;
        }
    }
    for (vector, (finish, sums)) in finishes.iter().zip(vectors).enumerate() {
        let row = vector * T::ROWS;
        let (to, count) = (at.to + pixel * at.channels + at.row + row, at.rows - row);
        if count >= T::ROWS {
            // SAFETY: `At::is_plain` says that all outputs lie in `out`, and so many are left of each pixel's.
            unsafe { finish.write(t, sums, out.as_mut_ptr().wrapping_add(to), at.channels) };
            continue;
        }
        let mut bytes = [[0; MOST_ROWS]; PIXELS];
        // SAFETY: a vector's outputs are no more than a pixel's bytes here.
        unsafe { finish.write(t, sums, bytes.as_mut_ptr().cast(), MOST_ROWS) };
        for (index, bytes) in bytes.iter().enumerate() {
            let out = rest_mut(out, to + index * at.channels);
            out.iter_mut().zip(bytes).take(count).for_each(|(out, byte)| *out = *byte);
        }
    }
}

/// # Safety
/// As [`tile`], for all pixels.
#[inline(always)]
unsafe fn by_pixels<S: Simd, T: Tile, const VECTORS: usize, const WHOLE: bool>(
    s: S,
    t: T,
    layer: &Layer<'_>,
    runs: &Runs<'_>,
    x: *const T::Input,
    at: &At,
    some: usize,
    ends: &Ends<'_>,
    out: &mut [u8],
) {
    let finishes = &finishes::<T, VECTORS>(t, ends, at);
    let mut pixel = 0;
    while pixel < some {
        let left = some - pixel;
        // SAFETY: the caller's.
        pixel += unsafe {
            // Of the last seven to nine no pixel is left alone.
            if T::SUMS / VECTORS >= 16 && left >= 16 {
                tile::<S, T, 16, VECTORS, WHOLE>(s, t, layer, runs, x, at, pixel, (ends, finishes), out)
            } else if T::SUMS / VECTORS >= 8 && left >= 8 {
                tile::<S, T, 8, VECTORS, WHOLE>(s, t, layer, runs, x, at, pixel, (ends, finishes), out)
            } else if T::SIX && (left == 6 || left > 9) {
                tile::<S, T, 6, VECTORS, WHOLE>(s, t, layer, runs, x, at, pixel, (ends, finishes), out)
            } else if T::SIX && left > 4 && left != 8 {
                tile::<S, T, 5, VECTORS, WHOLE>(s, t, layer, runs, x, at, pixel, (ends, finishes), out)
            } else if left >= 4 {
                tile::<S, T, 4, VECTORS, WHOLE>(s, t, layer, runs, x, at, pixel, (ends, finishes), out)
            } else if !IS_COMPACT && left >= 2 {
                tile::<S, T, 2, VECTORS, WHOLE>(s, t, layer, runs, x, at, pixel, (ends, finishes), out)
            } else {
                tile::<S, T, 1, VECTORS, WHOLE>(s, t, layer, runs, x, at, pixel, (ends, finishes), out)
            }
        };
    }
}

/// `PIXELS` pixels from `pixel` on by `VECTORS` vectors of outputs; returns the pixels.
///
/// # Safety
/// All runs of these pixels can be read from `x`. The weights of `VECTORS·ROWS` rows from `at.row` on, or, if not
/// `WHOLE`, of those that are left of the stride, can be read for every group of the runs.
#[cfg_attr(not(target_arch = "wasm32"), inline(always))]
#[cfg_attr(target_arch = "wasm32", inline(never))]
unsafe fn tile<S: Simd, T: Tile, const PIXELS: usize, const VECTORS: usize, const WHOLE: bool>(
    s: S,
    t: T,
    layer: &Layer<'_>,
    runs: &Runs<'_>,
    x: *const T::Input,
    at: &At,
    pixel: usize,
    (ends, finishes): (&Ends<'_>, &Option<[T::Finish; VECTORS]>),
    out: &mut [u8],
) -> usize {
    let (left, step) = (layer.stride - at.row, 4 * layer.stride);
    let mut first = [t.zero(); VECTORS];
    if let Some(finishes) = finishes {
        for (first, finish) in first.iter_mut().zip(finishes) {
            *first = finish.begin(*first);
        }
    }
    let mut sums = [first; PIXELS];
    let mut place = layer.weights.as_ptr().wrapping_add(4 * at.row);
    let Some((mut start, mut starts)) = runs.starts.split_first() else { return PIXELS };
    loop {
        let mut x = x.wrapping_add(start + pixel * runs.pitch);
        for _ in 0..runs.groups {
            if T::FETCHES && PIXELS == 1 && VECTORS > 1 {
                fetch_row(place.wrapping_add(2 * AHEAD * step), 4 * VECTORS * T::ROWS);
            }
            // SAFETY: the caller vouches for the weights of this group and for four inputs of each pixel.
            unsafe {
                let mut w = [if WHOLE { t.load(place) } else { t.load_part(place, left) }; VECTORS];
                for (vector, w) in w.iter_mut().enumerate().skip(1) {
                    *w = t.load(place.wrapping_add(4 * vector * T::ROWS));
                }
                for (index, sums) in sums.iter_mut().enumerate() {
                    for (sums, w) in sums.iter_mut().zip(w) {
                        *sums = t.mac(*sums, x.wrapping_add(index * runs.pitch), w);
                    }
                }
            }
            (place, x) = (place.wrapping_add(step), x.wrapping_add(4));
        }
        let Some(next) = starts.split_first() else { break };
        (start, starts) = next;
    }
    if let Some(finishes) = finishes {
        // SAFETY: they are there only for such outputs.
        unsafe { write(t, finishes, sums, at, pixel, out) };
        return PIXELS;
    }
    if !T::Finish::IS_THERE && !IS_COMPACT && T::ROWS == S::LANES / 2 && ends.is_bytes {
        // Through memory, so that the loop above keeps them in registers however this one is compiled.
        let mut rows = [[S::Chunk32::default(); PIXELS]; VECTORS];
        for (index, sums) in sums.into_iter().enumerate() {
            for (rows, sums) in rows.iter_mut().zip(sums) {
                rows[index].as_mut().copy_from_slice(t.rows(sums).as_ref());
            }
        }
        let mut done = 0;
        for rows in &rows {
            let count = at.rows.saturating_sub(done).min(T::ROWS);
            let mut to = at.to + pixel * at.channels + at.row + done;
            let end = ends.end(s, at.block_row + done);
            for rows in rows {
                store_bytes(s, end.bytes(s, s.load32(rows)), rest_mut(out, to), count);
                to += at.channels;
            }
            done += T::ROWS;
        }
        return PIXELS;
    }
    for (index, sums) in sums.into_iter().enumerate() {
        // A vector of the end may be longer than one of sums. One length for all tiles, that of the longest: with their
        // own the portable tier takes more instructions.
        const MOST_ROWS: usize = 128;
        const { assert!(VECTORS * T::ROWS <= MOST_ROWS) };
        let mut rows = [0; MOST_ROWS];
        for (rows, sums) in rows.chunks_exact_mut(T::ROWS).zip(sums) {
            for (row, sum) in rows.iter_mut().zip(t.rows(sums).as_ref()) {
                *row = *sum;
            }
        }
        let (lanes, count) = (S::LANES / 2, at.rows.min(VECTORS * T::ROWS));
        let mut done = 0;
        for vector in S::chunks32(&rows).0 {
            if done >= count {
                break;
            }
            let to = at.to + (pixel + index) * at.channels + at.row + done;
            ends.write(s, s.load32(vector), (at.block_row + done, (count - done).min(lanes)), out, to);
            done += lanes;
        }
    }
    PIXELS
}
