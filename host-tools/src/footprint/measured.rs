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
        code: [5848, 6504, 6528, 6532, 7488, 7752, 7290],
        stack: [388, 360, 360, 360, 360, 368, 396],
    },
    Image {
        name: "minimal_keywords",
        code: [30972, 29320, 28540, 28556, 29500, 31156, 32850],
        stack: [3848, 3680, 3688, 3688, 3688, 3700, 3716],
    },
    Image {
        name: "minimal_softmax",
        code: [36348, 34224, 32364, 32228, 33180, 35020, 39066],
        stack: [3856, 3656, 3736, 3736, 3736, 3748, 3684],
    },
    Image {
        name: "digits",
        code: [132608, 134036, 138504, 133316, 139252, 136748, 107486],
        stack: [2828, 2176, 3464, 3448, 3464, 3472, 1944],
    },
    Image {
        name: "keywords",
        code: [132376, 134440, 138160, 133440, 138932, 136472, 107982],
        stack: [7516, 7332, 7412, 7348, 7412, 7992, 6916],
    },
    Image {
        name: "nnue",
        code: [141184, 143224, 148720, 143328, 149412, 146720, 113910],
        stack: [3924, 3808, 3924, 3872, 3924, 3976, 3536],
    },
    Image {
        name: "plies",
        code: [143088, 147432, 151520, 146408, 152232, 148220, 120874],
        stack: [3424, 3300, 3268, 3268, 3268, 3172, 3052],
    },
];
