//! `minimal_keywords` with a softmax behind the network, as classifiers are often trained: probabilities in f32 come
//! out. No log; the exit status says whether the answers are right.

use core::hint::black_box;
use tamis_runtime::format::Model;
use tamis_runtime::kernels::scalar;
use tamis_runtime::{Input, Output, Plan, Workspace, include_model};

/// The network of `keywords`, ended by a softmax; `firmware-examples/run` writes the file.
static MODEL: &[u8] = include_model!("../../target/softmax.quantised.bin");
static INPUTS: &[u8] = include_bytes!("keywords.inputs.bin");

/// Inputs of the network: 49 frames of 10 coefficients.
const COEFFICIENTS: usize = 490;
/// Scratch memory in bytes, what `inspect` calls the workspace.
const WORKSPACE: usize = 16_000;
/// What the first two spectrograms are.
const WORDS: [usize; 2] = [0, 1];

/// Memory for the network, best a static.
pub type Scratch = Workspace<WORKSPACE>;

/// Whether the network knows both words.
pub fn run(scratch: &mut Scratch) -> bool {
    match &Model::parse(black_box(MODEL)) {
        Ok(model) => classify(model, scratch.as_mut()),
        Err(_) => false,
    }
}

/// A call of its own, so that the stack of the loader and that of the network are not there at once.
#[inline(never)]
fn classify(model: &Model<'_>, scratch: &mut [u8]) -> bool {
    let plan = Plan::new(*model, &scalar::KERNELS);
    let (inputs, _) = INPUTS.as_chunks::<COEFFICIENTS>();
    inputs.iter().zip(WORDS).all(|(input, word)| {
        let input = input.map(u8::cast_signed);
        match plan.run(Input::I8(&input), 0, scratch) {
            Ok(Output::F32(probabilities)) => {
                let best = probabilities.iter().enumerate().max_by(|(_, a), (_, b)| a.total_cmp(b));
                best.is_some_and(|(class, _)| class == word)
            }
            _ => false,
        }
    })
}
