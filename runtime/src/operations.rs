//! Every kind of operation, a row each: all that the crate says of a kind as a whole stands here and nowhere else.
//!
//! The table is a macro, because who reads it makes something else of it: `format` the codes and the loader's demands,
//! `ops` what is resolved and run. Neither of them knows the other, and what a build leaves out costs it nothing.
//!
//! A row has, in this order:
//!
//! - what it does, for the documentation; the name that FORMAT.md has for it, its code, its word;
//! - with which constant of [`crate::features`] it runs, and the feature that a build without is told to add;
//! - where it may read the network's input: `Values`, only a vector, which every kind can, `Accumulators` or `List`;
//! - how much of a second value it reads: none (`Absent`), as many elements as it writes (`Output`), what the first one
//!   leaves of those (`Rest`), `All` of it, or all of it where there is one (`Optional`);
//! - the method of the loader's `Operation` that says what it demands;
//! - the type of `ops` that it becomes, which is looked up and run.

/// Hands the table to a macro.
macro_rules! operations {
    ($then:ident) => {
        $then! {
            /// Accumulators → activation → dot with i16 weights → i32.
            ACTIVATE_DOT = 1, "activate-dot", if ACCUMULATORS else Accumulators,
                Accumulators, Absent, activate_dot, accumulators::ActivateDot<'a>;
            /// i32 → the engine's integer head: divide, add bias, multiply, divide.
            RESCALE = 2, "rescale", if ACCUMULATORS else Accumulators,
                Values, Absent, rescale, rescale::Rescale<'a>;
            /// Accumulators → activation → f32.
            ACTIVATE_F32 = 3, "activate-f32", if REALS else Reals,
                Accumulators, Absent, activate_f32, accumulators::ActivateF32;
            /// Accumulators → products of the two halves → u8.
            PAIRWISE_U8 = 4, "pairwise-u8", if ACCUMULATORS else Accumulators,
                Accumulators, Absent, pairwise_u8, accumulators::PairwiseU8;
            /// u8 or i8 × i8 weights + i32 bias → i32.
            AFFINE_I8 = 5, "affine-i8", if ALWAYS else Field,
                Values, Absent, dense, dense::AffineI8<'a>;
            /// i32 → f32, with a factor and a bias.
            DEQUANTISE = 6, "dequantise", if REALS else Reals,
                Values, Absent, dequantise, reals::Dequantise<'a>;
            /// f32 × f32 weights + f32 bias → f32.
            AFFINE_F32 = 7, "affine-f32", if REALS else Reals,
                Values, Absent, affine_f32, reals::AffineF32<'a>;
            /// f32 → activation → f32.
            ACTIVATION_F32 = 8, "activation-f32", if REALS else Reals,
                Values, Absent, activation_f32, reals::ActivationF32;
            /// f32 + f32 → f32.
            ADD_F32 = 9, "add-f32", if REALS else Reals,
                Values, Output, add_f32, join::Join;
            /// f32 · constant → f32.
            SCALE_F32 = 10, "scale-f32", if REALS else Reals,
                Values, Absent, scale_f32, reals::ScaleF32;
            /// i32 → multiply, shift, add a zero point, clamp → u8, i8, i16 or i32.
            REQUANTISE = 11, "requantise", if ALWAYS else Field,
                Values, Absent, dense, requantise::Requantise<'a>;
            /// Sparse input × i8, i16 or f32 weights + bias → i32 or f32.
            SPARSE_AFFINE = 12, "sparse-affine", if GENERAL else General,
                List, Absent, sparse_affine, sparse::SparseAffine<'a>;
            /// Sparse input → the weight rows of its features, one behind the other → i8, i16 or f32.
            SPARSE_ROWS = 13, "sparse-rows", if GENERAL else General,
                List, Absent, sparse_rows, sparse::SparseRows<'a>;
            /// Embeddings, i8, i16 or f32 → the sum of the products of all pairs → i32 or f32.
            FM_TERM = 14, "fm-term", if GENERAL else General,
                Values, Absent, interactions, interact::Interactions;
            /// The same, element by element.
            BI_INTERACTION = 15, "bi-interaction", if GENERAL else General,
                Values, Absent, interactions, interact::Interactions;
            /// Embeddings, i8, i16 or f32 → the product of every pair → i32 or f32.
            INNER_PRODUCTS = 16, "inner-products", if GENERAL else General,
                Values, Absent, interactions, interact::Interactions;
            /// Two values of one element → one behind the other.
            CONCAT = 17, "concat", if GENERAL_OR_MAPS else General,
                Values, Rest, concat, join::Join;
            /// i32 + i32 → i32.
            ADD_I32 = 18, "add-i32", if GENERAL else General,
                Values, Output, add_i32, join::Join;
            /// u8 or i8 → a table of 256 → u8 or i8.
            LOOKUP = 19, "lookup", if GENERAL_OR_MAPS else General,
                Values, Absent, lookup, convert::Lookup<'a>;
            /// i16 × i8 or i16 weights + i32 bias → i32.
            AFFINE_I16 = 20, "affine-i16", if GENERAL_OR_CONVOLUTIONS else General,
                Values, Absent, affine_i16, dense::AffineI16<'a>;
            /// The sparse input, or integers or f32 → the sum of the leaves that trees of decisions reach → i32 or f32.
            TREES = 21, "trees", if GENERAL else General,
                List, Absent, trees, trees::Trees<'a>;
            /// u8, i8 or i16 → f32, with a zero point and a factor.
            TO_F32 = 22, "to-f32", if REALS else Reals,
                Values, Absent, to_f32, convert::ToF32;
            /// f32 → multiply, round, add a zero point, clamp → u8, i8 or i16.
            QUANTISE = 23, "quantise", if GENERAL else General,
                Values, Absent, quantise, convert::Quantise;
            /// i16 accumulators → clip → u8.
            CLIP_U8 = 24, "clip-u8", if GENERAL else General,
                Accumulators, Absent, clip_u8, stockfish::ClipU8;
            /// i16 accumulators → half the difference of what both perspectives' last elements, digits of large
            /// numbers, stand for → i32.
            PSQT = 25, "psqt", if GENERAL else General,
                Accumulators, Absent, psqt, stockfish::Psqt;
            /// i32 → shift, square or both, clip → u8.
            ACTIVATE_U8 = 26, "activate-u8", if GENERAL else General,
                Values, Absent, activate_u8, activate_u8::ActivateU8;
            /// A map of u8, i8 or i16 × i8 weights + i32 bias, perhaps + another map → rounded → a map of u8, i8 or
            /// i16.
            CONVOLUTION = 27, "convolution", if CONVOLUTIONS else Convolutions,
                Values, Optional, convolution, maps::Late<maps::Convolution>;
            /// The same with the window's places and pixels exchanged.
            TRANSPOSED_CONVOLUTION = 28, "transposed-convolution", if MAPS else Maps,
                Values, Optional, convolution, maps::Late<maps::Convolution>;
            /// A map → the maximum, the mean or the sum of each window → a map.
            POOL = 29, "pool", if CONVOLUTIONS else Convolutions,
                Values, Absent, pool, maps::Late<maps::Pool>;
            /// Two maps, or a map and a pixel → element by element their sum, product, maximum or minimum.
            ELEMENTWISE = 30, "elementwise", if CONVOLUTIONS else Convolutions,
                Values, All, elementwise, maps::Late<maps::Elementwise>;
            /// A map → elements at equal distances along each axis → a map.
            MOVE = 31, "move", if MAPS else Maps,
                Values, Absent, moved, maps::Late<maps::Move>;
            /// A map → the same within a border that stands for 0.
            PAD = 32, "pad", if MAPS else Maps,
                Values, Absent, pad, maps::Late<maps::Pad>;
            /// A map → a map of another size, each pixel a mean of four.
            RESIZE = 33, "resize", if MAPS else Maps,
                Values, Absent, resize, maps::Late<maps::Resize>;
            /// i32 → shift, activation → times i8, i16 or i32 weights + i32 bias → i32.
            AFFINE_I32 = 34, "affine-i32", if GENERAL else General,
                Values, Absent, affine_i32, dense::AffineI32<'a>;
            /// Accumulators → SCReLU, each product with an i16 weight rounded at 15 bits → dot + i32 bias → i32.
            ROUNDED_DOT = 35, "rounded-dot", if ACCUMULATORS else Accumulators,
                Accumulators, Absent, rounded_dot, accumulators::RoundedDot<'a>;
            /// Accumulators → products of the two halves, rounded → u8.
            PAIRWISE_ROUNDED = 36, "pairwise-rounded", if ACCUMULATORS else Accumulators,
                Accumulators, Absent, pairwise_rounded, accumulators::PairwiseRounded;
            /// ACTIVATE_DOT and RESCALE in one, with sums in 64 bits → i32.
            WIDE_HEAD = 37, "wide-head", if GENERAL else General,
                Accumulators, Absent, wide_head, wide_head::WideHead<'a>;
            /// f32 · f32 → f32.
            MULTIPLY_F32 = 38, "multiply-f32", if REALS else Reals,
                Values, Output, add_f32, join::Join;
            /// i16 accumulators → of one perspective, or of both the difference, what the last elements, digits of
            /// large numbers, stand for → i32.
            FEATURE_SUMS = 39, "feature-sums", if GENERAL else General,
                Accumulators, Absent, feature_sums, stockfish::FeatureSums;
        }
    };
}

pub(crate) use operations;
