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
            "minimal_keywords" => SMALLEST_MAPS,
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
const SMALLEST_MAPS: &str = "level \"z\", the definition's kernels, no logs, of the runtime's features `maps`";
const SMALLEST_REALS: &str =
    "level \"z\", the definition's kernels, no logs, of the runtime's features `maps` and `reals`";
const FASTEST: &str = "level 3, the core's kernels, logs and the words of all errors";

#[rustfmt::skip] // a line an array, as the test writes them
static IMAGES: [Image; 7] = [
    Image {
        name: "minimal",
        code: [5872, 6520, 6544, 6548, 7504, 7796, 7314],
        stack: [396, 360, 360, 360, 360, 376, 396],
    },
    Image {
        name: "minimal_keywords",
        code: [31100, 29356, 28596, 28608, 29556, 31292, 32850],
        stack: [3864, 3712, 3704, 3704, 3704, 3716, 3732],
    },
    Image {
        name: "minimal_softmax",
        code: [36380, 34292, 32460, 32320, 33276, 35108, 39066],
        stack: [3872, 3688, 3752, 3752, 3752, 3764, 3700],
    },
    Image {
        name: "digits",
        code: [133624, 134064, 138488, 133364, 139232, 136812, 107414],
        stack: [2836, 2176, 3456, 3456, 3456, 3472, 1944],
    },
    Image {
        name: "keywords",
        code: [133392, 134468, 138144, 133488, 138912, 136536, 107910],
        stack: [7524, 7332, 7404, 7356, 7404, 7992, 6916],
    },
    Image {
        name: "nnue",
        code: [142200, 143252, 148704, 143376, 149392, 146768, 113854],
        stack: [3924, 3808, 3924, 3872, 3924, 3976, 3536],
    },
    Image {
        name: "plies",
        code: [144192, 147456, 151576, 146464, 152284, 148068, 120818],
        stack: [3424, 3300, 3268, 3268, 3268, 3172, 3052],
    },
];
