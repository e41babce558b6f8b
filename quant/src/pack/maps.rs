//! Operations on maps as records, and back.

use super::error::PackError;
use super::records::{Writer, blank};
use super::tensor::{Orientation, pack_tensor, pack_vector};
use crate::program::{Convolution, Element, Operation, Pairing, PoolKind, ProgramNode, Rounding, Unsupported};
use crate::spatial::Window;
use tamis_runtime::raw::{Layout, OpRecord, WindowRecord, activation, element, op};

impl<'p> Writer<'p, '_> {
    /// The record of an operation on maps, with its tensors.
    pub(super) fn maps(&mut self, node: &'p ProgramNode) -> Result<OpRecord, PackError> {
        let with = |kind, params| OpRecord { kind, params, ..blank() };
        Ok(match &node.op {
            Operation::Convolution(convolution) => self.convolution(node, convolution)?,
            Operation::Pool { window, kind, low, high } => {
                let [first, second] = window_record(window, node)?.words();
                let (code, low, high) = match kind {
                    PoolKind::Max => (activation::MAX, *low, *high),
                    PoolKind::Mean => (activation::MEAN, *low, *high),
                    PoolKind::Sum => (activation::SUM, 0, 0),
                };
                OpRecord { activation: code, ..with(op::POOL, [first, second, low as u32, high as u32]) }
            }
            Operation::Elementwise { pairing, multipliers, shift, low, high } => {
                let record = with(op::ELEMENTWISE, [0, 0, *low as u32, *high as u32]);
                let code = match pairing {
                    Pairing::Max => activation::MAX,
                    Pairing::Min => activation::MIN,
                    Pairing::Sum => activation::SUM,
                    Pairing::Product => activation::PRODUCT,
                };
                let record = OpRecord { activation: code, ..record };
                if matches!(pairing, Pairing::Max | Pairing::Min) {
                    record
                } else {
                    let (multipliers, shifts) = self.rounding(node, multipliers, &[*shift as u8])?;
                    OpRecord { multipliers, shifts, ..record }
                }
            }
            Operation::Move { start, steps: [down, across, within] } => {
                with(op::MOVE, [*start as u32, *down as u32, *across as u32, *within as u32])
            }
            Operation::Pad { before: [above, left] } => with(op::PAD, [*above as u32, *left as u32, 0, 0]),
            Operation::Resize { taps } => {
                let numbers: Vec<[u8; 4]> = taps.as_flattened().iter().map(|number| number.to_le_bytes()).collect();
                let multipliers = self.add(pack_vector(&format!("{}.taps", node.name), element::I32, &numbers)?)?;
                OpRecord { multipliers, ..with(op::RESIZE, [0; 4]) }
            }
            other => unreachable!("`{}` has a record of its own", other.word()),
        })
    }

    fn convolution(&mut self, node: &'p ProgramNode, convolution: &'p Convolution) -> Result<OpRecord, PackError> {
        let [first, second] = window_record(&convolution.window, node)?.words();
        // A filter a channel lies by taps, so that neighbouring channels have neighbouring weights.
        let orientation = if convolution.is_depthwise() { Orientation::InputRows } else { Orientation::OutputRows };
        // Of bytes, where all outputs see all channels: four inputs of neighbouring outputs side by side.
        let is_k4 = !convolution.is_depthwise()
            && !convolution.transposed
            && convolution.groups == 1
            && self.program.element(node.read(0)) != Element::I16;
        let layout = if is_k4 { Layout::K4 } else { Layout::Rows };
        let claims = self.sum_claim(&convolution.weights);
        let weights = self.add(pack_tensor(&convolution.weights, layout, orientation, claims)?)?;
        let bias = self.optional(convolution.bias.as_ref())?;
        let kind = if convolution.transposed { op::TRANSPOSED_CONVOLUTION } else { op::CONVOLUTION };
        let record = OpRecord { kind, weights, bias, params: [first, second, 0, 0], ..blank() };
        let Some(Rounding { multipliers, shifts, low, high }) = &convolution.rounding else { return Ok(record) };
        let (multipliers, shifts) = self.rounding(node, multipliers, shifts)?;
        Ok(OpRecord { multipliers, shifts, params: [first, second, *low as u32, *high as u32], ..record })
    }

    fn rounding(&mut self, node: &ProgramNode, multipliers: &[i32], shifts: &[u8]) -> Result<(u32, u32), PackError> {
        let bytes: Vec<[u8; 4]> = multipliers.iter().map(|multiplier| multiplier.to_le_bytes()).collect();
        let multipliers = self.add(pack_vector(&format!("{}.multipliers", node.name), element::I32, &bytes)?)?;
        let bytes: Vec<[u8; 1]> = shifts.iter().map(|shift| [*shift]).collect();
        Ok((multipliers, self.add(pack_vector(&format!("{}.shifts", node.name), element::U8, &bytes)?)?))
    }
}

/// The window as the file holds it.
fn window_record(window: &Window, node: &ProgramNode) -> Result<WindowRecord, PackError> {
    let narrow =
        |pair: [usize; 2]| -> Option<[u8; 2]> { Some([u8::try_from(pair[0]).ok()?, u8::try_from(pair[1]).ok()?]) };
    let record = || {
        Some(WindowRecord {
            kernel: narrow(window.kernel)?,
            stride: narrow(window.stride)?,
            dilation: narrow(window.dilation)?,
            before: narrow(window.before)?,
        })
    };
    record().ok_or_else(|| {
        PackError::from(Unsupported {
            layer: node.name.clone(),
            what: format!("a window of {:?} by {:?}, of up to 255 each", window.kernel, window.stride),
            instead: "use a smaller window, or two layers",
        })
    })
}

/// The window of a record, over an input of this size. What lies behind the map follows from the output's size.
pub(super) fn window_of(record: &OpRecord, transposed: bool, from: [usize; 2], to: [usize; 2]) -> Window {
    let wide = |pair: [u8; 2]| pair.map(usize::from);
    let WindowRecord { kernel, stride, dilation, before } = WindowRecord::of(record);
    let window = Window {
        kernel: wide(kernel),
        stride: wide(stride),
        dilation: wide(dilation),
        before: wide(before),
        after: [0, 0],
    };
    if transposed { window } else { window.trimmed(from, to) }
}
