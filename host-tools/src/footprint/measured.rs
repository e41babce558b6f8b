//! What images of `firmware-examples` take, measured: the table in its README, less what the network and the examples
//! take. `TAMIS_BLESS=1 cargo test --release -p tests -- footprint` copies it from there.

use crate::cli::Core;

/// An image on every core, in the order of [`Core::ALL`].
#[derive(Debug)]
pub struct Image {
    /// In `firmware-examples`.
    pub name: &'static str,
    /// What it is.
    pub words: &'static str,
    /// Bytes of flash, without the container and the examples.
    code: [usize; Core::ALL.len()],
    /// Bytes of the deepest stack and of statics, without what the network has there.
    stack: [usize; Core::ALL.len()],
}

impl Image {
    /// Bytes of code and of stack on a core.
    pub const fn bytes(&self, core: Core) -> (usize, usize) {
        (self.code[core as usize], self.stack[core as usize])
    }
}

/// The image of a name.
pub fn named(name: &str) -> Option<&'static Image> {
    IMAGES.iter().find(|image| image.name == name)
}

const SMALLEST: &str = "level \"z\", the definition's kernels, no logs";
const FASTEST: &str = "level 3, the core's kernels, logs and the words of all errors";

#[rustfmt::skip] // a line an array, as the test writes them
static IMAGES: [Image; 6] = [
    Image {
        name: "minimal",
        words: SMALLEST,
        code: [5824, 6480, 6504, 6508, 7464, 7708, 7270],
        stack: [388, 360, 360, 360, 360, 360, 396],
    },
    Image {
        name: "minimal_keywords",
        words: SMALLEST,
        code: [26340, 25184, 24648, 24672, 25612, 25416, 27270],
        stack: [3432, 3288, 3288, 3288, 3288, 3288, 3332],
    },
    Image {
        name: "digits",
        words: FASTEST,
        code: [95944, 96592, 102016, 96328, 102732, 88556, 80994],
        stack: [2148, 2028, 1960, 1952, 1960, 1968, 1864],
    },
    Image {
        name: "keywords",
        words: FASTEST,
        code: [95836, 96744, 101800, 96480, 102520, 88560, 81478],
        stack: [4024, 3672, 3688, 3672, 3688, 3760, 3532],
    },
    Image {
        name: "nnue",
        words: FASTEST,
        code: [103596, 104584, 111504, 105372, 112156, 97956, 87022],
        stack: [3636, 3408, 3452, 3416, 3452, 3472, 3036],
    },
    Image {
        name: "plies",
        words: FASTEST,
        code: [108608, 110096, 115232, 110276, 116028, 103104, 96442],
        stack: [3304, 3156, 3132, 3180, 3132, 2972, 3148],
    },
];
