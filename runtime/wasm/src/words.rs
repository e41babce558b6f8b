//! Words for the codes of a file, those that `host-tools inspect` prints.

use tamis_runtime::raw::{Layout, activation, claim, element, input_kind};

/// Of a code that this version has no word for.
pub const UNKNOWN: &str = "unknown";

pub const fn element(code: u32) -> &'static str {
    match code {
        element::U8 => "u8",
        element::I8 => "i8",
        element::I16 => "i16",
        element::I32 => "i32",
        element::F32 => "f32",
        _ => UNKNOWN,
    }
}

pub const fn input_kind(code: u32) -> &'static str {
    match code {
        input_kind::FEATURES => "features",
        input_kind::DENSE => "dense",
        input_kind::SPARSE => "sparse",
        _ => UNKNOWN,
    }
}

pub const fn layout(layout: Layout) -> &'static str {
    match layout {
        Layout::Rows => "rows",
        Layout::K4 => "k4",
        Layout::Columns => "columns",
        _ => UNKNOWN,
    }
}

/// The code of an operation without an activation.
const NO_ACTIVATION: u32 = 0;

/// None of an operation without one.
pub const fn activation(code: u32) -> Option<&'static str> {
    match code {
        activation::IDENTITY => Some("identity"),
        activation::RELU => Some("relu"),
        activation::CRELU => Some("crelu"),
        activation::SCRELU => Some("screlu"),
        activation::SQRRELU => Some("sqrrelu"),
        activation::PAIRWISE_CRELU => Some("pairwise-crelu"),
        activation::DUAL_CRELU => Some("dual-crelu"),
        activation::LEAKY_RELU => Some("leaky-relu"),
        activation::SIGMOID => Some("sigmoid"),
        activation::TANH => Some("tanh"),
        activation::SOFTMAX => Some("softmax"),
        activation::SHIFT_CLIP => Some("clip"),
        activation::SHIFT_SQUARE => Some("square"),
        activation::SQUARE_AND_CLIP => Some("square, clip"),
        activation::HARD_SWISH => Some("hard-swish"),
        // Their operation's word says what they are.
        NO_ACTIVATION
        | activation::MAX
        | activation::MIN
        | activation::MEAN
        | activation::SUM
        | activation::PRODUCT => None,
        _ => Some(UNKNOWN),
    }
}

/// The claims that a tensor or a block of features can make.
const CLAIMS: [(u32, &str); 4] = [
    (claim::ACCUMULATOR_FITS, "accumulator-fits"),
    (claim::SUM_FITS, "sum-fits"),
    (claim::PRODUCT_FITS_I16, "product-fits-i16"),
    (claim::QUADS_FIT_I16, "quads-fit-i16"),
];

/// The words of the claims whose bits are set.
pub fn claims(bits: u32) -> Vec<&'static str> {
    CLAIMS.iter().filter(|(bit, _)| bits & bit != 0).map(|(_, word)| *word).collect()
}

#[cfg(test)]
mod tests {
    use super::{CLAIMS, claim};

    #[test]
    fn every_claim_has_a_word() {
        assert_eq!(CLAIMS.iter().fold(0, |bits, (bit, _)| bits | bit), claim::ALL);
    }
}
