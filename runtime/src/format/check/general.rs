//! What the operations of general networks demand: those on sparse inputs, embeddings, tables, trees, and between
//! integers and reals.

use super::Refused;
use super::ops::Operation;
use crate::features::MAPS;
use crate::format::Layout;
use crate::format::records::{element, input_kind};
use crate::format::{activation, op};

/// Upper limit of a multiplier.
const I32_MAX: u32 = i32::MAX as u32;
/// Upper limit of what sums are clipped to.
const I16_MAX: u32 = i16::MAX as u32;
/// Upper limit of a shift of sums.
const MAX_SHIFT: u32 = 31;
/// Rows of a table: one for every byte.
const TABLE_LEN: u32 = 256;

impl Operation<'_, '_> {
    pub(super) fn concat(&self) -> Result<(), Refused> {
        let record = self.record;
        let (from, to) = (self.input.element(), self.output.element());
        let (n, m) = (record.input_len, self.output.len);
        self.has_no_rounding()?;
        self.no_tensors(&[record.weights, record.bias])?;
        self.need(from == to, "op.output", to, "a value of the input's element")?;
        let [runs, rest @ ..] = record.params;
        if MAPS {
            let runs = runs.max(1);
            let fits = n.is_multiple_of(runs) && m.is_multiple_of(runs);
            self.need(fits, "op.params[0]", runs, "runs that divide both values")?;
        } else {
            self.zeros(&[runs])?;
        }
        self.zeros(&rest)
    }

    pub(super) fn add_i32(&self) -> Result<(), Refused> {
        let record = self.record;
        self.has_no_rounding()?;
        self.no_tensors(&[record.weights, record.bias])?;
        self.elements(element::I32, element::I32)?;
        self.same_len()?;
        self.zeros(&record.params)
    }

    pub(super) fn lookup(&self) -> Result<(), Refused> {
        let (record, from, to) = (self.record, self.input.element(), self.output.element());
        self.has_no_rounding()?;
        let bytes = [element::U8, element::I8];
        self.need(bytes.contains(&from), "op.input", from, "a value of u8 or i8")?;
        self.need(bytes.contains(&to), "op.output", to, "a value of u8 or i8")?;
        self.same_len()?;
        self.tensor(record.weights, "op.weights", &[to], &[Layout::Rows], TABLE_LEN, 1)?;
        self.no_tensors(&[record.bias])?;
        self.zeros(&record.params)
    }

    pub(super) fn affine_i16(&self) -> Result<(), Refused> {
        let (record, n, m) = (self.record, self.record.input_len, self.output.len);
        self.has_no_rounding()?;
        self.elements(element::I16, element::I32)?;
        self.tensor(record.weights, "op.weights", &[element::I8, element::I16], &[Layout::Rows], m, n)?;
        self.optional(record.bias, "op.bias", element::I32, m)?;
        self.zeros(&record.params)
    }

    pub(super) fn affine_i32(&self) -> Result<(), Refused> {
        let (record, n, m) = (self.record, self.record.input_len, self.output.len);
        let ([max, shift, rest @ ..], code) = (record.params, record.activation);
        self.no_tensors(&[record.multipliers, record.shifts])?;
        self.elements(element::I32, element::I32)?;
        let (most, cols) = match code {
            activation::IDENTITY | activation::RELU => (0..=0, n),
            activation::CRELU | activation::SCRELU => (1..=I16_MAX, n),
            activation::SQRRELU => (I16_MAX..=I16_MAX, n),
            activation::DUAL_CRELU => (1..=I16_MAX, n.saturating_mul(2)),
            other => return Err(self.fault("op.activation", other, "1, 2, 3, 4, 5 or 7")),
        };
        self.need(
            most.contains(&max),
            "op.params[0]",
            max,
            "0 of identity and ReLU, 32767 of SqrReLU, else 1 to 32767",
        )?;
        self.need(shift <= MAX_SHIFT, "op.params[1]", shift, "a shift of 0 to 31")?;
        let elements = [element::I8, element::I16, element::I32];
        self.tensor(record.weights, "op.weights", &elements, &[Layout::Rows], m, cols)?;
        self.optional(record.bias, "op.bias", element::I32, m)?;
        self.zeros(&rest)
    }

