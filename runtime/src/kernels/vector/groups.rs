//! The kernels of a tier in groups, each a macro that makes a module: entries of the table, and `over`, which puts
//! them over another tier's. What they take is said at [`super::tier`].

/// What adds, compares and shifts: moves, pairwise products, requantisation, sums of maps.
macro_rules! vectors {
    (#[$features:meta], simd $simd:ty) => {
        mod vectors {
            use super::*;
            use crate::kernels::maps::{Map, Sum};
            use crate::kernels::vector::{accumulate, pairwise, requantise, sum};
            use crate::kernels::Moved;
            use bytemuck::cast_slice_mut;

            entry!($features, update_i16(
                out: &mut [i16], source: Option<&[i16]>, rows: &[i16], stride: usize, added: &[u32], removed: &[u32]
            ), accumulate::update(<$simd>::new(), out, source, rows, stride, added, removed));
            entry!($features, update_i8(
                out: &mut [i16], source: Option<&[i16]>, rows: &[i8], stride: usize, added: &[u32], removed: &[u32]
            ), accumulate::update(<$simd>::new(), out, source, rows, stride, added, removed));
            entry!($features, update_both_i16(
                out: &mut [i16], source: &[i16], rows: &[i16], stride: usize, moved: &Moved
            ), accumulate::update_both(<$simd>::new(), out, source, rows, stride, moved));
            entry!($features, update_both_i8(
                out: &mut [i16], source: &[i16], rows: &[i8], stride: usize, moved: &Moved
            ), accumulate::update_both(<$simd>::new(), out, source, rows, stride, moved));
            entry!($features, pairwise_u8(x: &[i16], max: i16, shift: u32, out: &mut [u8]),
                pairwise::pairwise(<$simd>::new(), x, max, shift, out));
            entry!($features, pairwise_u8_rounded(x: &[i16], max: i16, shift: u32, out: &mut [u8]),
                pairwise::rounded(<$simd>::new(), x, max, shift, out));
            entry!($features, requantise_u8(
                x: &[i32], multipliers: &[i32], shifts: &[u8], low: i32, high: i32, zero: i32, out: &mut [u8]
            ), requantise::requantise(<$simd>::new(), x, multipliers, shifts, low, high, zero, out));
            entry!($features, requantise_i8(
                x: &[i32], multipliers: &[i32], shifts: &[u8], low: i32, high: i32, zero: i32, out: &mut [i8]
            ), requantise::requantise(
                <$simd>::new(), x, multipliers, shifts, low, high, zero, cast_slice_mut::<i8, u8>(out)
            ));
            entry!($features, requantise_i32(
                x: &[i32], multipliers: &[i32], shifts: &[u8], low: i32, high: i32, zero: i32, out: &mut [i32]
            ), requantise::requantise(<$simd>::new(), x, multipliers, shifts, low, high, zero, out));
            entry!($features, add_maps(
                how: &Sum, x: (Map, &[u8]), second: (Map, &[u8]), out: (Map, &mut [u8])
            ), sum::add(<$simd>::new(), how, x, second, out));

            pub(super) const fn over(tier: Tier) -> Tier {
                Tier {
                    update_i16: Kernel::new(update_i16, NAME),
                    update_i8: Kernel::new(update_i8, NAME),
                    update_both_i16: Kernel::new(update_both_i16, NAME),
                    update_both_i8: Kernel::new(update_both_i8, NAME),
                    pairwise_u8: Kernel::new(pairwise_u8, NAME),
                    pairwise_u8_rounded: Kernel::new(pairwise_u8_rounded, NAME),
                    requantise_u8: Kernel::new(requantise_u8, NAME),
                    requantise_i8: Kernel::new(requantise_i8, NAME),
                    requantise_i32: Kernel::new(requantise_i32, NAME),
                    add_maps: Kernel::new(add_maps, NAME),
                    ..tier
                }
            }
        }
    };
}

