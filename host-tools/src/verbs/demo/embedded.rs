//! The networks that come with the program; `tests/reference` says how they were trained.

/// A checkpoint, its description, and what its training framework computed with it.
pub struct Embedded {
    /// The description's name in messages.
    pub arch_name: &'static str,
    /// The description.
    pub arch: &'static str,
    /// The checkpoint's file name.
    pub checkpoint_name: &'static str,
    /// The checkpoint.
    pub checkpoint: &'static [u8],
    /// Inputs and full-precision outputs, safetensors.
    pub reference: &'static [u8],
    /// Positions to show, for chess networks.
    pub fens: &'static [&'static str],
}

macro_rules! from_tests {
    ($include:ident, $path:literal) => {
        $include!(concat!("../../../../tests/", $path))
    };
}

/// An NNUE and a classifier of digits.
pub static EMBEDDED: [Embedded; 2] = [
    Embedded {
        arch_name: "reference.toml",
        arch: from_tests!(include_str, "architectures/reference.toml"),
        checkpoint_name: "weights.bin",
        checkpoint: from_tests!(include_bytes, "reference/nnue.weights.bin"),
        reference: from_tests!(include_bytes, "reference/nnue.reference.safetensors"),
        fens: &[
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
            "r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5Q2/PPPP1PPP/RNB1K1NR w KQkq - 0 4",
            "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
            "4k3/8/8/8/8/8/4P3/4K3 b - - 0 1",
        ],
    },
    Embedded {
        arch_name: "digits.toml",
        arch: from_tests!(include_str, "architectures/digits.toml"),
        checkpoint_name: "weights.bin",
        checkpoint: from_tests!(include_bytes, "reference/digits.weights.bin"),
        reference: from_tests!(include_bytes, "reference/digits.reference.safetensors"),
        fens: &[],
    },
];
