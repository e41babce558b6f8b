//! From a record to an operation on maps with its operands.

use super::window::{Geometry, Map};
use super::{Maps, Rounding, Second, Weights, Work};
use crate::format::{Model, OpRecord, WindowRecord, op};
use crate::step::{Banks, place};

impl<'a> Maps<'a> {
    /// Looks everything up; `None` for a kind that is not defined, which the loader rules out.
    pub(crate) fn resolve(model: &Model<'a>, record: &OpRecord) -> Option<Self> {
        let value = |index: u32| model.values().get(index as usize);
        let (from, to) = (Map::of(value(record.input)?), Map::of(value(record.output)?));
        let second = value(record.second).map(|second| Second {
            place: place(model, record.second, 0, second.len),
            is_input: record.second == 0,
            map: Map::of(second),
        });
        let integers = |index: u32| Banks::<i32>::new(model.tensor(index)).bank(0);
        let shifts = Banks::<u8>::new(model.tensor(record.shifts)).bank(0);
        let multipliers = integers(record.multipliers);
        let [p0, p1, p2, p3] = record.params;
        let (low, high) = (p2 as i32, p3 as i32);
        let geometry = Geometry::of(WindowRecord::of(record), record.kind == op::TRANSPOSED_CONVOLUTION);
        let work = match record.kind {
            op::CONVOLUTION | op::TRANSPOSED_CONVOLUTION => {
                let tensor = model.tensor(record.weights)?;
                let (rows, cols) = (tensor.record.rows as usize, tensor.record.cols as usize);
                let taps = geometry.kernel[0] * geometry.kernel[1];
                let banks = Banks::new(Some(tensor));
                let weights = if is_depthwise(record.kind, [rows, cols], taps, [from.channels, to.channels]) {
                    Weights::Depthwise(banks)
                } else {
                    let groups = (taps * from.channels).checked_div(cols)?;
                    Weights::Rows { weights: banks, groups }
                };
                let rounding = Rounding { multipliers, shifts, low, high };
                Work::Convolution { geometry, weights, bias: integers(record.bias), rounding }
            }
            op::POOL => Work::Pool { geometry, code: record.activation, low, high },
            op::ELEMENTWISE => {
                // Maxima and minima have none.
                let multipliers = if let [first, second] = *multipliers { [first, second] } else { [0; 2] };
                let shift = shifts.first().map_or(1, |shift| u32::from(*shift));
                Work::Elementwise { code: record.activation, multipliers, shift, low, high }
            }
            op::MOVE => Work::Move { start: p0, steps: [p1 as i32, low, high] },
            op::PAD => Work::Pad { before: [p0, p1] },
            op::RESIZE => Work::Resize { taps: multipliers },
            _ => return None,
        };
        Some(Self { work, from, to, second })
    }
}

/// Whether a convolution has a filter for every channel, whose weights lie by taps: a matrix of (taps, channels). One
/// of that shape with a row an output would have as many taps as channels and one channel to read; then both are the same
/// but for the order, and this is it.
pub const fn is_depthwise(kind: u32, [rows, cols]: [usize; 2], taps: usize, channels: [usize; 2]) -> bool {
    kind == op::CONVOLUTION && channels[0] == channels[1] && channels[0] > 1 && rows == taps && cols == channels[0]
}
