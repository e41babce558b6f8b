//! What dense layers of bytes, and those of one place, ask of an instruction set.

/// How an instruction set multiplies four inputs by the weights of [`Dense::ROWS`] rows. Exact modulo 2³² for the bytes
/// that the implementation says.
#[cfg_attr(not(short_ways), allow(dead_code, reason = "only a place alone sums weights"))]
pub(in crate::kernels) trait Dense: Copy {
    /// Rows in a vector of weights.
    const ROWS: usize;
    /// Whether inputs above 127 are exact too.
    const ANY_U8: bool;
    /// Whether weights are asked for ahead of their use: a tile reads a part of each group, and the jumps from one part
    /// to the next hide the order of the reads from the processor, which then fetches lines when they are needed.
    const FETCHES: bool = false;
    /// `4·ROWS` weights.
    type Weights: Copy;
    /// Sums on their way.
    type Sums: Copy;
    /// `[i32; ROWS]`.
    type Rows: AsRef<[i32]>;

    /// Whether all inputs are below 128: a pass at the speed of the first cache.
    #[inline(always)]
    fn all_below_128(self, x: &[u8]) -> bool {
        let mut union = 0;
        for byte in x {
            union |= byte;
        }
        union < 128
    }
    fn zero(self) -> Self::Sums;
    /// Loads `4·ROWS` weights.
    ///
    /// # Safety
    /// As many bytes can be read from `w`.
    unsafe fn load(self, w: *const i8) -> Self::Weights;
    /// Loads the weights of `rows` < `ROWS` rows, a multiple of four, and zeros for the others.
    ///
    /// # Safety
    /// `4·rows` bytes can be read from `w`.
    unsafe fn load_part(self, w: *const i8, rows: usize) -> Self::Weights;
    /// Adds the products of four inputs, the bytes of `x` from the lowest on.
    fn mac(self, sums: Self::Sums, x: u32, w: Self::Weights) -> Self::Sums;
    /// The same for two groups.
    #[inline(always)]
    fn mac2(self, sums: Self::Sums, x: [u32; 2], w: [Self::Weights; 2]) -> Self::Sums {
        self.mac(self.mac(sums, x[0], w[0]), x[1], w[1])
    }
    fn add(self, a: Self::Sums, b: Self::Sums) -> Self::Sums;
    fn rows(self, sums: Self::Sums) -> Self::Rows;
    /// Adds the weights themselves, to sums that only [`Dense::ones_rows`] reads.
    #[inline(always)]
    fn mac_ones(self, sums: Self::Sums, w: Self::Weights) -> Self::Sums {
        self.mac(sums, 0x0101_0101, w)
    }
    #[inline(always)]
    fn ones_rows(self, sums: Self::Sums) -> Self::Rows {
        self.rows(sums)
    }

    /// Whether there is [`Dense::mac_groups`], which an implementation then must have.
    const HAS_GROUPS: bool = false;
    /// Adds the products of `ROWS / 4` groups of four rows, whose weights follow each other: each group's four inputs
    /// meet its own rows.
    ///
    /// # Safety
    /// `ROWS` bytes can be read from `x`.
    #[inline(always)]
    unsafe fn mac_groups(self, sums: Self::Sums, _x: *const u8, _w: Self::Weights) -> Self::Sums {
        sums
    }
}
