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
static IMAGES: [Image; 6] = [
    Image {
        name: "minimal",
        code: [5832, 6488, 6516, 6516, 7476, 7720, 7274],
        stack: [388, 360, 360, 360, 360, 360, 396],
    },
    Image {
        name: "minimal_keywords",
        code: [26416, 25188, 24672, 24696, 25632, 25596, 27386],
        stack: [3464, 3296, 3296, 3296, 3296, 3296, 3332],
    },
    Image {
        name: "digits",
        code: [101088, 101176, 105556, 100124, 106284, 92336, 85198],
        stack: [2020, 1964, 1896, 1888, 1896, 1904, 1752],
    },
    Image {
        name: "keywords",
        code: [100928, 101316, 105476, 100304, 106200, 92168, 85570],
        stack: [3896, 3544, 3560, 3544, 3560, 3632, 3420],
    },
    Image {
        name: "nnue",
        code: [109896, 110216, 115768, 110004, 116428, 102452, 91718],
        stack: [3652, 3560, 3596, 3560, 3596, 3608, 3148],
    },
    Image {
        name: "plies",
        code: [118032, 120892, 125952, 120548, 126756, 112640, 105154],
        stack: [3352, 3236, 3188, 3252, 3188, 3052, 3292],
    },
];
