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
        code: [5832, 6488, 6516, 6516, 7476, 7740, 7274],
        stack: [388, 360, 360, 360, 360, 360, 396],
    },
    Image {
        name: "minimal_keywords",
        code: [26576, 25312, 24828, 24852, 25788, 25704, 27546],
        stack: [3464, 3296, 3296, 3296, 3296, 3296, 3332],
    },
    Image {
        name: "minimal_softmax",
        code: [31500, 30496, 28760, 28636, 29580, 29440, 34326],
        stack: [3656, 3496, 3568, 3568, 3568, 3568, 3540],
    },
    Image {
        name: "digits",
        code: [104588, 104908, 110076, 103880, 110784, 96652, 87570],
        stack: [2020, 1964, 1896, 1888, 1896, 1904, 1752],
    },
    Image {
        name: "keywords",
        code: [104428, 105048, 109996, 104060, 110700, 96484, 87946],
        stack: [3896, 3544, 3560, 3544, 3560, 3632, 3420],
    },
    Image {
        name: "nnue",
        code: [113396, 113948, 120288, 113760, 120928, 106768, 94094],
        stack: [3652, 3552, 3596, 3552, 3596, 3608, 3148],
    },
    Image {
        name: "plies",
        code: [117224, 119792, 125412, 119008, 126076, 112508, 101662],
        stack: [3248, 3140, 3100, 3100, 3100, 2948, 2892],
    },
];
