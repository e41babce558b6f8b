//! A dense network in flash: ten images of digits, classified by the int8 classifier of tests/reference.
//!
//! The container is read in place; the only memory that the network needs is the scratch below.

use crate::Error;
use crate::mark::counted;
use tamis_runtime::format::Model;
use tamis_runtime::kernels::of_target;
use tamis_runtime::signature::{Buffers, signature};
use tamis_runtime::{Input, Output, Plan, Workspace, include_model};

/// From `host-tools quantise tests/reference/digits.weights.bin --arch tests/architectures/digits.toml`.
static MODEL: &[u8] = include_model!("digits.quantised.bin");
/// One image of each digit, 0 to 9, from the classifier's test split.
static IMAGES: &[u8] = include_bytes!("digits.images.bin");

/// Inputs of the network: 8 rows of 8 pixels.
const PIXELS: usize = 64;
/// The darkest pixel in the images.
const PIXEL_MAX: u32 = 16;
/// Scratch memory in bytes; [`Plan::run`] refuses too little.
const WORKSPACE: usize = 256;

/// Classifies the images, then prints the network's signature.
///
/// # Errors
/// What the runtime refuses; nothing, as long as container and constants belong together.
pub fn run() -> Result<(), Error> {
    let model = Model::parse(MODEL)?;
    let plan = Plan::new(model, of_target());
    let mut workspace = Workspace::<WORKSPACE>::new();
    defmt::println!(
        "digits: {=usize} bytes, {=u32} inputs, workspace {=usize} of {=usize} bytes",
        MODEL.len(),
        model.input().size,
        model.workspace_len_bytes(),
        WORKSPACE,
    );
    for (digit, image) in IMAGES.chunks_exact(PIXELS).enumerate() {
        // A real pixel is p / 16, and the input's unit is 1 / 127.
        let mut input = [0; PIXELS];
        for (value, pixel) in input.iter_mut().zip(image) {
            *value = ((u32::from(*pixel) * 127 + PIXEL_MAX / 2) / PIXEL_MAX) as u8;
        }
        let output = counted(|| plan.run(Input::U8(&input), 0, workspace.as_mut()));
        let Output::I32(logits) = output? else { return Err(Error::Because("the network has integer outputs")) };
        let best = logits.iter().enumerate().max_by_key(|(_, logit)| **logit);
        defmt::println!("a {=usize} is classified as {=usize}: {}", digit, best.map_or(0, |(class, _)| class), logits);
    }
    let mut bytes = [0; PIXELS];
    let (own, other, spare) = (&mut [], &mut [], &mut []);
    let workspace = workspace.as_mut();
    let signature = signature(&plan, Buffers { own, other, spare, bytes: &mut bytes, words: &mut [], workspace })?;
    defmt::println!("signature {=u64:016x}", signature);
    Ok(())
}
