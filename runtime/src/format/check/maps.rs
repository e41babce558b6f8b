//! What the operations on maps demand.

use super::ops::Operation;
use super::{Kind, Refused};
use crate::features::MAPS;
use crate::format::records::{activation, element, op};
use crate::format::{Layout, NONE, ValueRecord, WindowRecord, is_depthwise};

/// The bytes and i16 that maps are of.
const NARROW: [u32; 3] = [element::U8, element::I8, element::I16];
/// Weights of the two neighbours of an axis, in RESIZE.
const ONE: i32 = 1024;

/// Height, width and channels.
fn axes(value: &ValueRecord) -> [u32; 3] {
    let [height, width] = value.pixels();
    // Pixels divide the length, as the loader has checked, and are not 0, as the compiler does not know.
    [height, width, value.len / (height * width).max(1)]
}

/// Whether two maps have one shape. Not by `==`, with which firmware gets a comparison of memory.
fn alike(one: [u32; 3], other: [u32; 3]) -> bool {
    one.iter().eq(&other)
}

impl Operation<'_, '_> {
    /// All of a value is read, and of the second one; and whatever the bucket is, by the same tensors.
    fn reads_whole(&self) -> Result<(), Refused> {
        let record = self.record;
        let whole = record.input_start == 0 && record.input_len == self.input.len && record.second_start == 0;
        self.need(whole, "op.input_len", record.input_len, "all of the value")?;
        let tensors = [record.weights, record.bias, record.multipliers, record.shifts];
        let tensors = tensors.iter().filter_map(|index| self.model.tensor(*index));
        let banks = tensors.fold(1, |most, tensor| most.max(tensor.record.banks));
        self.need(banks == 1, "tensor.banks", banks, "1 of an operation on maps")
    }

    /// The same of bytes or i16.
    fn reads_narrow(&self) -> Result<(), Refused> {
        self.reads_whole()?;
        let from = self.input.element();
        self.need(NARROW.contains(&from), "op.input", from, "a value of u8, i8 or i16")
    }

    pub(super) fn convolution(&self) -> Result<(), Refused> {
        let (record, to) = (self.record, self.output.element());
        self.reads_narrow()?;
        self.activation(0)?;
        self.need(
            self.input.element() != element::I16 || self.input.zero == 0,
            "value.zero",
            self.input.zero as u32,
            "0 of i16 that a convolution reads",
        )?;
        let window = self.window(MAPS && record.kind == op::TRANSPOSED_CONVOLUTION)?;
        let ([.., channels], [.., outputs]) = (axes(self.input), axes(self.output));
        let taps = u32::from(window.kernel[0]) * u32::from(window.kernel[1]);
        let weights = self.model.tensor(record.weights);
        let weights = weights.ok_or_else(|| self.fault("op.weights", record.weights, "a tensor that exists"))?;
        let (rows, cols) = (weights.record.rows, weights.record.cols);
        let shape = [rows as usize, cols as usize];
        // Of bytes, where all outputs read all channels.
        let mut layouts: &[Layout] = &[Layout::Rows];
        if !is_depthwise(record.kind, shape, taps as usize, [channels as usize, outputs as usize]) {
            // Groups of as many inputs as a row has for each tap.
            let inputs = cols.checked_div(taps).filter(|inputs| inputs * taps == cols);
            let divides = inputs.is_some_and(|inputs| {
                inputs > 0 && channels.is_multiple_of(inputs) && outputs.is_multiple_of(channels / inputs)
            });
            self.need(
                rows == outputs && divides,
                "op.weights",
                cols,
                "a row an output, a column a tap and input of its group",
            )?;
            let is_one = inputs == Some(channels) && record.kind == op::CONVOLUTION;
            if is_one && self.input.element() != element::I16 {
                layouts = &[Layout::K4, Layout::Rows];
            }
            if !MAPS && weights.layout != Layout::K4 {
                return Err(self.checker.missing("op.weights", record.weights, Kind::Maps));
            }
        }
        self.tensor(record.weights, "op.weights", &[element::I8], layouts, rows, cols)?;
        self.optional(record.bias, "op.bias", element::I32, outputs)?;
        if to == element::I32 {
            self.no_tensors(&[record.multipliers, record.shifts, record.second])?;
            return self.zeros(&[record.params[2], record.params[3]]);
        }
        self.need(NARROW.contains(&to), "op.output", to, "a value of u8, i8, i16 or i32")?;
        let has_second = record.second != NONE;
        if has_second {
            self.second(true)?;
        }
        self.rounding(if has_second { 2 * outputs } else { outputs }, outputs)?;
        self.clamps(record.params[2], record.params[3], to, "op.params[2]")
    }