/// Layers and activations of f32.
macro_rules! reals {
    (#[$features:meta], reals $reals:ty, columns $columns:ty) => {
        mod reals {
            use super::*;
            use crate::kernels::vector::{columns, real, tail};
            use crate::kernels::{Dequantisation, RealLayer};

            entry!($features, activate_f32(x: &[i16], code: u32, max: i16, inverse: f32, out: &mut [f32]),
                real::activate(<$reals>::new(), x, code, max, inverse, out));
            entry!($features, affine_f32(
                x: &[f32], w: &[f32], stride: usize, bias: &[f32], code: u32, out: &mut [f32]
            ), real::affine(<$reals>::new(), x, w, stride, bias, code, out));
            entry!($features, affine_f32_columns(
                x: &[f32], w: &[f32], stride: usize, bias: &[f32], code: u32, out: &mut [f32]
            ), columns::affine(<$columns>::new(), <$reals>::new(), x, w, stride, bias, code, out));
            entry!($features, tail_f32(
                sums: &[i32], first: &Dequantisation<'_>, layers: &[RealLayer<'_>], scale: f32, out: &mut [f32]
            ), tail::tail(<$reals>::new(), <$columns>::new(), sums, first, layers, scale, out));
            entry!($features, activation_f32(x: &[f32], code: u32, out: &mut [f32]),
                real::activation(<$reals>::new(), x, code, out));
            entry!($features, dequantise_f32(x: &[i32], factor: f32, bias: &[f32], code: u32, out: &mut [f32]),
                real::dequantise(<$reals>::new(), x, factor, bias, code, out));

            pub(super) const fn over(tier: Tier) -> Tier {
                Tier {
                    activate_f32: Kernel::new(activate_f32, NAME),
                    affine_f32: Kernel::new(affine_f32, NAME),
                    affine_f32_columns: Kernel::new(affine_f32_columns, NAME),
                    tail_f32: Kernel::new(tail_f32, NAME),
                    activation_f32: Kernel::new(activation_f32, NAME),
                    dequantise_f32: Kernel::new(dequantise_f32, NAME),
                    ..tier
                }
            }
        }
    };
}

