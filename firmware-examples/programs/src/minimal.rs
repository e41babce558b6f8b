//! The smallest useful image: a container of a network 64-16-1 is checked in full, and the network says of two images
//! whether they are a zero. No log; the exit status says whether the answers are right.

use core::hint::black_box;
use tamis_runtime::format::Model;
use tamis_runtime::kernels::scalar;
use tamis_runtime::{Input, Output, Plan, Workspace, include_model};

/// From `host-tools quantise tests/reference/minimal.weights.bin --arch tests/architectures/minimal.toml`.
static MODEL: &[u8] = include_model!("minimal.quantised.bin");
/// A zero and a six of the test split, 64 bytes of 0 to 127 each.
static IMAGES: &[u8] = include_bytes!("minimal.images.bin");

/// Inputs of the network: 8 rows of 8 pixels.
const PIXELS: usize = 64;
/// Scratch memory in bytes, what `inspect` calls the workspace; [`Plan::run`] refuses too little.
const WORKSPACE: usize = 192;

/// Memory for the network. Best a static, which the start-up code clears with the others; on a stack it takes code of
/// its own for that, and room up to the next multiple of 64.
pub type Scratch = Workspace<WORKSPACE>;

/// Whether the network knows the zero and only the zero.
pub fn run(scratch: &mut Scratch) -> bool {
    // Without this the compiler would do the checks that it can foresee; a network that is flashed on its own is
    // checked by the board.
    match &Model::parse(black_box(MODEL)) {
        Ok(model) => classify(model, scratch.as_mut()),
        Err(_) => false,
    }
}

/// A call of its own, so that the stack of the loader and that of the network are not there at once.
#[inline(never)]
fn classify(model: &Model<'_>, scratch: &mut [u8]) -> bool {
    let plan = Plan::new(*model, &scalar::KERNELS);
    let (images, _) = IMAGES.as_chunks::<PIXELS>();
    images.iter().zip([true, false]).all(|(image, is_zero)| match plan.run(Input::U8(image), 0, scratch) {
        Ok(Output::I32([logit])) => (*logit > 0) == is_zero,
        _ => false,
    })
}
