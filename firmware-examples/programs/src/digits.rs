//! A dense network in flash: ten images of digits, classified by the int8 classifier of tests/reference.
//!
//! The container is read in place; the only memory that the network needs is the scratch below. Its sizes, and the
//! wrapper in whose types they are, come from `host-tools codegen`: an image of another length would not compile.

pub mod model;

use crate::Error;
use crate::mark::counted;

/// One image of each digit, 0 to 9, from the classifier's test split.
static IMAGES: &[u8] = include_bytes!("digits.images.bin");

/// The darkest pixel in the images.
const PIXEL_MAX: u32 = 16;

/// Classifies the images, then prints the network's signature.
///
/// # Errors
/// What the runtime refuses; nothing, as long as memory holds what the build put there.
pub fn run() -> Result<(), Error> {
    let network = model::Network::open()?;
    let mut scratch = model::Scratch::new();
    defmt::println!(
        "digits: {=usize} bytes, {=usize} inputs, workspace {=usize} bytes",
        model::LEN_BYTES,
        model::INPUT_LEN,
        model::WORKSPACE_LEN_BYTES,
    );
    let (images, _) = IMAGES.as_chunks::<{ model::INPUT_LEN }>();
    for (digit, image) in images.iter().enumerate() {
        // A real pixel is p / 16, and the input's unit is 1 / 127.
        let input = image.map(|pixel| ((u32::from(pixel) * 127 + PIXEL_MAX / 2) / PIXEL_MAX) as u8);
        let logits = counted(|| network.run(&input, &mut scratch))?;
        let best = logits.iter().enumerate().max_by_key(|(_, logit)| **logit);
        defmt::println!("a {=usize} is classified as {=usize}: {}", digit, best.map_or(0, |(class, _)| class), logits);
    }
    let signature = network.signature(&mut scratch)?;
    if signature != model::SIGNATURE {
        return Err(Error::Because("the signature is not the one that the host computed"));
    }
    defmt::println!("signature {=u64:016x}", signature);
    Ok(())
}
