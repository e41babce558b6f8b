//! Kernels, strides, dilations and padding of convolutions and pools; those of one axis become those of two.

use super::super::error::OnnxError;
use super::Lowering;
use super::call::Call;
use super::layout::Tensor;
use crate::graph::{Shape, Window};

/// The most taps, pixels of padding and so on along an axis.
const MAX_SIDE: i64 = 1 << 16;

/// How padding is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AutoPad {
    /// By `pads`.
    Given,
    /// As many outputs as strides begin; the odd pixel behind.
    SameUpper,
    /// The same; the odd pixel before.
    SameLower,
}

/// Height and width of one or two axes of pixels.
pub(super) fn pair(sides: &[usize], fill: usize) -> [usize; 2] {
    match *sides {
        [height, width] => [height, width],
        [width] => [fill, width],
        _ => [fill, fill],
    }
}

/// A list of `count` integers of at least `least`, `default` where there is none.
pub(super) fn sides(
    call: &Call<'_, '_>,
    name: &str,
    least: i64,
    count: usize,
) -> Result<Option<Vec<usize>>, OnnxError> {
    let Some(ints) = call.ints(name)? else { return Ok(None) };
    let fits = ints.len() == count && ints.iter().all(|int| (least..=MAX_SIDE).contains(int));
    if !fits {
        let expected = format!("{count} integers from {least} to {MAX_SIDE}");
        return Err(call.attribute_error(name, format!("{ints:?}"), &expected));
    }
    Ok(Some(ints.into_iter().map(|int| int as usize).collect()))
}

/// The attribute `auto_pad`; beside another than NOTSET no padding may be given.
pub(super) fn auto_pad(call: &Call<'_, '_>) -> Result<AutoPad, OnnxError> {
    let word = call.text("auto_pad", "NOTSET")?;
    let auto = match word.as_str() {
        "NOTSET" | "VALID" => AutoPad::Given,
        "SAME_UPPER" => AutoPad::SameUpper,
        "SAME_LOWER" => AutoPad::SameLower,
        _ => {
            let found = format!("`{}`", word.escape_debug());
            return Err(call.attribute_error("auto_pad", found, "NOTSET, VALID, SAME_UPPER or SAME_LOWER"));
        }
    };
    let given = call.ints("pads")?.is_some_and(|pads| pads.iter().any(|pad| *pad != 0));
    if given && word != "NOTSET" {
        return Err(call.attribute_error("pads", "given", &format!("none beside auto_pad {word}")));
    }
    Ok(auto)
}

/// The window of a convolution or a pool, of these taps, over pixels of this size.
pub(super) fn window(call: &Call<'_, '_>, kernel: &[usize], size: [usize; 2]) -> Result<Window, OnnxError> {
    let axes = kernel.len();
    let one = |name| -> Result<[usize; 2], OnnxError> {
        Ok(sides(call, name, 1, axes)?.map_or([1; 2], |sides| pair(&sides, 1)))
    };
    let window = Window { stride: one("strides")?, dilation: one("dilations")?, ..Window::of(pair(kernel, 1)) };
    let pads = sides(call, "pads", 0, 2 * axes)?.unwrap_or_else(|| vec![0; 2 * axes]);
    let (before, after) = pads.split_at(axes);
    let same = window.same(size);
    Ok(match auto_pad(call)? {
        AutoPad::Given => Window { before: pair(before, 0), after: pair(after, 0), ..window },
        AutoPad::SameUpper => same,
        AutoPad::SameLower => Window { before: same.after, after: same.before, ..same },
    })
}

impl Lowering<'_, '_> {
    /// A value of N, C and one or two axes of pixels as a map, channels last.
    pub(super) fn map(&mut self, call: &Call<'_, '_>, tensor: &Tensor) -> Result<Tensor, OnnxError> {
        let tensor = self.aligned(tensor)?;
        let rank = tensor.dims.len();
        let (order, size): (&[usize], _) = match rank {
            3 => (&[0, 2, 1], [1, tensor.dims[2]]),
            4 => (&[0, 2, 3, 1], [tensor.dims[2], tensor.dims[3]]),
            5 => return Err(call.unsupported("three axes of pixels")),
            _ => {
                let expected = "N, C and one or two axes of pixels";
                return Err(call.shapes(format!("a value of the shape {:?}", tensor.dims), expected));
            }
        };
        if tensor.fine[0] != 1 {
            return Err(OnnxError::Batch { node: self.place.clone(), batch: tensor.fine[0] });
        }
        let tensor = self.arranged(&tensor, order)?;
        let value = self.shaped(tensor.value, Shape::map(size[0], size[1], tensor.dims[1]))?;
        Ok(Tensor { value, ..tensor })
    }

    /// What a convolution or a pool makes of a map: its channels and its pixels are those of the graph's value.
    pub(super) fn made_map(&self, from: &Tensor, value: usize) -> Tensor {
        let Shape { height, width, channels } = self.shapes[value];
        let dims = match from.dims.len() {
            3 => vec![from.dims[0], channels, width],
            _ => vec![from.dims[0], channels, height, width],
        };
        self.tensor(value, dims, from.order.clone(), from.element)
    }
}
