//! Words for the codes in a container.

use tamis_runtime::raw::{Layout, activation, element, op};

/// An element type.
pub fn element_word(code: u32) -> &'static str {
    match code {
        element::U8 => "u8",
        element::I8 => "i8",
        element::I16 => "i16",
        element::I32 => "i32",
        element::F32 => "f32",
        _ => "unknown",
    }
}

/// A layout.
pub fn layout_word(layout: Layout) -> &'static str {
    match layout {
        Layout::Rows => "rows",
        Layout::K4 => "k4",
        Layout::Columns => "columns",
        // As for elements and operations of a code without a word.
        _ => "unknown",
    }
}

/// A kind of operation.
pub fn operation_word(kind: u32) -> &'static str {
    op::word(kind).unwrap_or("unknown")
}

/// The code of an operation without an activation.
const NO_ACTIVATION: u32 = 0;

/// An activation; `None` where an operation has none.
pub fn activation_word(code: u32) -> Option<&'static str> {
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
        _ => Some("unknown"),
    }
}