    pub(super) fn to_f32(&self) -> Result<(), Refused> {
        let (record, from, to) = (self.record, self.input.element(), self.output.element());
        let [factor, zero, rest @ ..] = record.params;
        self.has_no_rounding()?;
        self.no_tensors(&[record.weights, record.bias])?;
        let small = [element::U8, element::I8, element::I16].contains(&from);
        self.need(small, "op.input", from, "a value of u8, i8 or i16")?;
        self.need(to == element::F32, "op.output", to, "a value of f32")?;
        self.same_len()?;
        self.finite(factor, "op.params[0]")?;
        self.zero_point(zero, "op.params[1]")?;
        self.zeros(&rest)
    }

    pub(super) fn quantise(&self) -> Result<(), Refused> {
        let (record, from, to) = (self.record, self.input.element(), self.output.element());
        let [inverse, low, high, zero] = record.params;
        self.has_no_rounding()?;
        self.no_tensors(&[record.weights, record.bias])?;
        self.need(from == element::F32, "op.input", from, "a value of f32")?;
        let small = [element::U8, element::I8, element::I16].contains(&to);
        self.need(small, "op.output", to, "a value of u8, i8 or i16")?;
        self.same_len()?;
        self.finite(inverse, "op.params[0]")?;
        self.clamps(low, high, to, "op.params[1]")?;
        self.zero_point(zero, "op.params[3]")
    }

    /// Neither multipliers nor shifts, nor an activation.
    fn has_no_rounding(&self) -> Result<(), Refused> {
        self.no_tensors(&[self.record.multipliers, self.record.shifts])?;
        self.activation(0)
    }

    /// A row a feature, a column an output; integers make sums of i32.
    pub(super) fn sparse_affine(&self) -> Result<(), Refused> {
        let record = self.record;
        let (to, m) = (self.output.element(), self.output.len);
        self.has_no_rounding()?;
        self.sparse_input()?;
        let elements: &[u32] = match to {
            element::I32 => &[element::I8, element::I16],
            element::F32 => &[element::F32],
            other => return Err(self.fault("op.output", other, "a value of i32 or f32")),
        };
        self.tensor(record.weights, "op.weights", elements, &[Layout::Rows], self.model.input().size, m)?;
        self.optional(record.bias, "op.bias", to, m)?;
        self.zeros(&record.params)
    }

    /// A row a feature; as many rows as features can be active.
    pub(super) fn sparse_rows(&self) -> Result<(), Refused> {
        let record = self.record;
        let (to, m) = (self.output.element(), self.output.len);
        self.has_no_rounding()?;
        self.sparse_input()?;
        self.no_tensors(&[record.bias])?;
        let is_known = [element::I8, element::I16, element::F32].contains(&to);
        self.need(is_known, "op.output", to, "a value of i8, i16 or f32")?;
        let (size, slots) = (self.model.input().size, self.model.input().max_active);
        self.need(m.is_multiple_of(slots), "op.output", m, "a row of elements for each of max_active features")?;
        self.tensor(record.weights, "op.weights", &[to], &[Layout::Rows], size, m / slots)?;
        let [multiplier, shift, p2, p3] = record.params;
        if to == element::F32 || self.model.input().element == 0 {
            self.zeros(&record.params)?;
            return Ok(());
        }
        self.need(multiplier <= I32_MAX, "op.params[0]", multiplier, "a multiplier of 0 to 2^31 − 1")?;
        self.need((1..=62).contains(&shift), "op.params[1]", shift, "a shift of 1 to 62")?;
        self.zeros(&[p2, p3])
    }

    /// Embeddings of `params[0]` elements.
    pub(super) fn interactions(&self) -> Result<(), Refused> {
        let record = self.record;
        let (from, to, n, m) = (self.input.element(), self.output.element(), record.input_len, self.output.len);
        self.has_no_rounding()?;
        let [width, p1, p2, p3] = record.params;
        self.no_tensors(&[record.weights, record.bias])?;
        let wide = match from {
            element::I8 | element::I16 => element::I32,
            element::F32 => element::F32,
            other => return Err(self.fault("op.input", other, "a value of i8, i16 or f32")),
        };
        self.need(to == wide, "op.output", to, "a value of i32 for integers, of f32 for f32")?;
        let divides = width >= 1 && n.is_multiple_of(width);
        self.need(divides, "op.params[0]", width, "a width that divides the input's length")?;
        let slots = u64::from(n / width);
        let len = match record.kind {
            op::FM_TERM => 1,
            op::BI_INTERACTION => u64::from(width),
            _ => slots * (slots - 1) / 2,
        };
        self.need(
            u64::from(m) == len,
            "op.output",
            m,
            "the length that the number of embeddings and their width give",
        )?;
        self.zeros(&[p1, p2, p3])
    }

