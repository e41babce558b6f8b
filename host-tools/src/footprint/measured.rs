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
        code: [30988, 29376, 28484, 28488, 29444, 31068, 32746],
        stack: [3864, 3696, 3688, 3688, 3688, 3700, 3716],
    },
    Image {
        name: "minimal_softmax",
        code: [36196, 34104, 32356, 32220, 33176, 35024, 38934],
        stack: [3872, 3672, 3736, 3736, 3736, 3748, 3684],
    },
    Image {
        name: "digits",
        code: [132804, 133400, 137876, 132812, 138632, 135916, 107258],
        stack: [2892, 2220, 3448, 3440, 3448, 3456, 1992],
    },
    Image {
        name: "keywords",
        code: [132468, 133480, 137680, 132992, 138408, 135784, 107686],
        stack: [7564, 7388, 7484, 7444, 7484, 8024, 6980],
    },
    Image {
        name: "nnue",
        code: [141468, 142148, 147868, 142424, 148572, 145800, 113486],
        stack: [3916, 3736, 3916, 3872, 3916, 3968, 3536],
    },
    Image {
        name: "plies",
        code: [143128, 146560, 150780, 145792, 151512, 147196, 120374],
        stack: [3312, 3204, 3164, 3164, 3164, 3076, 3020],
    },
];
