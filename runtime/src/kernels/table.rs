//! What a tier is: the type of each of its functions, and the table of them.

#[cfg(short_ways)]
use super::layers::ByteLayer;
use super::maps::{Layer, Map, Sum};
#[cfg(short_ways)]
use super::moves::MoveDots;
use super::operands::{Dequantisation, Moved, RealLayer};
use super::stubs;
#[cfg(short_ways)]
use super::whole_chain::WholeChain;
use crate::features::{
    ACCUMULATORS, ADDS_MAPS, ALWAYS, CONVOLUTIONS, GENERAL, GENERAL_OR_CONVOLUTIONS, IS_SMALL, REALS,
};
use crate::name::is_same;

/// One entry of a table.
#[derive(Debug, Clone, Copy)]
pub struct Kernel<F> {
    /// The function.
    pub call: F,
    /// The tier that it comes from: the table's own name, or that of the fallback.
    pub from: TierName,
}

/// A tier's name in an entry, for reports: firmware without `messages` makes none, and there it takes no room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TierName(#[cfg(any(feature = "messages", not(target_os = "none")))] &'static str);

impl TierName {
    #[cfg_attr(all(not(feature = "messages"), target_os = "none"), expect(unused_variables, reason = "it is left out"))]
    const fn new(name: &'static str) -> Self {
        Self(
            #[cfg(any(feature = "messages", not(target_os = "none")))]
            name,
        )
    }

    /// The name; empty where it is left out.
    pub const fn name(self) -> &'static str {
        #[cfg(any(feature = "messages", not(target_os = "none")))]
        return self.0;
        #[cfg(all(not(feature = "messages"), target_os = "none"))]
        return "";
    }
}

impl<F: Copy> Kernel<F> {
    /// A tier's entry.
    pub(super) const fn new(call: F, from: &'static str) -> Self {
        Self { call, from: TierName::new(from) }
    }
}

/// `out[i] ← source[i] + Σ rows[added][i] − Σ rows[removed][i]`, wrapping; `source` `None`: what `out` holds.
/// out, source: (H,) i16 · rows: `stride` elements a row, of which the first H count · added, removed: row numbers,
/// each of which must lie within `rows`.
pub type Update<T> =
    fn(out: &mut [i16], source: Option<&[i16]>, rows: &[T], stride: usize, added: &[u32], removed: &[u32]);
/// A move in both perspectives at once, the ones that games are made of: `out[p·H + i] ← source[p·H + i] + Σ
/// rows[added][i] − Σ rows[removed][i]`, wrapping, for p = 0 and 1. out, source: (2H,) i16 · rows, stride: as in
/// [`Update`], and every row within them.
pub type UpdateBoth<T> = fn(out: &mut [i16], source: &[i16], rows: &[T], stride: usize, moved: &Moved);
/// `Σ activation(first[i])·w[i] + Σ activation(second[i])·w[H + i]` modulo 2³². first: (H,) i16 · second: (H,) or empty
/// · w: as long as both · `max`: the upper clip, 1..=32767.
pub type Dot = fn(first: &[i16], second: &[i16], w: &[i16], max: i16) -> i32;
/// The same sum in 64 bits, exact: both together have at most [`crate::format::op::WIDE_INPUTS`] elements.
pub type WideDot = fn(first: &[i16], second: &[i16], w: &[i16], max: i16) -> i64;
/// `out[i] ← (clip(x[i]) · clip(x[i + n])) >> shift`. x: (2n,) i16 · out: (n,) u8 · max² >> shift ≤ 255.
pub type PairwiseU8 = fn(x: &[i16], max: i16, shift: u32, out: &mut [u8]);
/// Accumulators to reals: `t = x[i] · inverse` after the clip, then the activation's square or product.
/// x: (n,) i16 · out: (n,) f32, or (n/2,) for pairwise.
pub type ActivateF32 = fn(x: &[i16], activation: u32, max: i16, inverse: f32, out: &mut [f32]);
/// `out[n] = bias[n] + Σ_k x[k]·w[n,k]` modulo 2³², exact for every byte that the operation takes. x: (K,) · w: one
/// bank in `K4`, `stride` rows a group · bias: (N,) or empty for zeros · out: (N,).
pub type AffineI8<T> = fn(x: &[T], w: &[i8], stride: usize, bias: &[i32], out: &mut [i32]);
/// The same on i16: `out[n] = bias[n] + Σ_k x[k]·w[n,k]` modulo 2³², for all values. x: (K,) · w: one bank in `Rows`,
/// `stride` elements a row · bias: (N,) or empty for zeros · out: (N,).
pub type AffineI16<T> = fn(x: &[i16], w: &[T], stride: usize, bias: &[i32], out: &mut [i32]);
/// `out[n] = activation(bias[n] + Σ_k x[k]·w[n,k])` in f32, product and sum rounded apart, in the order of
/// [`crate::num::reduce_f32`]. x: (K,) · w: one bank in `Rows`, `stride` elements a row, or in `Columns`, as many a
/// column · bias: (N,) or empty for none · activation: one of [`crate::num::activate`] · out: (N,).
pub type AffineF32 = fn(x: &[f32], w: &[f32], stride: usize, bias: &[f32], activation: u32, out: &mut [f32]);
/// An activation by its code. x: (n,) · out: (n,), (n/2,) for pairwise, (2n,) for dual.
pub type ActivationF32 = fn(x: &[f32], activation: u32, out: &mut [f32]);
/// `out[i] = activation(x[i] · factor)`, with `+ bias[i]` before the activation where there is a bias. x, out: (n,) ·
/// bias: (n,) or empty for none · activation: one of [`crate::num::activate`].
pub type DequantiseF32 = fn(x: &[i32], factor: f32, bias: &[f32], activation: u32, out: &mut [f32]);
/// A [`DequantiseF32`], then one [`AffineF32`] after the other, the last outputs times `scale`. sums: (n,), and each
/// layer's outputs: at most [`super::TAIL_WIDTH`] · out: the last layer's outputs.
pub type TailF32 = fn(sums: &[i32], first: &Dequantisation<'_>, layers: &[RealLayer<'_>], scale: f32, out: &mut [f32]);
/// `clamp(r + zero, low, high)` of every element, where `r` is [`crate::num::requantise`]'s without an end. All (n,);
/// where one is shorter than `out`, elements of `out` stay as they were. `low`, `high`: elements; neither less `zero`
/// leaves i32. `zero`: 0 in firmware and pages without `general`, whose kernels leave it out.
pub type Requantise<T> =
    fn(x: &[i32], multipliers: &[i32], shifts: &[u8], low: i32, high: i32, zero: i32, out: &mut [T]);