    /// Three matrices of one shape, and features that the input has.
    pub(super) fn trees(&self) -> Result<(), Refused> {
        let record = self.record;
        let (from, to, m) = (self.input.element(), self.output.element(), self.output.len);
        self.activation(0)?;
        let [trees, nodes, p2, p3] = record.params;
        self.no_tensors(&[record.shifts])?;
        let sparse = record.input == 0 && self.model.input().kind == input_kind::SPARSE;
        let features = if sparse { self.model.input().size } else { record.input_len };
        self.need(trees >= 1, "op.params[0]", trees, "at least 1 tree")?;
        self.need(nodes >= 1, "op.params[1]", nodes, "at least 1 node a tree")?;
        let leaf = to == element::I32 || to == element::F32;
        self.need(leaf && m == 1, "op.output", m, "one element of i32 or f32")?;
        let threshold = if from == element::F32 { element::F32 } else { element::I32 };
        self.tensor(record.weights, "op.weights", &[threshold], &[Layout::Rows], trees, nodes)?;
        self.tensor(record.bias, "op.bias", &[to], &[Layout::Rows], trees, nodes)?;
        let tested =
            self.tensor(record.multipliers, "op.multipliers", &[element::I32], &[Layout::Rows], trees, nodes)?;
        // Padding is zero, which is a feature that every input has.
        let tested: &[i32] = bytemuck::try_cast_slice(tested.data).unwrap_or(&[i32::MIN]);
        let known = |feature: &i32| *feature == -1 || u32::try_from(*feature).is_ok_and(|feature| feature < features);
        self.need(
            tested.iter().all(known),
            "op.multipliers",
            record.multipliers,
            "features that the input has, or −1 in a leaf",
        )?;
        self.zeros(&[p2, p3])
    }

    /// The whole list of active features.
    fn sparse_input(&self) -> Result<(), Refused> {
        let sparse = self.record.input == 0 && self.model.input().kind == input_kind::SPARSE;
        self.need(sparse, "op.input", self.record.input, "the sparse input")
    }
}

#[cfg(test)]
mod tests {
    use crate::features::{ACCUMULATORS, GENERAL, MESSAGES, REALS};
    use crate::format::{Model, ParseError};

    /// With the feature `general` a network of every kind of input loads; without it the error says what is missing.
    #[test]
    fn a_build_without_a_feature_names_it() {
        let sparse = crate::include_model!("../../../../tests/fuzz/corpus/loader/sparse-reals-without-values.bin");
        let dense = crate::include_model!("../../../../tests/fuzz/corpus/loader/reals-in-quantised-inside.bin");
        let bytes =
            crate::include_model!("../../../../tests/fuzz/corpus/loader/bytes-through-tables-and-trees-buckets.bin");
        let added = crate::include_model!("../../../../tests/fuzz/corpus/loader/reals-without-biases-read-in-part.bin");
        let columns = crate::include_model!("../../../../tests/fuzz/corpus/loader/columns-behind-bytes.bin");
        let chess = crate::include_model!("../../../../tests/vectors/tiny.bin");
        let needs: [(&[u8], bool, &str, &str); 6] = [
            (sparse, GENERAL, "input.kind", "general"),
            (dense, GENERAL, "input.element", "general"),
            (bytes, GENERAL, "op.kind", "general"),
            (added, REALS, "op.kind", "reals"),
            (columns, REALS, "tensor.layout", "reals"),
            (chess, ACCUMULATORS, "input.kind", "accumulators"),
        ];
        for (file, is_built, place, feature) in needs {
            let refused = match Model::parse(file) {
                Ok(_) => None,
                Err(ParseError::Feature { place, feature, .. }) => Some((place, feature)),
                Err(other) => panic!("{place}: {other}"),
            };
            assert_eq!(refused, (!is_built).then_some((if MESSAGES { place } else { "" }, feature)));
        }
    }
}