/// What adds products of words: dots, alone and over a move, and dense layers on i16.
macro_rules! dots {
    (#[$features:meta], simd $simd:ty) => {
        mod dots {
            use super::*;
            use crate::kernels::vector::{dense16, dot, wide_dot};

            /// Moves and the dots over them.
            #[cfg(short_ways)]
            mod moves {
                use super::*;
                use crate::kernels::{MoveRows, Moved, NarrowPair, vector::move_dot};

                entry!($features, crelu(
                    out: &mut [i16], source: &[i16], rows: &MoveRows<'_>, moved: &Moved, w: &[i16], first: usize,
                    max: i16
                ) -> Option<i32>, move_dot::crelu(<$simd>::new(), out, source, rows, moved, w, first, max));
                entry!($features, screlu(
                    out: &mut [i16], source: &[i16], rows: &MoveRows<'_>, moved: &Moved, w: &[i16], first: usize,
                    max: i16
                ) -> Option<i32>, move_dot::screlu(<$simd>::new(), out, source, rows, moved, w, first, max));
                entry!($features, screlu_short(
                    out: &mut [i16], source: &[i16], rows: &MoveRows<'_>, moved: &Moved, w: &[i16], first: usize,
                    max: i16
                ) -> Option<i32>, move_dot::screlu_short(<$simd>::new(), out, source, rows, moved, w, first, max));
                entry!($features, narrow_quiet(
                    out: &mut NarrowPair, source: &NarrowPair, rows: &MoveRows<'_>, changes: &[[u32; 2]; 2],
                    w: &NarrowPair, first: usize
                ) -> Option<i32>, move_dot::narrow(<$simd>::new(), out, source, rows, changes, w, first));
                entry!($features, narrow_capture(
                    out: &mut NarrowPair, source: &NarrowPair, rows: &MoveRows<'_>, changes: &[[u32; 3]; 2],
                    w: &NarrowPair, first: usize
                ) -> Option<i32>, move_dot::narrow(<$simd>::new(), out, source, rows, changes, w, first));
                entry!($features, screlu_rounded(
                    out: &mut [i16], source: &[i16], rows: &MoveRows<'_>, moved: &Moved, w: &[i16], first: usize,
                    max: i16
                ) -> Option<i32>, move_dot::screlu_rounded(<$simd>::new(), out, source, rows, moved, w, first, max));
            }

            entry!($features, dot_crelu(first: &[i16], second: &[i16], w: &[i16], max: i16) -> i32,
                dot::crelu(<$simd>::new(), first, second, w, max));
            entry!($features, dot_screlu(first: &[i16], second: &[i16], w: &[i16], max: i16) -> i32,
                dot::screlu(<$simd>::new(), first, second, w, max));
            entry!($features, dot_screlu_short(first: &[i16], second: &[i16], w: &[i16], max: i16) -> i32,
                dot::screlu_short(<$simd>::new(), first, second, w, max, dot_screlu_short_others));
            entry!($features, #[cfg_attr(target_arch = "x86_64", inline(never))]
                dot_screlu_short_others(first: &[i16], second: &[i16], w: &[i16], max: i16) -> i32,
                dot::screlu_short_others(<$simd>::new(), first, second, w, max));
            entry!($features, dot_screlu_rounded(first: &[i16], second: &[i16], w: &[i16], max: i16) -> i32,
                dot::screlu_rounded(<$simd>::new(), first, second, w, max));
            entry!($features, wide_dot_crelu(first: &[i16], second: &[i16], w: &[i16], max: i16) -> i64,
                wide_dot::crelu(<$simd>::new(), first, second, w, max));
            entry!($features, wide_dot_screlu(first: &[i16], second: &[i16], w: &[i16], max: i16) -> i64,
                wide_dot::screlu(<$simd>::new(), first, second, w, max));
            entry!($features, affine_i16(x: &[i16], w: &[i16], stride: usize, bias: &[i32], out: &mut [i32]),
                dense16::affine(<$simd>::new(), x, w, stride, bias, out));
            entry!($features, affine_i16_i8(x: &[i16], w: &[i8], stride: usize, bias: &[i32], out: &mut [i32]),
                dense16::affine(<$simd>::new(), x, w, stride, bias, out));

            pub(super) const fn over(tier: Tier) -> Tier {
                Tier {
                    #[cfg(short_ways)]
                    move_dots: crate::kernels::MoveDots {
                        crelu: moves::crelu,
                        screlu: moves::screlu,
                        screlu_short: moves::screlu_short,
                        screlu_rounded: moves::screlu_rounded,
                        narrow: Some(crate::kernels::NarrowMoveDots {
                            quiet: moves::narrow_quiet,
                            capture: moves::narrow_capture,
                        }),
                    },
                    dot_crelu: Kernel::new(dot_crelu, NAME),
                    dot_screlu: Kernel::new(dot_screlu, NAME),
                    dot_screlu_short: Kernel::new(dot_screlu_short, NAME),
                    dot_sqrrelu: Kernel::new(dot_screlu, NAME),
                    dot_screlu_rounded: Kernel::new(dot_screlu_rounded, NAME),
                    wide_dot_crelu: Kernel::new(wide_dot_crelu, NAME),
                    wide_dot_screlu: Kernel::new(wide_dot_screlu, NAME),
                    affine_i16: Kernel::new(affine_i16, NAME),
                    affine_i16_i8: Kernel::new(affine_i16_i8, NAME),
                    ..tier
                }
            }
        }
    };
}