    /// A window of taps and steps from 1 on, each place of which begins in the map or in the padding before it.
    fn window(&self, is_transposed: bool) -> Result<WindowRecord, Refused> {
        let window = WindowRecord::of(self.record);
        let word = self.record.params[0];
        let steps = [window.kernel, window.stride, window.dilation];
        self.need(
            steps.as_flattened().iter().all(|step| *step > 0),
            "op.params[0]",
            word,
            "a window of steps from 1 on",
        )?;
        let ([high, wide, _], [rows, columns, _]) = (axes(self.input), axes(self.output));
        let (first, last) =
            if is_transposed { ([rows, columns], [high, wide]) } else { ([high, wide], [rows, columns]) };
        let WindowRecord { kernel, stride, dilation, before } = window;
        // Places times strides, at most 2^24 of both. Indexes of constants, so that no code is there for wrong ones.
        let fits = |first: u32, last: u32, [kernel, stride, dilation, before]: [u8; 4]| {
            let reach = (u32::from(kernel) - 1) * u32::from(dilation);
            let places = u64::from(last - 1) * u64::from(stride);
            u32::from(before) <= reach && places < u64::from(first + u32::from(before))
        };
        self.need(
            fits(first[0], last[0], [kernel[0], stride[0], dilation[0], before[0]])
                && fits(first[1], last[1], [kernel[1], stride[1], dilation[1], before[1]]),
            "op.params[1]",
            self.record.params[1],
            "windows that begin before the map ends, and end in it",
        )?;
        Ok(window)
    }

    /// The second map: of the output's shape, or a pixel.
    fn second(&self, is_whole: bool) -> Result<(), Refused> {
        let record = self.record;
        let value = self.checker.value(record.second);
        self.need(NARROW.contains(&value.element()), "op.second", value.element(), "a value of u8, i8 or i16")?;
        let (second, to) = (axes(value), axes(self.output));
        let fits = alike(second, to) || (!is_whole && alike(second, [1, 1, to[2]]));
        self.need(fits, "op.second", record.second, "a value of the output's shape")
    }

    /// Multipliers and shifts of a rounding.
    fn rounding(&self, multipliers: u32, shifts: u32) -> Result<(), Refused> {
        let record = self.record;
        self.tensor(record.multipliers, "op.multipliers", &[element::I32], &[Layout::Rows], multipliers, 1)?;
        let tensor = self.tensor(record.shifts, "op.shifts", &[element::U8], &[Layout::Rows], shifts, 1)?;
        let few = tensor.data.iter().take(shifts as usize).all(|shift| (1..=62).contains(shift));
        self.need(few, "op.shifts", record.shifts, "shifts of 1 to 62")
    }

    pub(super) fn pool(&self) -> Result<(), Refused> {
        let (record, from, to) = (self.record, self.input.element(), self.output.element());
        self.reads_narrow()?;
        self.no_tensors(&[record.weights, record.bias, record.multipliers, record.shifts, record.second])?;
        self.window(false)?;
        let channels = [axes(self.input)[2], axes(self.output)[2]];
        self.need(channels[0] == channels[1], "op.output", channels[1], "as many channels as the input has")?;
        if record.activation == activation::SUM {
            let wide = to == element::I32 || (to == element::I16 && from != element::I16);
            self.need(wide && self.output.zero == 0, "op.output", to, "a value of i16 or i32 whose zero point is 0")?;
            return self.zeros(&[record.params[2], record.params[3]]);
        }
        let is_known = [activation::MAX, activation::MEAN].contains(&record.activation);
        self.need(is_known, "op.activation", record.activation, "15 maximum, 17 mean or 18 sum")?;
        self.same_integers(self.input)?;
        self.clamps(record.params[2], record.params[3], to, "op.params[2]")
    }

    /// The output's element and zero point are those of a value.
    fn same_integers(&self, value: &ValueRecord) -> Result<(), Refused> {
        let same = (value.element, value.zero) == (self.output.element, self.output.zero);
        self.need(same, "op.output", self.output.element(), "the element and the zero point of what is read")
    }

