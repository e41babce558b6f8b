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
        code: [5872, 6536, 6552, 6560, 7512, 7756, 7278],
        stack: [412, 384, 384, 384, 384, 384, 412],
    },
    Image {
        name: "minimal_keywords",
        code: [12524, 12372, 12400, 12404, 13360, 14988, 13102],
        stack: [2496, 2380, 2380, 2380, 2380, 2372, 2500],
    },
    Image {
        name: "minimal_softmax",
        code: [28300, 27516, 25744, 25600, 26564, 28324, 32134],
        stack: [2408, 2300, 2300, 2300, 2300, 2300, 2436],
    },
    Image {
        name: "digits",
        code: [83796, 84280, 83496, 82536, 84548, 82092, 70534],
        stack: [2476, 1848, 3048, 3048, 2984, 3056, 1796],
    },
    Image {
        name: "keywords",
        code: [101712, 102756, 102368, 102080, 103428, 105064, 85386],
        stack: [6784, 6596, 6572, 6556, 6572, 7136, 6212],
    },
    Image {
        name: "nnue",
        code: [136860, 138608, 140092, 136484, 140496, 137400, 114398],
        stack: [3752, 3496, 3552, 3536, 3552, 3568, 3280],
    },
    Image {
        name: "plies",
        code: [142968, 146700, 148680, 144268, 149292, 147924, 123642],
        stack: [3424, 3300, 3268, 3268, 3268, 3172, 3052],
    },
];
