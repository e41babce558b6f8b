//! Codes of [`OpRecord::activation`](super::records::OpRecord::activation).

/// x
pub const IDENTITY: u32 = 1;
/// max(x, 0)
pub const RELU: u32 = 2;
/// clamp(x, 0, 1)
pub const CRELU: u32 = 3;
/// clamp(x, 0, 1)²
pub const SCRELU: u32 = 4;
/// max(x, 0)²
pub const SQRRELU: u32 = 5;
/// clamp(x\[i\], 0, 1) · clamp(x\[i + n/2\], 0, 1)
pub const PAIRWISE_CRELU: u32 = 6;
/// clamp(x, 0, 1), then clamp(x², 0, 1)
pub const DUAL_CRELU: u32 = 7;
/// x above 0, alpha · x else
pub const LEAKY_RELU: u32 = 8;
/// 1 / (1 + e^−x)
pub const SIGMOID: u32 = 9;
/// tanh x
pub const TANH: u32 = 10;
/// e^x\[i\] / Σ e^x
pub const SOFTMAX: u32 = 11;
/// clamp(x >> shift, 0, max)
pub const SHIFT_CLIP: u32 = 12;
/// min(x² >> shift, max)
pub const SHIFT_SQUARE: u32 = 13;
/// The squares of all, then the clips of all.
pub const SQUARE_AND_CLIP: u32 = 14;
/// The greatest.
pub const MAX: u32 = 15;
/// The smallest.
pub const MIN: u32 = 16;
/// The mean of the integers as they are stored.
pub const MEAN: u32 = 17;
/// The sum.
pub const SUM: u32 = 18;
/// The product.
pub const PRODUCT: u32 = 19;
/// x · clamp(x + 3, 0, 6) / 6
pub const HARD_SWISH: u32 = 20;

/// A code's word; `None` of an operation that has no activation or whose own word says what it is, and of a code
/// that is not defined.
pub const fn word(code: u32) -> Option<&'static str> {
    match code {
        IDENTITY => Some("identity"),
        RELU => Some("relu"),
        CRELU => Some("crelu"),
        SCRELU => Some("screlu"),
        SQRRELU => Some("sqrrelu"),
        PAIRWISE_CRELU => Some("pairwise-crelu"),
        DUAL_CRELU => Some("dual-crelu"),
        LEAKY_RELU => Some("leaky-relu"),
        SIGMOID => Some("sigmoid"),
        TANH => Some("tanh"),
        SOFTMAX => Some("softmax"),
        SHIFT_CLIP => Some("clip"),
        SHIFT_SQUARE => Some("square"),
        SQUARE_AND_CLIP => Some("square, clip"),
        HARD_SWISH => Some("hard-swish"),
        _ => None,
    }
}
