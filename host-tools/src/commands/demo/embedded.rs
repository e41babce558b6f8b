//! The networks that come with the program; `tests/reference` says how they were trained. The package has them in
//! `demo/`, where they are links to the tests' own.

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

macro_rules! from_package {
    ($include:ident, $path:literal) => {
        $include!(concat!("../../../demo/", $path))
    };
}

/// An NNUE and a classifier of digits.
pub static EMBEDDED: [Embedded; 2] = [
    Embedded {
        arch_name: "reference.toml",
        arch: from_package!(include_str, "reference.toml"),
        checkpoint_name: "weights.bin",
        checkpoint: from_package!(include_bytes, "nnue.weights.bin"),
        reference: from_package!(include_bytes, "nnue.reference.safetensors"),
        fens: &[
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
            "r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5Q2/PPPP1PPP/RNB1K1NR w KQkq - 0 4",
            "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
            "4k3/8/8/8/8/8/4P3/4K3 b - - 0 1",
        ],
    },
    Embedded {
        arch_name: "digits.toml",
        arch: from_package!(include_str, "digits.toml"),
        checkpoint_name: "weights.bin",
        checkpoint: from_package!(include_bytes, "digits.weights.bin"),
        reference: from_package!(include_bytes, "digits.reference.safetensors"),
        fens: &[],
    },
];