    pub(super) fn elementwise(&self) -> Result<(), Refused> {
        let (record, from, to) = (self.record, self.input.element(), self.output.element());
        self.reads_narrow()?;
        self.no_tensors(&[record.weights, record.bias])?;
        self.zeros(&[record.params[0], record.params[1]])?;
        self.need(record.second != NONE, "op.second", record.second, "a second value")?;
        self.second(false)?;
        let (shape, other) = (axes(self.input), axes(self.checker.value(record.second)));
        let fits =
            alike(shape, axes(self.output)) || (alike(shape, [1, 1, other[2]]) && alike(other, axes(self.output)));
        self.need(fits, "op.input", record.input, "a value of the output's shape, or a pixel beside one")?;
        let second = self.checker.value(record.second);
        match record.activation {
            activation::MAX | activation::MIN => {
                self.no_tensors(&[record.multipliers, record.shifts])?;
                self.same_integers(self.input)?;
                self.same_integers(second)?;
            }
            activation::SUM | activation::PRODUCT => {
                let is_product = record.activation == activation::PRODUCT;
                let bytes = from != element::I16 && second.element() != element::I16;
                self.need(!is_product || bytes, "op.input", from, "bytes that are multiplied")?;
                self.rounding(2, 1)?;
            }
            other => return Err(self.fault("op.activation", other, "15 maximum, 16 minimum, 18 sum or 19 product")),
        }
        self.need(NARROW.contains(&to), "op.output", to, "a value of u8, i8 or i16")?;
        self.clamps(record.params[2], record.params[3], to, "op.params[2]")
    }

    /// Both ends of what is read lie within the value.
    pub(super) fn moved(&self) -> Result<(), Refused> {
        let record = self.record;
        self.reads_whole()?;
        self.no_tensors(&[record.weights, record.bias, record.multipliers, record.shifts, record.second])?;
        self.activation(0)?;
        self.same_integers(self.input)?;
        let [start, steps @ ..] = record.params;
        let (mut least, mut greatest) = (i64::from(start), i64::from(start));
        for (size, step) in axes(self.output).into_iter().zip(steps) {
            let last = i64::from(size - 1) * i64::from(step as i32);
            if last < 0 { least += last } else { greatest += last }
        }
        let fits = least >= 0 && greatest < i64::from(self.input.len);
        self.need(fits, "op.params[0]", start, "elements of the value")
    }

    pub(super) fn pad(&self) -> Result<(), Refused> {
        let record = self.record;
        self.reads_whole()?;
        self.no_tensors(&[record.weights, record.bias, record.multipliers, record.shifts, record.second])?;
        self.activation(0)?;
        self.same_integers(self.input)?;
        let (from, to) = (axes(self.input), axes(self.output));
        for axis in 0..2 {
            let before = record.params[axis];
            let fits = to[axis].checked_sub(from[axis]).is_some_and(|rest| before <= rest);
            self.need(fits, "op.params[0]", before, "a map that lies within the output")?;
        }
        self.need(from[2] == to[2], "op.output", to[2], "as many channels as the input has")?;
        self.zeros(&[record.params[2], record.params[3]])
    }

    pub(super) fn resize(&self) -> Result<(), Refused> {
        let record = self.record;
        self.reads_narrow()?;
        self.no_tensors(&[record.weights, record.bias, record.shifts, record.second])?;
        self.activation(0)?;
        self.same_integers(self.input)?;
        self.zeros(&record.params)?;
        let (from, to) = (axes(self.input), axes(self.output));
        self.need(from[2] == to[2], "op.output", to[2], "as many channels as the input has")?;
        let count = 3 * (to[0] + to[1]);
        let tensor = self.tensor(record.multipliers, "op.multipliers", &[element::I32], &[Layout::Rows], count, 1)?;
        let numbers: &[i32] = crate::workspace::typed(tensor.data);
        for (row, tap) in numbers.as_chunks::<3>().0.iter().enumerate() {
            let size = if row < to[0] as usize { from[0] } else { from[1] } as i32;
            let [first, second, weight] = tap;
            let seen = (0..size).contains(first) && (0..size).contains(second);
            let fits = seen && (0..=ONE).contains(weight);
            self.need(
                fits,
                "op.multipliers",
                row as u32,
                "two pixels of the map and a weight of 0 to 1024 (found: the row)",
            )?;
        }
        Ok(())
    }
}
