//! Cortex-M52, M55 and M85: Helium, vectors of 16 bytes, with the scalar DSP of [`super::dsp`] for the rest.
//!
//! | module | what |
//! |---|---|
//! | `accumulate` | update, update_both |
//! | `dense` | affine_*, eight outputs at a time |
//! | `requantise` | requantise_*, four at a time |
//! | `tile` | convolve, two places by four outputs at a time |
//! | `beside` | its end where a second map is added |
//! | `filter`, `apart` | depthwise, two by two outputs at a time, and how four channels are laid apart for it |

mod accumulate;
mod apart;
mod beside;
mod dense;
mod filter;
mod requantise;
mod tile;

use super::maps::{Layer, Map};
use super::{Kernel, Tier, blocked, dsp, micro};
use accumulate::{update, update_both};
use dense::{affine_i8, affine_u7, affine_u8_paired};
use requantise::{requantise_i8, requantise_i32, requantise_u8};

const NAME: &str = "mve";

/// The tier.
pub(super) static KERNELS: Tier = Tier {
    name: NAME,
    #[cfg(short_ways)]
    move_dots: crate::kernels::MoveDots::NONE,
    #[cfg(short_ways)]
    chains: None,
    #[cfg(batches)]
    batch: crate::kernels::scalar::BATCH,
    update_i16: Kernel::new(update::<i16>, NAME),
    update_i8: Kernel::new(update::<i8>, NAME),
    update_both_i16: Kernel::new(update_both::<i16>, NAME),
    update_both_i8: Kernel::new(update_both::<i8>, NAME),
    // Plain loops, of which the compiler makes vectors.
    dot_crelu: blocked::KERNELS.dot_crelu,
    dot_screlu: blocked::KERNELS.dot_screlu,
    dot_screlu_short: blocked::KERNELS.dot_screlu_short,
    dot_sqrrelu: blocked::KERNELS.dot_sqrrelu,
    dot_screlu_rounded: blocked::KERNELS.dot_screlu_rounded,
    affine_u7: Kernel::new(affine_u7, NAME),
    affine_u7_paired: Kernel::new(affine_u7, NAME),
    affine_u8_paired: Kernel::new(affine_u8_paired, NAME),
    affine_u7_sparse: Kernel::new(affine_u7, NAME),
    affine_i8: Kernel::new(affine_i8, NAME),
    requantise_u8: Kernel::new(requantise_u8, NAME),
    requantise_i8: Kernel::new(requantise_i8, NAME),
    requantise_i32: Kernel::new(requantise_i32, NAME),
    convolve: Kernel::new(convolve, NAME),
    depthwise: Kernel::new(filter::depthwise, NAME),
    ..dsp::KERNELS
}
.of_build();

fn convolve(layer: &Layer<'_>, x: &[u8], second: Option<(Map, &[u8])>, out: &mut [u8]) {
    micro::tile::convolve::<tile::Places>(layer, x, second, out);
}
