//! A convolutional network in flash: which of twelve words four spectrograms are, by the network of
//! tests/reference/train_keywords.py, as large as MLPerf Tiny's keyword spotter.
//!
//! Its maps lie in the scratch memory, which `host-tools` planned: 16,000 bytes, whatever passes through.

pub mod model;

use crate::Error;
use crate::mark::counted;

/// 49 frames of 10 coefficients each, i8 as a front end stores them, which are the network's own integers: silence, an
/// unknown word, words 5 and 11; the first of each in the test set.
static INPUTS: &[u8] = include_bytes!("keywords.inputs.bin");

/// What they are.
const WORDS: [usize; 4] = [0, 1, 5, 11];

/// Classifies the spectrograms, then prints the network's signature.
///
/// # Errors
/// What the runtime refuses; nothing, as long as memory holds what the build put there.
pub fn run() -> Result<(), Error> {
    let network = model::Network::open()?;
    let mut scratch = model::Scratch::new();
    defmt::println!(
        "keywords: {=usize} bytes, {=usize} frames of {=usize} coefficients, workspace {=usize} bytes",
        model::LEN_BYTES,
        model::INPUT_HEIGHT,
        model::INPUT_WIDTH,
        model::WORKSPACE_LEN_BYTES,
    );
    let (inputs, _) = INPUTS.as_chunks::<{ model::INPUT_LEN }>();
    for (word, input) in WORDS.iter().zip(inputs) {
        let input = input.map(u8::cast_signed);
        let logits = counted(|| network.run(&input, &mut scratch))?;
        let best = logits.iter().enumerate().max_by_key(|(_, logit)| **logit);
        defmt::println!("word {=usize} is taken for {=usize}: {}", word, best.map_or(0, |(class, _)| class), logits);
    }
    let signature = network.signature(&mut scratch)?;
    if signature != model::SIGNATURE {
        return Err(Error::Because("the signature is not the one that the host computed"));
    }
    defmt::println!("signature {=u64:016x}", signature);
    Ok(())
}
