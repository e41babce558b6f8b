//! A step on several inputs.

use super::Step;
#[cfg(batches)]
use super::Way;
use crate::input::Input;
use crate::ops::Running;
#[cfg(batches)]
use crate::ops::{Banks, ByInput, Place, Places, Work};
#[cfg(batches)]
use crate::workspace::{range, range_mut, split, typed_mut};

/// Inputs that pass a step together: whole tiles of four and of six.
pub(crate) const INPUTS_AT_ONCE: usize = 24;

impl Step<'_> {
    /// Runs it for each input, in a workspace of its own, `pitch` bytes behind the one before: at most
    /// [`INPUTS_AT_ONCE`]. `on`: what is the same for all, with one's input.
    pub fn run_batch<'r, 'a: 'r>(
        &self,
        on: impl Fn(&'r Input<'r>) -> Running<'r, 'a>,
        inputs: &'r [Input<'r>],
        workspace: &mut [u8],
        pitch: usize,
    ) {
        debug_assert!(inputs.len() <= INPUTS_AT_ONCE);
        #[cfg(batches)]
        if let Some(first) = inputs.first() {
            let on = on(first);
            match &self.way {
                Way::LayerU8(layer) => {
                    let read = (self.places.reads_input, self.places.read);
                    let affine = &layer.affine;
                    sums_of(
                        &on,
                        affine.weights,
                        affine.bias,
                        false,
                        inputs,
                        read,
                        layer.sums,
                        (&mut *workspace, pitch),
                    );
                    for (_, workspace) in inputs.iter().zip(workspace.chunks_mut(pitch)) {
                        layer.round(&on, &self.places, workspace);
                    }
                    return;
                }
                Way::One(Work::AFFINE_I8(layer)) => {
                    let Places { reads_input, read, write, .. } = self.places;
                    let is_signed = matches!(layer.affine, ByInput::I8);
                    let (weights, bias, read) = (layer.weights, layer.bias, (reads_input, read));
                    return sums_of(&on, weights, bias, is_signed, inputs, read, write, (workspace, pitch));
                }
                _ => {}
            }
        }
        for (input, workspace) in inputs.iter().zip(workspace.chunks_mut(pitch)) {
            self.run(&on(input), workspace);
        }
    }
}

/// A dense layer's sums of every input. read: whether it is the network's input that is read, and where · sums: where
/// they go · workspaces: with the bytes from one to the next.
#[cfg(batches)]
#[expect(clippy::too_many_arguments, reason = "what a kernel takes, and where it lies")]
fn sums_of(
    on: &Running<'_, '_>,
    weights: Banks<'_, i8>,
    bias: Banks<'_, i32>,
    is_signed: bool,
    inputs: &[Input<'_>],
    (reads_input, read): (bool, Place),
    sums: Place,
    (workspaces, pitch): (&mut [u8], usize),
) {
    let mut x = heapless::Vec::<&[u8], INPUTS_AT_ONCE>::new();
    let mut out = heapless::Vec::<&mut [i32], INPUTS_AT_ONCE>::new();
    for (input, workspace) in inputs.iter().zip(workspaces.chunks_mut(pitch)) {
        let (from, to) = if reads_input {
            (range(input.bytes(), read.range()), range_mut(workspace, sums.range()))
        } else {
            split(workspace, read.range(), sums.range())
        };
        // There is room for as many as there are inputs.
        let _ = (x.push(from).is_ok(), out.push(typed_mut(to)).is_ok());
    }
    let batch = &on.kernels.batch;
    let call = if is_signed { batch.affine_i8 } else { batch.affine_u8 };
    call(&x, weights.bank(on.bucket), weights.stride, bias.bank(on.bucket), &mut out);
}
