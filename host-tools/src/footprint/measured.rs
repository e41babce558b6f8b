//! What images of `firmware-examples` take, measured: the table in its README, less what the network and the examples
//! take. `TAMIS_BLESS=1 cargo test --release -p tests -- footprint` copies it from there.

use crate::cli::Core;

/// An image on every core, in the order of [`Core::ALL`].
#[derive(Debug)]
pub struct Image {
    /// In `firmware-examples`.
    pub name: &'static str,
    /// Bytes of flash, without the container and the examples.
    code: [usize; Core::ALL.len()],
    /// Bytes of the deepest stack and of statics, without what the network has there.
    stack: [usize; Core::ALL.len()],
}

impl Image {
    /// What it is.
    pub fn words(&self) -> &'static str {
        match self.name {
            "minimal" => SMALLEST,
            "minimal_keywords" => SMALLEST_CONVOLUTIONS,
            "minimal_softmax" => SMALLEST_REALS,
            _ => FASTEST,
        }
    }

    /// Bytes of code and of stack on a core.
    pub const fn bytes(&self, core: Core) -> (usize, usize) {
        (self.code[core as usize], self.stack[core as usize])
    }
}

/// The image of a name.
pub fn named(name: &str) -> Option<&'static Image> {
    IMAGES.iter().find(|image| image.name == name)
}

const SMALLEST: &str = "level \"z\", the definition's kernels, no logs, none of the runtime's features";
const SMALLEST_CONVOLUTIONS: &str =
    "level \"z\", the definition's kernels, no logs, `open_checked`, of the runtime's features `convolutions`";
const SMALLEST_REALS: &str =
    "level \"z\", the definition's kernels, no logs, of the runtime's features `convolutions` and `reals`";
const FASTEST: &str = "level 3, the core's kernels, logs and the words of all errors";

#[rustfmt::skip] // a line an array, as the test writes them
static IMAGES: [Image; 7] = [
    Image {
        name: "minimal",
        code: [5848, 6504, 6528, 6532, 7488, 7752, 7290],
        stack: [388, 360, 360, 360, 360, 368, 396],
    },
    Image {
        name: "minimal_keywords",
        code: [14448, 14132, 14188, 14192, 15148, 16792, 15222],
        stack: [2704, 2516, 2516, 2516, 2516, 2508, 2596],
    },
    Image {
        name: "minimal_softmax",
        code: [29212, 27756, 26040, 25912, 26856, 28676, 32510],
        stack: [2656, 2444, 2516, 2516, 2516, 2508, 2548],
    },
    Image {
        name: "digits",
        code: [105668, 104088, 104108, 101924, 105456, 100548, 88358],
        stack: [2892, 2176, 3464, 3448, 3464, 3472, 1944],
    },
    Image {
        name: "keywords",
        code: [119692, 118628, 118088, 116612, 119368, 118800, 99370],
        stack: [7532, 7332, 7412, 7348, 7412, 7992, 6916],
    },
    Image {
        name: "nnue",
        code: [137048, 137436, 138560, 135208, 139252, 135004, 111382],
        stack: [3884, 3784, 3884, 3856, 3884, 3920, 3504],
    },
    Image {
        name: "plies",
        code: [140524, 143736, 145136, 140576, 145868, 142064, 118890],
        stack: [3424, 3300, 3268, 3268, 3268, 3172, 3052],
    },
];
