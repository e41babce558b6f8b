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
        code: [5824, 6484, 6512, 6512, 7472, 7712, 7270],
        stack: [388, 360, 360, 360, 360, 360, 396],
    },
    Image {
        name: "minimal_keywords",
        words: SMALLEST,
        code: [26420, 25164, 24576, 24588, 25536, 25428, 27338],
        stack: [3464, 3296, 3296, 3296, 3296, 3296, 3348],
    },
    Image {
        name: "digits",
        words: FASTEST,
        code: [99940, 100192, 104344, 98784, 105084, 91320, 84334],
        stack: [2020, 1964, 1896, 1888, 1896, 1904, 1736],
    },
    Image {
        name: "keywords",
        words: FASTEST,
        code: [99780, 100360, 104216, 98964, 104952, 91104, 84742],
        stack: [3896, 3544, 3560, 3544, 3560, 3632, 3404],
    },
    Image {
        name: "nnue",
        words: FASTEST,
        code: [108708, 109208, 114436, 108792, 115108, 101340, 90822],
        stack: [3652, 3560, 3588, 3552, 3588, 3608, 3164],
    },
    Image {
        name: "plies",
        words: FASTEST,
        code: [109680, 111132, 115484, 109936, 116268, 102872, 99050],
        stack: [3248, 3132, 3084, 3148, 3084, 2948, 3100],
    },
];
