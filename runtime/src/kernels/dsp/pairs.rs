//! Two i16 in a word: the lanes of an accumulator and the terms of a dot product.
//!
//! SADD16 and SSUB16 add and subtract halves without a carry between them. SSUB16 also leaves, for each half, whether
//! the difference is negative, and SEL picks by that: so a word is clipped from both sides by four instructions.

use crate::kernels::micro::accumulate::Lanes;
use crate::kernels::micro::dot::{Product, Terms};
use core::arch::asm;

/// Half of what a product is rounded at.
const ROUND: i32 = 1 << 14;

/// Two elements, the first in the low half.
#[derive(Clone, Copy)]
pub(super) struct Pair(u32);

impl Lanes<i16> for Pair {
    const LEN: usize = 2;

    #[inline(always)]
    unsafe fn load(x: *const i16) -> Self {
        // SAFETY: the caller vouches for two elements.
        Self(unsafe { x.cast::<u32>().read_unaligned() })
    }
    #[inline(always)]
    unsafe fn load_row(x: *const i16) -> Self {
        // SAFETY: the caller vouches for two elements.
        Self(unsafe { x.cast::<u32>().read_unaligned() })
    }
    #[inline(always)]
    unsafe fn store(self, out: *mut i16) {
        // SAFETY: the caller vouches for two elements.
        unsafe { out.cast::<u32>().write_unaligned(self.0) }
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        let sum;
        // SAFETY: an instruction on registers, which every processor that this is built for has.
        unsafe {
            asm!("sadd16 {}, {}, {}", out(reg) sum, in(reg) self.0, in(reg) other.0, options(pure, nomem, nostack))
        };
        Self(sum)
    }
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        let sum;
        // SAFETY: as above.
        unsafe {
            asm!("ssub16 {}, {}, {}", out(reg) sum, in(reg) self.0, in(reg) other.0, options(pure, nomem, nostack))
        };
        Self(sum)
    }
}

/// The upper clip, in both halves.
#[derive(Clone, Copy)]
pub(super) struct Clip(u32);

impl Clip {
    #[inline(always)]
    pub fn new(max: i16) -> Self {
        Self(u32::from(max as u16) * 0x1_0001)
    }

    /// `clamp(x, 0, max)` of both halves.
    #[inline(always)]
    fn clip(self, x: u32) -> u32 {
        let clipped;
        // SAFETY: instructions on registers, which every processor that this is built for has; SEL reads what SSUB16,
        // next to it, has left.
        unsafe {
            asm!(
                "ssub16 {t}, {x}, {max}",
                "sel {x}, {max}, {x}",
                "ssub16 {t}, {x}, {zero}",
                "sel {x}, {x}, {zero}",
                x = inout(reg) x => clipped, max = in(reg) self.0, zero = in(reg) 0, t = out(reg) _,
                options(pure, nomem, nostack)
            );
        }
        clipped
    }
}

impl Terms for Clip {
    #[inline(always)]
    unsafe fn two(self, product: Product, x: *const i16, w: *const i16, sum: i32) -> i32 {
        // SAFETY: the caller vouches for two elements of each.
        let (x, w) = unsafe { (x.cast::<u32>().read_unaligned(), w.cast::<u32>().read_unaligned()) };
        let x = self.clip(x);
        let (low, high) = (i32::from(x as i16), i32::from((x >> 16) as i16));
        let (w_low, w_high) = (i32::from(w as i16), i32::from((w >> 16) as i16));
        match product {
            Product::Crelu => add_products(sum, x, w),
            Product::Screlu => {
                sum.wrapping_add((low * low).wrapping_mul(w_low)).wrapping_add((high * high).wrapping_mul(w_high))
            }
            Product::ScreluShort => {
                let products = (low * w_low) as u32 & 0xFFFF | ((high * w_high) as u32) << 16;
                add_products(sum, x, products)
            }
            // Shifted up by one more, the rounded product is the high half of its word.
            Product::ScreluRounded => {
                let (low, high) = ((low * w_low + ROUND) << 1, (high * w_high + ROUND) << 1);
                add_products(sum, x, low as u32 >> 16 | high as u32 & 0xFFFF_0000)
            }
        }
    }
}

/// `sum` and both products of halves, modulo 2³².
#[inline(always)]
fn add_products(sum: i32, x: u32, w: u32) -> i32 {
    let out;
    // SAFETY: an instruction on registers, which every processor that this is built for has.
    unsafe {
        asm!("smlad {}, {}, {}, {}", out(reg) out, in(reg) x, in(reg) w, in(reg) sum, options(pure, nomem, nostack));
    }
    out
}
