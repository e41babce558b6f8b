//! Byte products: with inputs up to 127, eight i8 are multiplied by eight i8 into i16, the products of two groups are
//! added there, since 2 · 127 · 128 < 2¹⁵, and neighbours are added into i32 ([`Bytes`]). All other bytes are widened
//! to i16, and one instruction multiplies and adds neighbours ([`Words`]). An engine on x86-64 takes about as long for
//! the one as for the other; one on AArch64 has half as many instructions for the first.

use super::store_128;
use crate::kernels::vector::Dense;
use crate::kernels::vector::tile::Tile;
use core::arch::wasm32::*;

/// What all byte products have alike.
macro_rules! two_sums_a_row {
    () => {
        const ROWS: usize = 4;
        type Weights = v128;
        /// Rows 0 and 1 and rows 2 and 3, two i32 each.
        type Sums = [v128; 2];
        type Rows = [i32; 4];

        #[inline(always)]
        fn zero(self) -> Self::Sums {
            [i32x4_splat(0); 2]
        }
        #[inline(always)]
        unsafe fn load(self, w: *const i8) -> v128 {
            // SAFETY: the caller vouches for 16 bytes.
            unsafe { v128_load(w.cast()) }
        }
        /// The multiple of four below four is no row.
        #[inline(always)]
        unsafe fn load_part(self, _: *const i8, _: usize) -> v128 {
            i8x16_splat(0)
        }
        #[inline(always)]
        fn add(self, a: Self::Sums, b: Self::Sums) -> Self::Sums {
            [i32x4_add(a[0], b[0]), i32x4_add(a[1], b[1])]
        }
        #[inline(always)]
        fn rows(self, [low, high]: Self::Sums) -> [i32; 4] {
            let mut rows = [0; 4];
            let sums = i32x4_add(i32x4_shuffle::<0, 2, 4, 6>(low, high), i32x4_shuffle::<1, 3, 5, 7>(low, high));
            store_128(&mut rows, sums);
            rows
        }
    };
}

/// u8 up to 127 by i8.
#[derive(Clone, Copy)]
pub(super) struct Bytes(());

impl Bytes {
    pub(super) const fn new() -> Self {
        Self(())
    }
}

impl Dense for Bytes {
    const ANY_U8: bool = false;
    two_sums_a_row!();

    #[inline(always)]
    fn mac(self, sums: Self::Sums, x: u32, w: v128) -> Self::Sums {
        let x = u32x4_splat(x);
        let (low, high) = (i16x8_extmul_low_i8x16(x, w), i16x8_extmul_high_i8x16(x, w));
        self.add(sums, [i32x4_extadd_pairwise_i16x8(low), i32x4_extadd_pairwise_i16x8(high)])
    }
    #[inline(always)]
    fn mac2(self, sums: Self::Sums, x: [u32; 2], w: [v128; 2]) -> Self::Sums {
        let x = x.map(|x| u32x4_splat(x));
        let low = i16x8_add(i16x8_extmul_low_i8x16(x[0], w[0]), i16x8_extmul_low_i8x16(x[1], w[1]));
        let high = i16x8_add(i16x8_extmul_high_i8x16(x[0], w[0]), i16x8_extmul_high_i8x16(x[1], w[1]));
        self.add(sums, [i32x4_extadd_pairwise_i16x8(low), i32x4_extadd_pairwise_i16x8(high)])
    }
}

/// Any byte by i8. Whether inputs have a sign is a value, so that a module has the loops once for both.
#[derive(Clone, Copy)]
pub(super) struct Words {
    /// 128, which moves inputs with a sign up, as bytes, and down again, as i16; else 0.
    up: v128,
    down: v128,
}

/// Makes [`Words`] for inputs without a sign.
pub(super) struct Unsigned;

/// Makes [`Words`] for inputs with one.
pub(super) struct Signed;

#[allow(clippy::new_ret_no_self, reason = "two roles of one type")]
impl Unsigned {
    pub(super) fn new() -> Words {
        Words { up: i8x16_splat(0), down: i16x8_splat(0) }
    }
}

#[allow(clippy::new_ret_no_self, reason = "two roles of one type")]
impl Signed {
    pub(super) fn new() -> Words {
        Words { up: i8x16_splat(i8::MIN), down: i16x8_splat(128) }
    }
}

impl Dense for Words {
    const ANY_U8: bool = true;
    two_sums_a_row!();

    #[inline(always)]
    fn mac(self, sums: Self::Sums, x: u32, w: v128) -> Self::Sums {
        let x = u16x8_extend_low_u8x16(v128_xor(u32x4_splat(x), self.up));
        let x = i16x8_sub(x, self.down);
        let (low, high) = (i16x8_extend_low_i8x16(w), i16x8_extend_high_i8x16(w));
        self.add(sums, [i32x4_dot_i16x8(x, low), i32x4_dot_i16x8(x, high)])
    }
}

/// The tile of convolutions: inputs are i16 without their zero point, weights are widened once for all pixels.
impl Tile for Words {
    type Input = i16;
    const ROWS: usize = 4;
    const VECTORS: usize = 1;
    const SUMS: usize = 4;
    /// Of rows 0 and 1 and rows 2 and 3, four i16 each.
    type Weights = [v128; 2];
    /// Two i32 each.
    type Sums = [v128; 2];
    type Rows = [i32; 4];
    type Finish = ();

    #[inline(always)]
    fn zero(self) -> Self::Sums {
        Dense::zero(self)
    }
    #[inline(always)]
    fn merge(self, a: Self::Sums, b: Self::Sums) -> Self::Sums {
        self.add(a, b)
    }
    #[inline(always)]
    unsafe fn load(self, w: *const i8) -> Self::Weights {
        // SAFETY: the caller vouches for 16 bytes.
        let w = unsafe { v128_load(w.cast()) };
        [i16x8_extend_low_i8x16(w), i16x8_extend_high_i8x16(w)]
    }
    /// The multiple of four below four is no row.
    #[inline(always)]
    unsafe fn load_part(self, _: *const i8, _: usize) -> Self::Weights {
        Dense::zero(self)
    }
    #[inline(always)]
    unsafe fn mac(self, sums: Self::Sums, x: *const i16, w: Self::Weights) -> Self::Sums {
        // SAFETY: the caller vouches for four i16.
        let x = unsafe { v128_load64_splat(x.cast()) };
        self.add(sums, [i32x4_dot_i16x8(x, w[0]), i32x4_dot_i16x8(x, w[1])])
    }
    #[inline(always)]
    fn rows(self, sums: Self::Sums) -> [i32; 4] {
        Dense::rows(self, sums)
    }
}
