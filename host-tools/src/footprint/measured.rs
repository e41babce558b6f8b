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
        code: [5832, 6488, 6512, 6516, 7472, 7764, 7274],
        stack: [388, 360, 360, 360, 360, 360, 396],
    },
    Image {
        name: "minimal_keywords",
        code: [30992, 29376, 28484, 28488, 29444, 31068, 32746],
        stack: [3864, 3696, 3688, 3688, 3688, 3700, 3716],
    },
    Image {
        name: "minimal_softmax",
        code: [36192, 34104, 32356, 32220, 33176, 35028, 38934],
        stack: [3872, 3672, 3736, 3736, 3736, 3748, 3684],
    },
    Image {
        name: "digits",
        code: [132644, 133504, 137832, 132772, 138576, 135612, 107446],
        stack: [2892, 2168, 3456, 3448, 3456, 3464, 1992],
    },
    Image {
        name: "keywords",
        code: [132308, 133584, 137636, 132952, 138352, 135480, 107874],
        stack: [7564, 7388, 7484, 7444, 7484, 8024, 6980],
    },
    Image {
        name: "nnue",
        code: [141148, 142488, 148008, 142560, 148696, 145608, 113766],
        stack: [3916, 3800, 3852, 3808, 3852, 3968, 3536],
    },
    Image {
        name: "plies",
        code: [143152, 146736, 150744, 145832, 151464, 147008, 120554],
        stack: [3352, 3236, 3204, 3204, 3204, 3108, 3052],
    },
];