/// Dense layers on bytes that are below 128 or mostly are. Other inputs are for `$any`, whose products `$u8` has.
macro_rules! narrow_bytes {
    (#[$features:meta], simd $simd:ty, u7 $u7:ty, paired $paired:ty, u8 $u8:ty, any $any:path) => {
        mod narrow_bytes {
            use super::*;
            use crate::kernels::vector::{dense, sparse};

            entry!($features, affine_u8(x: &[u8], w: &[i8], stride: usize, bias: &[i32], out: &mut [i32]),
                dense::affine_u8((<$u7>::new(), <$u8>::new()), [affine_u7, $any], x, w, stride, bias, out));
            entry!($features, affine_u7(x: &[u8], w: &[i8], stride: usize, bias: &[i32], out: &mut [i32]),
                dense::affine(<$u7>::new(), x, w, stride, bias, out));
            entry!($features, affine_u7_paired(x: &[u8], w: &[i8], stride: usize, bias: &[i32], out: &mut [i32]),
                dense::affine(<$paired>::new(), x, w, stride, bias, out));
            entry!($features, affine_u8_paired(x: &[u8], w: &[i8], stride: usize, bias: &[i32], out: &mut [i32]),
                dense::affine_u8(
                    (<$paired>::new(), <$u8>::new()), [affine_u7_paired, $any], x, w, stride, bias, out
                ));
            entry!($features, affine_u7_sparse(x: &[u8], w: &[i8], stride: usize, bias: &[i32], out: &mut [i32]),
                sparse::affine_sparse(<$simd>::new(), <$u7>::new(), affine_u7, x, w, stride, bias, out));

            pub(super) const fn over(tier: Tier) -> Tier {
                Tier {
                    affine_u8: Kernel::new(affine_u8, NAME),
                    affine_u7: Kernel::new(affine_u7, NAME),
                    affine_u7_paired: Kernel::new(affine_u7_paired, NAME),
                    affine_u8_paired: Kernel::new(affine_u8_paired, NAME),
                    affine_u7_sparse: Kernel::new(affine_u7_sparse, NAME),
                    ..tier
                }
            }
        }
    };
}

