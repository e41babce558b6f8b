//! Tiers: the kernels of an instruction set each, named, listed and forcible.
//!
//! A program takes [`best`] and firmware [`of_target`]; [`tiers`] lists what this machine can run, [`by_name`] forces
//! one of them. The choice makes no difference but in time: [`scalar`] is the definition and is never optimised, and
//! every other tier gives the same bits, f32 included; a suite holds each of them to it. Kernels take slices, strides
//! and numbers and know nothing of models. A tier without a kernel of its own for an operation lists the fallback that
//! it uses.
//!
//! The fast tiers share their algorithms: `vector` holds each loop once, over a vocabulary (load, add, multiply
//! neighbours …) that one file an instruction set provides; `micro` does the same for microcontrollers, whose tiers are
//! `blocked`, `dsp` and `mve`. A tier's table comes out of [`tiers`] only where the machine can run it, which is what
//! makes its functions safe to call.

#![allow(
    clippy::too_many_arguments,
    reason = "a kernel takes slices, strides and parameters side by side: a struct for each would hide its contract"
)]
#![allow(unsafe_code, reason = "intrinsics, loads, stores, and the guarded call of an entry; each with its argument")]

#[cfg(any(test, microcontroller))]
mod blocked;
mod detect;
#[cfg(cortex_m = "dsp")]
mod dsp;
#[cfg(short_ways)]
pub(crate) mod layers;
pub(crate) mod maps;
#[cfg(any(test, microcontroller))]
mod micro;
#[cfg(short_ways)]
pub(crate) mod moves;
#[cfg(cortex_m = "mve")]
mod mve;
pub(crate) mod operands;
pub(crate) mod prefetch;
pub mod scalar;
mod stubs;
pub(crate) mod suite;
pub(crate) mod table;
#[cfg_attr(
    any(microcontroller, not(feature = "avx512"), not(feature = "avxvnni")),
    allow(dead_code, unused_imports, unused_macros, reason = "not every build has tiers that call all of it")
)]
mod vector;
#[cfg(short_ways)]
pub(crate) mod whole_chain;
#[cfg(feature = "wide")]
mod wide;

// Targets with soft floats, as kernels of operating systems use, have the processor but not the vectors.
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
mod avx2;
#[cfg(all(feature = "avx512", target_arch = "x86_64", target_feature = "sse2"))]
mod avx512;
#[cfg(all(feature = "avxvnni", target_arch = "x86_64", target_feature = "sse2"))]
mod avxvnni;
#[cfg(all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"))]
mod neon;
#[cfg(rv32im)]
mod rv32;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
mod simd128;
#[cfg(cortex_m = "thumb1")]
mod thumb1;

pub(crate) use operands::{Dequantisation, Moved, RealLayer, TAIL_WIDTH};
pub(crate) use prefetch::prefetch;
#[cfg(batches)]
pub(crate) use table::BatchKernels;
pub use table::Tier;
pub(crate) use table::{AffineI8, Dot, Kernel, PairwiseU8, WideDot};
#[cfg(short_ways)]
pub(crate) use {
    moves::{MoveDot, MoveDots, MoveRows, NARROW, NARROW_MAX, NarrowMoveDots, NarrowPair},
    table::{Chains, Convolve},
};

/// A tier of this build, and whether this machine can run it.
struct Candidate {
    table: &'static Tier,
    is_available: fn() -> bool,
}

/// Slowest first, the definition at the head; the last that the machine can run is the one that [`best`] takes.
static CANDIDATES: &[Candidate] = &[
    Candidate { table: &scalar::KERNELS, is_available: always },
    #[cfg(feature = "wide")]
    Candidate { table: &wide::KERNELS, is_available: always },
    #[cfg(any(test, microcontroller))]
    Candidate { table: &blocked::KERNELS, is_available: always },
    #[cfg(cortex_m = "dsp")]
    Candidate { table: &dsp::KERNELS, is_available: always },
    #[cfg(cortex_m = "mve")]
    Candidate { table: &mve::KERNELS, is_available: always },
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    Candidate { table: &avx2::KERNELS, is_available: detect::avx2 },
    #[cfg(all(feature = "avxvnni", target_arch = "x86_64", target_feature = "sse2"))]
    Candidate { table: &avxvnni::KERNELS, is_available: detect::avxvnni },
    #[cfg(all(feature = "avx512", target_arch = "x86_64", target_feature = "sse2"))]
    Candidate { table: &avx512::BW, is_available: detect::avx512bw },
    #[cfg(all(feature = "avx512", target_arch = "x86_64", target_feature = "sse2"))]
    Candidate { table: &avx512::VNNI, is_available: detect::avx512vnni },
    #[cfg(all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"))]
    Candidate { table: &neon::KERNELS, is_available: always },
    #[cfg(all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"))]
    Candidate { table: &neon::DOTPROD, is_available: detect::dotprod },
    #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
    Candidate { table: &simd128::KERNELS, is_available: always },
];

const fn always() -> bool {
    true
}

/// Every tier that this build holds and this machine can run, the definition first, the fastest last.
///
/// ```
/// let names: Vec<&str> = tamis_runtime::kernels::tiers().map(|tier| tier.name).collect();
/// assert_eq!(names[0], "scalar");
/// ```
pub fn tiers() -> impl DoubleEndedIterator<Item = &'static Tier> {
    CANDIDATES.iter().filter(|candidate| (candidate.is_available)()).map(|candidate| candidate.table)
}

/// The tier with this name, if this machine can run it.
///
/// ```
/// assert!(tamis_runtime::kernels::by_name("scalar").is_some());
/// assert!(tamis_runtime::kernels::by_name("abacus").is_none());
/// ```
pub fn by_name(name: &str) -> Option<&'static Tier> {
    tiers().find(|tier| tier.name == name)
}

/// The fastest tier that this machine can run. What the build's target features promise is not asked of the machine;
/// the rest is asked once.
#[inline]
pub fn best() -> &'static Tier {
    tiers().next_back().unwrap_or(&scalar::KERNELS)
}

/// On microcontrollers and in WebAssembly the fastest tier that the build's target names, chosen when it is compiled:
/// what firmware and pages take, because nothing of the other tiers is linked then. Everywhere else the portable one,
/// `wide`, or, in a build without it, `scalar`; see [`best`].
///
/// ```
/// use tamis_runtime::kernels;
/// assert!(kernels::by_name(kernels::of_target().name).is_some());
/// ```
pub const fn of_target() -> &'static Tier {
    OF_TARGET
}

/// Nothing is asked of a microcontroller, nor by a module of WebAssembly, so the last candidate is the fastest.
#[cfg(any(microcontroller, target_arch = "wasm32"))]
const OF_TARGET: &Tier = CANDIDATES[CANDIDATES.len() - 1].table;
#[cfg(not(any(microcontroller, target_arch = "wasm32")))]
const OF_TARGET: &Tier = CANDIDATES[if cfg!(feature = "wide") { 1 } else { 0 }].table;
