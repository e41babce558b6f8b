//! `minimal` with convolutions: the network of `keywords`, which host-tools has checked and of which only the checksum
//! is looked at, says which words two spectrograms are. No log; the exit status says whether the answers are right.

#[path = "keywords/model.rs"]
mod model;

use model::{INPUT_LEN, Network, WORKSPACE_LEN_BYTES};
use tamis_runtime::kernels::scalar;
use tamis_runtime::{Input, Output, Workspace};

static INPUTS: &[u8] = include_bytes!("keywords.inputs.bin");

/// What the first two spectrograms are.
const WORDS: [usize; 2] = [0, 1];

/// Memory for the network, best a static.
pub type Scratch = Workspace<WORKSPACE_LEN_BYTES>;

/// Whether the network knows both words.
pub fn run(scratch: &mut Scratch) -> bool {
    match Network::open_checked_on(&scalar::KERNELS) {
        Ok(network) => classify(&network, scratch.as_mut()),
        Err(_) => false,
    }
}

/// A call of its own, so that the stack of the loader and that of the network are not there at once.
#[inline(never)]
fn classify(network: &Network, scratch: &mut [u8]) -> bool {
    let (inputs, _) = INPUTS.as_chunks::<INPUT_LEN>();
    inputs.iter().zip(WORDS).all(|(input, word)| {
        let input = input.map(u8::cast_signed);
        match network.plan().run(Input::I8(&input), 0, scratch) {
            Ok(Output::I32(logits)) => {
                let best = logits.iter().enumerate().max_by_key(|(_, logit)| **logit);
                best.is_some_and(|(class, _)| class == word)
            }
            _ => false,
        }
    })
}