/// Dense layers on all bytes, and chains of layers.
macro_rules! all_bytes {
    (#[$features:meta], simd $simd:ty, u7 $u7:ty, paired $paired:ty, u8 $u8:ty, i8 $i8:ty) => {
        pub(in crate::kernels) mod all_bytes {
            use super::*;
            use crate::kernels::vector::dense;
            use bytemuck::cast_slice;
            #[cfg(short_ways)]
            use crate::kernels::{
                Chains, layers::ByteLayer, vector::{chain as chained, whole}, whole_chain::WholeChain,
            };

            entry!($features, affine_any(x: &[u8], w: &[i8], stride: usize, bias: &[i32], out: &mut [i32]),
                dense::affine(<$u8>::new(), x, w, stride, bias, out));
            entry!($features, affine_i8(x: &[i8], w: &[i8], stride: usize, bias: &[i32], out: &mut [i32]),
                dense::affine(<$i8>::new(), cast_slice(x), w, stride, bias, out));
            #[cfg(short_ways)]
            entry!($features, chain(x: &[u8], layers: &[ByteLayer<'_>], out: &mut [u8]) -> bool,
                chained::chain(<$simd>::new(), <$u7>::new(), <$paired>::new(), x, layers, out));
            #[cfg(short_ways)]
            entry!($features, whole_chain(x: &[u8], layers: &WholeChain<'_>, out: &mut [u8]) -> bool,
                whole::chain(<$simd>::new(), <$u7>::new(), <$paired>::new(), x, layers, out));

            pub(super) const fn over(tier: Tier) -> Tier {
                Tier {
                    affine_i8: Kernel::new(affine_i8, NAME),
                    #[cfg(short_ways)]
                    chains: if chained::is_for::<$simd, $u7>() {
                        Some(Chains { any: chain, whole: whole_chain })
                    } else {
                        None
                    },
                    ..tier
                }
            }
        }
    };
}

/// Convolutions. `few N of F`: layers of at most N outputs, which would leave most of a vector empty, are F's.
macro_rules! convolutions {
    (#[$features:meta], simd $simd:ty, tile $tile:expr, filter $filter:expr $(, few $most:literal of $few:path)?) => {
        pub(in crate::kernels) mod convolutions {
            use super::*;
            use crate::kernels::maps::{Layer, Map};
            use crate::kernels::vector::{convolve as convolution, depthwise as filters};

            entry!($features, convolve(
                layer: &Layer<'_>, x: &[u8], second: Option<(Map, &[u8])>, out: &mut [u8]
            ), {
                $(if layer.to.channels <= $most {
                    return $few(layer, x, second, out);
                })?
                convolution::convolve(<$simd>::new(), $tile, layer, x, second, out);
            });
            entry!($features, depthwise(
                layer: &Layer<'_>, x: &[u8], second: Option<(Map, &[u8])>, out: &mut [u8]
            ), filters::depthwise($filter, layer, x, second, out));

            /// Of a tier without a kernel for one place.
            #[cfg(short_ways)]
            fn single_place(layer: &Layer<'_>, x: &[u8], out: &mut [u8]) {
                convolve(layer, x, None, out);
            }

            pub(super) const fn over(tier: Tier) -> Tier {
                Tier {
                    #[cfg(short_ways)]
                    single_place,
                    convolve: Kernel::new(convolve, NAME),
                    depthwise: Kernel::new(depthwise, NAME),
                    ..tier
                }
            }
        }
    };
}

/// Convolutions of one place, in builds with `cfg(short_ways)`; behind `convolutions`.
macro_rules! single_places {
    (#[$features:meta], simd $simd:ty, tile $tile:expr) => {
        mod single_places {
            use super::*;

            #[cfg(short_ways)]
            mod kernels {
                use super::*;
                use crate::kernels::{maps::Layer, vector::place};

                entry!($features, single_place(layer: &Layer<'_>, x: &[u8], out: &mut [u8]),
                    place::single_place(<$simd>::new(), $tile, layer, x, out));
            }

            pub(super) const fn over(tier: Tier) -> Tier {
                Tier {
                    #[cfg(short_ways)]
                    single_place: kernels::single_place,
                    ..tier
                }
            }
        }
    };
}

/// Several inputs at once, in builds with `cfg(batches)`.
macro_rules! batches {
    (#[$features:meta], u7 $u7:ty, u8 $u8:ty, i8 $i8:ty) => {
        mod batches {
            use super::*;

            #[cfg(batches)]
            mod kernels {
                use super::*;
                use crate::kernels::BatchKernels;
                use crate::kernels::vector::{batch, store};
                use crate::num::{I8_ENDS, U8_ENDS};

                entry!($features, affine_u8(
                    x: &[&[u8]], w: &[i8], stride: usize, bias: &[i32], out: &mut [&mut [i32]]
                ), batch::affine_u8(<$u7>::new(), <$u8>::new(), x, w, stride, bias, out));
                entry!($features, affine_i8(
                    x: &[&[u8]], w: &[i8], stride: usize, bias: &[i32], out: &mut [&mut [i32]]
                ), batch::affine(<$i8>::new(), x, w, stride, bias, out));
                entry!($features, store_u8(x: &[f32], unit: f32, zero: i32, out: &mut [u8]) -> bool,
                    store::store(x, unit, zero, U8_ENDS, out));
                entry!($features, store_i8(x: &[f32], unit: f32, zero: i32, out: &mut [u8]) -> bool,
                    store::store(x, unit, zero, I8_ENDS, out));

                pub(super) const ALL: BatchKernels = BatchKernels { affine_u8, affine_i8, store_u8, store_i8 };
            }

            pub(super) const fn over(tier: Tier) -> Tier {
                Tier {
                    #[cfg(batches)]
                    batch: kernels::ALL,
                    ..tier
                }
            }
        }
    };
}

pub(in crate::kernels) use {all_bytes, batches, convolutions, dots, narrow_bytes, reals, single_places, vectors};
