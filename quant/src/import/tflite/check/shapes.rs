//! Whether what an operator makes has the shape that follows from what it reads. The shapes of what only moves
//! numbers about are found where it is lowered.

use crate::import::tflite::error::TfliteError;
use crate::import::tflite::operators::Known;
use crate::import::tflite::types::{Element, Model, Operator, Options, Padding};
use crate::spatial::Window;

/// Checks it.
pub(super) fn check(model: &Model<'_>, operator: &Operator, known: Known) -> Result<(), TfliteError> {
    let rule = Rule { model, operator };
    let made = match known {
        Known::Conv | Known::DepthwiseConv => rule.convolution(known == Known::DepthwiseConv)?,
        Known::TransposeConv => return rule.transposed(),
        Known::AveragePool | Known::MaxPool => rule.pool()?,
        Known::FullyConnected => return rule.dense(),
        Known::Add | Known::Sub | Known::Mul | Known::Div | Known::Maximum | Known::Minimum | Known::PRelu => {
            rule.broadcast()?
        }
        Known::Concatenation => rule.concatenation()?,
        Known::Abs
        | Known::Elu
        | Known::Exp
        | Known::HardSwish
        | Known::LeakyRelu
        | Known::Logistic
        | Known::LogSoftmax
        | Known::Neg
        | Known::Relu
        | Known::Relu6
        | Known::ReluN1To1
        | Known::Softmax
        | Known::Sqrt
        | Known::Square
        | Known::Tanh
        | Known::Quantize
        | Known::Dequantize => rule.dims(0).to_vec(),
        _ => return Ok(()),
    };
    let output = operator.outputs[0];
    if model.tensors[output].dims == made {
        return Ok(());
    }
    let found = model.tensors[output].shape();
    let expected = format!("{made:?}, as {} makes of its inputs", operator.builtin.name());
    Err(TfliteError::malformed(model.place(output), "the shape", found, expected))
}

struct Rule<'m, 'a> {
    model: &'m Model<'a>,
    operator: &'m Operator,
}

impl Rule<'_, '_> {
    /// Of an input, which is there.
    fn dims(&self, index: usize) -> &[usize] {
        let input = self.operator.inputs.get(index).copied().flatten();
        input.map_or(&[], |input| &self.model.tensors[input].dims)
    }

    fn no(&self, what: &'static str, found: impl ToString, expected: impl ToString) -> TfliteError {
        TfliteError::malformed(&*self.operator.place, what, found, expected)
    }

    fn map(&self, index: usize, what: &'static str) -> Result<[usize; 4], TfliteError> {
        let dims = self.dims(index);
        dims.try_into().map_err(|_| self.no(what, format!("{dims:?}"), "four dimensions"))
    }

    /// As many numbers as outputs.
    fn bias(&self, index: usize, outputs: usize) -> Result<(), TfliteError> {
        let Some(bias) = self.operator.inputs.get(index).copied().flatten() else { return Ok(()) };
        let tensor = &self.model.tensors[bias];
        if tensor.len() != outputs {
            return Err(self.no("the length of its bias", tensor.len(), outputs));
        }
        match tensor.element {
            Element::F32 | Element::F16 | Element::I32 | Element::I64 => Ok(()),
            other => Err(self.no("the type of its bias", other.word(), "float32 or int32")),
        }
    }

    /// Places of the window, height and width.
    fn outputs(&self, size: [usize; 2], kernel: [usize; 2]) -> Result<[usize; 2], TfliteError> {
        let Options::Window { padding, stride, dilation, .. } = self.operator.options else {
            return Err(self.no("its options", "none", "padding and strides"));
        };
        let window = Window { stride, dilation, ..Window::of(kernel) };
        self.places(if padding == Padding::Same { window.same(size) } else { window }, size)
    }

    /// Places of a window in a map of so many pixels.
    fn places(&self, window: Window, size: [usize; 2]) -> Result<[usize; 2], TfliteError> {
        window.outputs(size).ok_or_else(|| {
            let expected = format!("one that fits the input's {size:?} without padding");
            self.no("its window", format!("{:?}", window.kernel), expected)
        })
    }