/// A convolution of bytes whose outputs see all channels, FORMAT.md 6.22: every output's sum, rounded and written.
/// layer: not transposed, weights in `K4` · x: the bytes of `layer.from`, u8 or i8 · second: a map whose elements are
/// added before the rounding, with its bytes · out: the bytes of `layer.to`.
pub type Convolve = fn(layer: &Layer<'_>, x: &[u8], second: Option<(Map, &[u8])>, out: &mut [u8]);
/// The same with a filter for every channel, of any narrow element; weights in `Rows`, a row a tap, a column a channel.
pub type Depthwise = fn(layer: &Layer<'_>, x: &[u8], second: Option<(Map, &[u8])>, out: &mut [u8]);
/// A [`Convolve`] of what [`Layer::is_single_place`] accepts, with nothing added; any other goes to the definition. x,
/// out: the bytes of both maps.
#[cfg(short_ways)]
pub type SinglePlace = fn(layer: &Layer<'_>, x: &[u8], out: &mut [u8]);
/// The sum of two maps of one shape, FORMAT.md 6.24, of any narrow elements. x, second, out: the maps and their bytes.
pub type AddMaps = fn(sum: &Sum, x: (Map, &[u8]), second: (Map, &[u8]), out: (Map, &mut [u8]));

/// [`AffineI8`] of several inputs, which share each load of the weights: `out[i][n] = bias[n] + Σ_k x[i][k]·w[n,k]`. x:
/// as many as `out`, each the bytes of (K,) u8 or i8 · out: each (N,).
#[cfg(batches)]
pub type AffineBatch = fn(x: &[&[u8]], w: &[i8], stride: usize, bias: &[i32], out: &mut [&mut [i32]]);
/// [`crate::num::store`] of real numbers as bytes, u8 or i8; whether all are finite, and if not, `out` is unspecified.
/// x: (n,) · unit: positive and finite · zero: of i16 · out: (n,).
#[cfg(batches)]
pub type StoreF32 = fn(x: &[f32], unit: f32, zero: i32, out: &mut [u8]) -> bool;

/// Dense layers one behind the other, each [`AffineI8`] and, where it rounds, [`Requantise`] behind it: true, or false
/// where an input is above 127 and must not be, or lengths do not fit; `out` is then unspecified. x: (inputs,) of the
/// first layer · out: the bytes of the last one's outputs, at a multiple of four.
#[cfg(short_ways)]
pub type Chain = fn(x: &[u8], layers: &[ByteLayer<'_>], out: &mut [u8]) -> bool;

/// The same of a [`WholeChain`].
#[cfg(short_ways)]
pub type WholeChainCall = fn(x: &[u8], chain: &WholeChain<'_>, out: &mut [u8]) -> bool;

/// A tier's calls for them. Of builds with `cfg(short_ways)`.
#[cfg(short_ways)]
#[derive(Debug, Clone, Copy)]
pub struct Chains {
    /// Any layers.
    pub any: Chain,
    /// Layers of which nothing is left over.
    pub whole: WholeChainCall,
}

/// What a batch is run with. Of builds with `cfg(batches)`.
#[cfg(batches)]
#[derive(Debug, Clone, Copy)]
pub struct BatchKernels {
    /// Dense layer on any u8 inputs.
    pub affine_u8: AffineBatch,
    /// Dense layer on i8 inputs.
    pub affine_i8: AffineBatch,
    /// Reals to inputs of u8.
    pub store_u8: StoreF32,
    /// Reals to inputs of i8.
    pub store_i8: StoreF32,
}

/// The tier that a stub is from.
const ABSENT: &str = "absent";

macro_rules! tables {
    (
        $($(#[$doc:meta])* $field:ident: $kind:ty => $is_built:expr, $stub:ident;)*
    ) => {
        /// A tier: its name, and a table with a function for every hot operation, which is the runtime's own.
        ///
        /// [`super::best`], [`super::of_target`], [`super::by_name`] and [`super::tiers`] give one,
        /// [`crate::Plan::new`] takes it.
        #[derive(Debug, Clone, Copy)]
        pub struct Tier {
            /// The tier's name, as `--tier` takes it.
            pub name: &'static str,
            /// Moves and dots in one pass.
            #[cfg(short_ways)]
            #[doc(hidden)]
            pub move_dots: MoveDots,
            /// Batches.
            #[cfg(batches)]
            #[doc(hidden)]
            pub batch: BatchKernels,
            /// Small dense layers in one call; `None` of a tier that runs layer after layer.
            #[cfg(short_ways)]
            #[doc(hidden)]
            pub chains: Option<Chains>,
            /// Convolutions of one place.
            #[cfg(short_ways)]
            #[doc(hidden)]
            pub single_place: SinglePlace,
            $($(#[$doc])* #[doc(hidden)] pub $field: Kernel<$kind>,)*
        }

        impl Tier {
            /// The table of this build: a stub where no operation of it calls the kernel. A table holds on to all its
            /// functions, so a kernel that nothing calls would cost firmware its flash, and an engine its build.
            pub(super) const fn of_build(mut self) -> Self {
                $(if !$is_built {
                    self.$field = Kernel::new(stubs::$stub, ABSENT);
                })*
                #[cfg(short_ways)]
                if !ACCUMULATORS {
                    self.move_dots = MoveDots::NONE;
                }
                #[cfg(short_ways)]
                if !CONVOLUTIONS {
                    self.single_place = stubs::single_place;
                }
                self
            }

            /// In firmware, this tier without the kernels of these names, which [`Tier::operations`] gives: so that a
            /// program does not hold those that its network does not call. Elsewhere the whole tier.
            ///
            /// The network must call none of them, or its outputs mean nothing, and a build with debug assertions
            /// panics. `host-tools codegen` knows which, and writes them into the module of a network.
            ///
            /// # Panics
            /// If a name is none of a kernel; in a constant, so that the build stops.
            ///
            /// # Examples
            /// ```
            /// use tamis_runtime::kernels::{self, Tier};
            /// static KERNELS: Tier = kernels::of_target().without(&["affine_i16", "depthwise"]);
            /// assert_eq!(KERNELS.name, kernels::of_target().name);
            /// ```
            #[must_use]
            pub const fn without(mut self, names: &[&str]) -> Self {
                let mut rest = names;
                while let [name, behind @ ..] = rest {
                    let mut is_known = false;
                    $(if is_same(name, stringify!($field)) {
                        is_known = true;
                        if IS_SMALL {
                            self.$field = Kernel::new(stubs::$stub, ABSENT);
                        }
                    })*
                    assert!(is_known, "no kernel has this name: run host-tools codegen again");
                    rest = behind;
                }
                self
            }

            /// The same kernels under the name of a tier that takes from this one what it leaves out.
            #[allow(dead_code, reason = "not every build has a tier that extends another")]
            pub(super) const fn named(mut self, name: &'static str) -> Self {
                self.name = name;
                $(self.$field.from = TierName::new(name);)*
                self
            }

            /// Every operation with the tier that its kernel comes from, in the table's order.
            pub fn operations(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
                [$((stringify!($field), self.$field.from.name()),)*].into_iter()
            }
        }
    };
}

// A kernel is called only by operations of builds where the constant of `features` behind `=>` is true; in others the
// stub of that name stands in for it.
tables! {
    /// Accumulator, rows of i16 in and out.
    update_i16: Update<i16> => ACCUMULATORS, update;
    /// Accumulator, rows of i8 in and out.
    update_i8: Update<i8> => ACCUMULATORS, update;
    /// A move in both accumulators, rows of i16.
    update_both_i16: UpdateBoth<i16> => ACCUMULATORS, update_both;
    /// A move in both accumulators, rows of i8.
    update_both_i8: UpdateBoth<i8> => ACCUMULATORS, update_both;
    /// CReLU, then dot.
    dot_crelu: Dot => ACCUMULATORS, dot;
    /// SCReLU, then dot, any weights.
    dot_screlu: Dot => ACCUMULATORS, dot;
    /// SCReLU, then dot, where `max · |w|` fits i16: the product `clip(x) · w` wraps to i16 before it meets the second
    /// `clip(x)`, so the tiers agree even on weights that break the condition.
    dot_screlu_short: Dot => ACCUMULATORS, dot;
    /// Unclipped squared ReLU, then dot.
    dot_sqrrelu: Dot => ACCUMULATORS, dot;
    /// SCReLU, then dot, with the product `clip(x) · w` rounded at 15 bits before it meets the second `clip(x)`.
    dot_screlu_rounded: Dot => ACCUMULATORS, dot;
    /// CReLU, then dot, in 64 bits.
    wide_dot_crelu: WideDot => GENERAL, wide_dot;
    /// SCReLU or squared ReLU, then dot, in 64 bits.
    wide_dot_screlu: WideDot => GENERAL, wide_dot;
    /// Products of the accumulator's halves.
    pairwise_u8: PairwiseU8 => ACCUMULATORS, pairwise_u8;
    /// The same, rounded; `shift` 1 to 15, `max << (15 − shift)` in i16.
    pairwise_u8_rounded: PairwiseU8 => ACCUMULATORS, pairwise_u8;
    /// Accumulators to reals.
    activate_f32: ActivateF32 => ACCUMULATORS && REALS, activate_f32;
    /// Dense layer on any u8 inputs.
    affine_u8: AffineI8<u8> => ALWAYS, affine_i8;
    /// Dense layer on inputs up to 127.
    affine_u7: AffineI8<u8> => ALWAYS, affine_i8;
    /// The same for weights that [`crate::format::claim::QUADS_FIT_I16`] speaks of.
    affine_u7_paired: AffineI8<u8> => ALWAYS, affine_i8;
    /// Dense layer on any u8 inputs, for such weights.
    affine_u8_paired: AffineI8<u8> => ALWAYS, affine_i8;
    /// The same as `affine_u7`, made for inputs with many groups of four zeros.
    affine_u7_sparse: AffineI8<u8> => ALWAYS, affine_i8;
    /// Dense layer on i8 inputs.
    affine_i8: AffineI8<i8> => ALWAYS, affine_i8;
    /// Dense layer on i16 inputs, weights of i16.
    affine_i16: AffineI16<i16> => GENERAL_OR_CONVOLUTIONS, affine_i16;
    /// Dense layer on i16 inputs, weights of i8.
    affine_i16_i8: AffineI16<i8> => GENERAL_OR_CONVOLUTIONS, affine_i16;
    /// Dense layer on reals.
    affine_f32: AffineF32 => REALS, affine_f32;
    /// The same on weights in `Columns`.
    affine_f32_columns: AffineF32 => REALS, affine_f32;
    /// Small layers on reals, one after the other.
    tail_f32: TailF32 => REALS && !IS_SMALL, tail_f32;
    /// Activation on reals.
    activation_f32: ActivationF32 => REALS, activation_f32;
    /// Sums to reals.
    dequantise_f32: DequantiseF32 => REALS, dequantise_f32;
    /// Requantisation to u8.
    requantise_u8: Requantise<u8> => ALWAYS, requantise;
    /// Requantisation to i8.
    requantise_i8: Requantise<i8> => ALWAYS, requantise;
    /// Requantisation to i32.
    requantise_i32: Requantise<i32> => ALWAYS, requantise;
    /// Convolution of bytes whose outputs see all channels.
    convolve: Convolve => CONVOLUTIONS, convolve;
    /// Convolution with a filter for every channel.
    depthwise: Depthwise => CONVOLUTIONS, convolve;
    /// Sum of two maps of one shape.
    add_maps: AddMaps => ADDS_MAPS, add_maps;
}

/// Every tier that there is on some machine, in the order of [`super::tiers`].
pub const ALL_NAMES: [&str; 12] = [
    "scalar",
    "wide",
    "blocked",
    "dsp",
    "mve",
    "avx2",
    "avxvnni",
    "avx512bw",
    "avx512",
    "neon",
    "neon+dotprod",
    "simd128",
];
