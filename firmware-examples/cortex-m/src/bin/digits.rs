//! A dense network in flash: ten images of digits, classified by the int8 classifier of tests/reference.
//!
//! The container is read in place; the only memory that the network needs is the scratch below.
#![no_std]
#![no_main]

use cortex_m::singleton;
use cortex_m_examples as _;
use cortex_m_rt::entry;
use semihosting::{print, println, process};
use tamis_runtime::format::Model;
use tamis_runtime::kernels::scalar;
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

#[entry]
fn main() -> ! {
    match classify() {
        Ok(()) => process::exit(0),
        Err(error) => {
            println!("{error}");
            process::exit(1)
        }
    }
}

fn classify() -> Result<(), &'static str> {
    let model = Model::parse(MODEL).map_err(|_| "the container is damaged")?;
    let plan = Plan::new(model, &scalar::KERNELS);
    let workspace = singleton!(: Workspace<WORKSPACE> = Workspace::new()).ok_or("the workspace is taken")?.as_mut();
    println!(
        "digits: {} bytes, {} inputs, workspace {} of {WORKSPACE} bytes",
        MODEL.len(),
        model.input().size,
        model.workspace_len_bytes(),
    );
    for (digit, image) in IMAGES.chunks_exact(PIXELS).enumerate() {
        // A real pixel is p / 16, and the input's unit is 1 / 127.
        let mut input = [0; PIXELS];
        for (value, pixel) in input.iter_mut().zip(image) {
            *value = ((u32::from(*pixel) * 127 + PIXEL_MAX / 2) / PIXEL_MAX) as u8;
        }
        let output = plan.run(Input::U8(&input), 0, workspace).map_err(|_| "the plan refused its input")?;
        let Output::I32(logits) = output else { return Err("the network has integer outputs") };
        let best = logits.iter().enumerate().max_by_key(|(_, logit)| **logit);
        print!("a {digit} is classified as {}:", best.map_or(0, |(class, _)| class));
        for logit in logits {
            print!(" {logit}");
        }
        println!();
    }
    let mut bytes = [0; PIXELS];
    let (own, other, spare) = (&mut [], &mut [], &mut []);
    let buffers = Buffers { own, other, spare, bytes: &mut bytes, words: &mut [], workspace };
    let signature = signature(&plan, buffers).map_err(|_| "the signature's buffers do not fit")?;
    println!("signature {signature:016x} on {}", plan.kernels().name);
    Ok(())
}