    fn convolution(&self, depthwise: bool) -> Result<Vec<usize>, TfliteError> {
        let [batch, height, width, channels] = self.map(0, "the shape of its input")?;
        let [first, down, across, last] = self.map(1, "the shape of its weights")?;
        let found = || format!("{:?}", self.dims(1));
        let outputs = if depthwise {
            if first != 1 || last % channels != 0 {
                let expected = format!("[1, height, width, a multiple of {channels}], the input's channels");
                return Err(self.no("the shape of its weights", found(), expected));
            }
            if let Options::Window { multiplier, .. } = self.operator.options
                && multiplier != 0
                && multiplier.checked_mul(channels) != Some(last)
            {
                let expected = format!("{}, as {channels} inputs and {last} outputs say", last / channels);
                return Err(self.no("depth_multiplier", multiplier, expected));
            }
            last
        } else {
            if !channels.is_multiple_of(last) || !first.is_multiple_of(channels / last) {
                let expected = format!("[outputs, height, width, {channels} or a part of it], the input's channels");
                return Err(self.no("the shape of its weights", found(), expected));
            }
            first
        };
        self.bias(2, outputs)?;
        let [height, width] = self.outputs([height, width], [down, across])?;
        Ok(vec![batch, height, width, outputs])
    }

    fn transposed(&self) -> Result<(), TfliteError> {
        let [.., channels] = self.map(2, "the shape of its input")?;
        let [outputs, .., inputs] = self.map(1, "the shape of its weights")?;
        if inputs != channels {
            return Err(self.no("the inputs of its weights", inputs, channels));
        }
        self.bias(3, outputs)
    }

    fn pool(&self) -> Result<Vec<usize>, TfliteError> {
        let [batch, height, width, channels] = self.map(0, "the shape of its input")?;
        let window = self.operator.options.pool([height, width]);
        let window = window.ok_or_else(|| self.no("its options", "none", "a window"))?;
        let [height, width] = self.places(window, [height, width])?;
        Ok(vec![batch, height, width, channels])
    }

    fn dense(&self) -> Result<(), TfliteError> {
        let [outputs, inputs] = *self.dims(1) else {
            return Err(self.no("the shape of its weights", format!("{:?}", self.dims(1)), "two dimensions"));
        };
        self.bias(2, outputs)?;
        let len: usize = self.dims(0).iter().product();
        if !len.is_multiple_of(inputs) {
            return Err(self.no("the number of its inputs", len, format!("a multiple of {inputs}, its weights'")));
        }
        let made = self.model.tensors[self.operator.outputs[0]].dims.as_slice();
        let expected = (len / inputs).checked_mul(outputs);
        if made.last() == Some(&outputs) && expected == Some(made.iter().product()) {
            return Ok(());
        }
        Err(self.no("the shape of what it makes", format!("{made:?}"), format!("{} times {outputs}", len / inputs)))
    }

    fn broadcast(&self) -> Result<Vec<usize>, TfliteError> {
        let (a, b) = (self.dims(0), self.dims(1));
        let rank = a.len().max(b.len());
        let of = |dims: &[usize], axis: usize| (axis + dims.len()).checked_sub(rank).map_or(1, |axis| dims[axis]);
        let along = |axis: usize| match (of(a, axis), of(b, axis)) {
            (a, b) if a == b => Ok(a),
            (1, other) | (other, 1) => Ok(other),
            _ => Err(self.no("the shape of its second input", format!("{b:?}"), format!("one that fits {a:?}"))),
        };
        (0..rank).map(along).collect()
    }

    fn concatenation(&self) -> Result<Vec<usize>, TfliteError> {
        let mut made = self.dims(0).to_vec();
        let Options::Axis { axis, .. } = self.operator.options else {
            return Err(self.no("its options", "none", "an axis"));
        };
        let axis = super::super::moves::axis_of(axis.into(), made.len())
            .ok_or_else(|| self.no("its axis", axis, format!("one of {} axes", made.len())))?;
        for index in 1..self.operator.inputs.len() {
            let dims = self.dims(index);
            let alike =
                dims.len() == made.len() && (0..made.len()).all(|other| other == axis || dims[other] == made[other]);
            if !alike {
                let expected = format!("that of the first, {made:?}, but for axis {axis}");
                return Err(self.no("the shape of an input", format!("{dims:?}"), expected));
            }
            made[axis] = made[axis].saturating_add(dims[axis]);
        }
        Ok(made)
    }
}
