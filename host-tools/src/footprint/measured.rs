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
        code: [5832, 6492, 6520, 6520, 7480, 7756, 7274],
        stack: [388, 360, 360, 360, 360, 360, 396],
    },
    Image {
        name: "minimal_keywords",
        code: [27308, 25520, 24736, 24752, 25696, 25648, 28062],
        stack: [3896, 3728, 3728, 3728, 3728, 3740, 3764],
    },
    Image {
        name: "minimal_softmax",
        code: [32400, 30592, 28708, 28576, 29524, 29580, 34254],
        stack: [3912, 3712, 3784, 3784, 3784, 3788, 3956],
    },
    Image {
        name: "digits",
        code: [106432, 106936, 111108, 105072, 111812, 96556, 88690],
        stack: [2028, 1980, 1904, 1904, 1904, 1912, 1752],
    },
    Image {
        name: "keywords",
        code: [106232, 107156, 110868, 105340, 111604, 96404, 89078],
        stack: [5128, 4980, 5056, 5032, 5056, 5128, 4732],
    },
    Image {
        name: "nnue",
        code: [115164, 115840, 121044, 114976, 121668, 106560, 95242],
        stack: [3604, 3512, 3628, 3568, 3628, 3640, 3248],
    },
    Image {
        name: "plies",
        code: [118992, 121876, 126196, 120256, 126868, 109148, 102706],
        stack: [3248, 3140, 3100, 3100, 3100, 2948, 2892],
    },
];
