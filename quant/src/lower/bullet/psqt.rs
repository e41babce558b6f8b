//! Piece-square values: their digits behind the accumulators' own elements, and what the outputs get of them.

use super::Lowering;
use crate::arch::{ElementType, PsqtOf};
use crate::program::{Element, Operation, QuantTensor, Read, Sides, Transformer, Unsupported, Values, requantisation};
use crate::quantised::{PsqtColumns, QuantLayer, head, integer_tail};
use tamis_runtime::raw::MAX_RESCALE_FACTOR;

impl Lowering<'_> {
    /// Where the digits lie, if there are any.
    pub(super) fn psqt_columns(&self) -> Result<Option<PsqtColumns>, Unsupported> {
        PsqtColumns::of(self.net).map_err(|(what, instead)| self.unsupported(0, what, instead))
    }

    /// The rows of features with the digits of their values.
    pub(super) fn with_digits(&self, transformer: &mut Transformer) -> Result<(), Unsupported> {
        let (Some(columns), Some(psqt)) = (self.psqt_columns()?, &self.net.psqt) else { return Ok(()) };
        for (own, values) in [(&mut transformer.rows, &psqt.weights), (&mut transformer.bias, &psqt.bias)] {
            own.values = Values::Int(columns.rows(own.integers(), values.integers()));
            own.outputs = columns.width();
        }
        Ok(())
    }

    /// Elements at the end of each accumulator that the layers do not read.
    pub(super) fn left_out(&self) -> usize {
        self.program.width() - self.net.layers[0].weights.outputs
    }

    /// The weights of a layer that reads whole accumulators.
    pub(super) fn dot_weights(&self, second: &QuantLayer) -> Result<QuantTensor, Unsupported> {
        let mut weights = self.tensor(1, &second.weights);
        if let Some(columns) = self.psqt_columns()? {
            weights.values = Values::Int(columns.inputs(weights.integers(), weights.outputs));
            weights.inputs = weights.integers().len() / weights.outputs;
        }
        Ok(weights)
    }

    /// The values, in the unit in which the outputs are added up: reals before their scale, or integers behind it.
    pub(super) fn psqt(&mut self, accumulators: Read) -> Result<Option<usize>, Unsupported> {
        let net = self.net;
        let (Some(columns), Some(of), Some(psqt)) = (self.psqt_columns()?, net.arch.psqt_of(), &net.psqt) else {
            return Ok(None);
        };
        let sides = match (of, net.arch.input.other_first) {
            (PsqtOf::Own, false) => Sides::First,
            (PsqtOf::Own, true) => Sides::Second,
            (PsqtOf::Difference | PsqtOf::HalfDifference, false) => Sides::FirstLessSecond,
            (PsqtOf::Difference | PsqtOf::HalfDifference, true) => Sides::SecondLessFirst,
        };
        let outputs = net.arch.output_count();
        let op = Operation::FeatureSums {
            digits: columns.digits.count as usize,
            bits: columns.digits.bits,
            sides,
            is_bucketed: columns.numbers > outputs,
        };
        let sums = self.program.push("psqt.sums".to_owned(), vec![accumulators], op, Element::I32, outputs);
        let halves = if of == PsqtOf::HalfDifference { 2 } else { 1 };
        let scale = i64::from(psqt.weights.multiplier()) * halves;
        let tail = integer_tail(&net.arch).map_err(|(layer, what, instead)| self.unsupported(layer, what, instead))?;
        let Some(head) = head(&net.arch).or_else(|| tail.map(|tail| tail.head)) else {
            let op = Operation::Dequantise { factor: (1.0 / scale as f64) as f32, bias: None };
            let read = vec![Read::whole(sums)];
            return Ok(Some(self.program.push("psqt.reals".to_owned(), read, op, Element::F32, outputs)));
        };
        let unsupported = || {
            let what = format!("piece-square values of scale {scale} at an output scale of {}", head.factor);
            self.unsupported(0, what, "use lower ones")
        };
        let op = if head.is_rounded {
            let factor = requantisation(f64::from(head.factor) / scale as f64);
            let (multiplier, shift) = factor.ok_or_else(unsupported)?;
            let (multipliers, shifts) = (vec![multiplier; outputs], vec![shift as u8; outputs]);
            Operation::Requantise { multipliers, shifts, low: i32::MIN, high: i32::MAX }
        } else {
            let divisor = i32::try_from(scale).map_err(|_| unsupported())?;
            if head.factor > MAX_RESCALE_FACTOR {
                return Err(unsupported());
            }
            let bias = QuantLayer::without_bias(&psqt.weights);
            let zeros = QuantTensor::vector(bias.name, ElementType::I32, outputs, Values::Int(vec![0; outputs]));
            Operation::Rescale { bias: zeros, pre: 1, factor: head.factor, divisor }
        };
        Ok(Some(self.program.push("psqt.head".to_owned(), vec![Read::whole(sums)], op, Element::I32, outputs)))
    }

    /// Adds the values to what an integer head has made.
    pub(super) fn add_psqt(&mut self, psqt: Option<usize>) {
        let Some(psqt) = psqt else { return };
        let reads = vec![Read::whole(self.program.nodes.len()), Read::whole(psqt)];
        self.program.push("value".to_owned(), reads, Operation::Add, Element::I32, self.net.arch.output_count());
    }
}
