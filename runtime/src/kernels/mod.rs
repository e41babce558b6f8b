//! Tiers: each a static table of whole-vector functions, named, listed and forcible.
//!
//! [`scalar`] is the definition and is never optimised; every other tier must give the same bits, f32 included, and
//! [`suite`] holds each of them to it. A tier without a kernel of its own for an operation lists the fallback it uses.
//! Kernels take slices and strides and know nothing of models.

pub mod scalar;
pub mod suite;
mod wide;

/// One entry of a table.
#[derive(Debug, Clone, Copy)]
pub struct Kernel<F> {
    /// The function.
    pub call: F,
    /// The tier that it comes from: the table's own name, or that of the fallback.
    pub from: &'static str,
}

/// `acc[i] ← acc[i] ± row[i]`, wrapping. acc: (H,) i16 · row: (H,) i16 or i8.
pub type AddRow<T> = fn(acc: &mut [i16], row: &[T]);
/// `out[i] ← source[i] + added[i] − removed[i]`, wrapping. All (H,) i16.
pub type MoveRow = fn(out: &mut [i16], source: &[i16], added: &[i16], removed: &[i16]);
/// `Σ activation(x[i]) · w[i]` modulo 2³². x, w: (H,) i16 · `max`: the upper clip, 1..=32767.
pub type Dot = fn(x: &[i16], w: &[i16], max: i16) -> i32;
/// `out[i] ← (clip(x[i]) · clip(x[i + n])) >> shift`. x: (2n,) i16 · out: (n,) u8 · max² >> shift ≤ 255.
pub type PairwiseU8 = fn(x: &[i16], max: i16, shift: u32, out: &mut [u8]);
/// Accumulators to reals: `t = x[i] · inverse` after the clip, then the activation's square or product.
/// x: (n,) i16 · out: (n,) f32, or (n/2,) for pairwise.
pub type ActivateF32 = fn(x: &[i16], activation: u32, max: i16, inverse: f32, out: &mut [f32]);
/// `out[n] = bias[n] + Σ_k x[k]·w[n,k]` modulo 2³². x: (K,) · w: one bank in `K4`, `stride` rows a group · bias: (N,) or empty
/// for zeros · out: (N,).
pub type AffineI8<T> = fn(x: &[T], w: &[i8], stride: usize, bias: &[i32], out: &mut [i32]);
/// `out[n] = bias[n] + Σ_k x[k]·w[n,k]` in f32, product and sum rounded apart, in the order of [`crate::num::reduce_f32`].
/// x: (K,) · w: one bank in `Rows`, `stride` elements a row · bias: (N,) or empty for none · out: (N,).
pub type AffineF32 = fn(x: &[f32], w: &[f32], stride: usize, bias: &[f32], out: &mut [f32]);
/// An activation by its code. x: (n,) · out: (n,), (n/2,) for pairwise, (2n,) for dual.
pub type ActivationF32 = fn(x: &[f32], activation: u32, out: &mut [f32]);
/// [`crate::num::requantise`] of every element. All (n,).
pub type Requantise<T> = fn(x: &[i32], multipliers: &[i32], shifts: &[u8], low: i32, high: i32, out: &mut [T]);

macro_rules! tables {
    ($($(#[$doc:meta])* $field:ident: $kind:ty,)*) => {
        /// A tier's table: one entry for every hot operation.
        #[derive(Debug, Clone, Copy)]
        pub struct Kernels {
            /// The tier's name, as `--tier` takes it.
            pub name: &'static str,
            $($(#[$doc])* pub $field: Kernel<$kind>,)*
        }

        impl Kernels {
            /// Every operation with the tier that its kernel comes from, in the table's order.
            pub fn operations(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
                [$((stringify!($field), self.$field.from),)*].into_iter()
            }
        }
    };
}

tables! {
    /// Adds a feature row of i16.
    add_i16: AddRow<i16>,
    /// Subtracts a feature row of i16.
    sub_i16: AddRow<i16>,
    /// Adds a feature row of i8.
    add_i8: AddRow<i8>,
    /// Subtracts a feature row of i8.
    sub_i8: AddRow<i8>,
    /// A move in one pass: one row in, one row out.
    move_i16: MoveRow,
    /// CReLU, then dot.
    dot_crelu: Dot,
    /// SCReLU, then dot, any weights.
    dot_screlu: Dot,
    /// SCReLU, then dot, where `max · |w|` fits i16: the product `clip(x) · w` wraps to i16 before it meets the second
    /// `clip(x)`, so the tiers agree even on weights that break the condition.
    dot_screlu_short: Dot,
    /// Unclipped squared ReLU, then dot.
    dot_sqrrelu: Dot,
    /// Products of the accumulator's halves.
    pairwise_u8: PairwiseU8,
    /// Accumulators to reals.
    activate_f32: ActivateF32,
    /// Dense layer on u8 inputs.
    affine_u8: AffineI8<u8>,
    /// Dense layer on i8 inputs.
    affine_i8: AffineI8<i8>,
    /// Dense layer on reals.
    affine_f32: AffineF32,
    /// Activation on reals.
    activation_f32: ActivationF32,
    /// Requantisation to u8.
    requantise_u8: Requantise<u8>,
    /// Requantisation to i8.
    requantise_i8: Requantise<i8>,
    /// Requantisation to i32.
    requantise_i32: Requantise<i32>,
}

/// Every tier that this build holds and this machine can run, the definition first.
pub static TIERS: [&Kernels; 2] = [&scalar::KERNELS, &wide::KERNELS];

/// The tier with this name.
///
/// ```
/// assert!(tamis_runtime::kernels::by_name("scalar").is_some());
/// assert!(tamis_runtime::kernels::by_name("abacus").is_none());
/// ```
pub fn by_name(name: &str) -> Option<&'static Kernels> {
    TIERS.into_iter().find(|tier| tier.name == name)
}

/// The fastest tier of [`TIERS`].
pub fn best() -> &'static Kernels {
    &wide::KERNELS
}
