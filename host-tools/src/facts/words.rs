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
    match kind {
        op::ACTIVATE_DOT => "activate-dot",
        op::RESCALE => "rescale",
        op::ACTIVATE_F32 => "activate-f32",
        op::PAIRWISE_U8 => "pairwise-u8",
        op::AFFINE_I8 => "affine-i8",
        op::DEQUANTISE => "dequantise",
        op::AFFINE_F32 => "affine-f32",
        op::ACTIVATION_F32 => "activation-f32",
        op::ADD_F32 => "add-f32",
        op::SCALE_F32 => "scale-f32",
        op::REQUANTISE => "requantise",
        op::SPARSE_AFFINE => "sparse-affine",
        op::SPARSE_ROWS => "sparse-rows",
        op::FM_TERM => "fm-term",
        op::BI_INTERACTION => "bi-interaction",
        op::INNER_PRODUCTS => "inner-products",
        op::CONCAT => "concat",
        op::ADD_I32 => "add-i32",
        op::LOOKUP => "lookup",
        op::AFFINE_I16 => "affine-i16",
        op::TREES => "trees",
        op::TO_F32 => "to-f32",
        op::QUANTISE => "quantise",
        op::CLIP_U8 => "clip-u8",
        op::PSQT => "psqt",
        op::ACTIVATE_U8 => "activate-u8",
        _ => "unknown",
    }
}

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
        _ => None,
    }
}
