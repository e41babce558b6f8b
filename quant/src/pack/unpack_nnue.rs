//! Back from the container: the same network of the Stockfish family that was packed.

use super::error::PackError;
use crate::lower::nnue::{BIAS, PADDING, ROWS, STACK, UNUSED, relation_name};
use crate::stockfish::description::{self, Described, FIRST_LINE};
use crate::stockfish::order::{Digits, digit_columns};
use crate::stockfish::{
    Affine, Block, Division, Encoding, Net, PSQT_BUCKETS, ROW_MULTIPLE, Relation, RelationRows, Shape, Stack,
    Transformer,
};
use bytemuck::AnyBitPattern;
use tamis_runtime::format::Model;
use tamis_runtime::raw::{Layout, OpRecord, Tensor, element, op};

/// Whether a container holds a network of the Stockfish family.
#[must_use]
pub fn is_nnue(model: &Model<'_>) -> bool {
    model.metadata().is_ok_and(|metadata| metadata.description.lines().next() == Some(FIRST_LINE))
}

/// The architecture of a network of the Stockfish family and the rule that it divides by; none of other networks, which
/// divide nothing.
///
/// # Errors
/// [`PackError`] if the description is none, or its rule is not that of the operations.
pub fn nnue_division(model: &Model<'_>) -> Result<Option<(Shape, Division)>, PackError> {
    let divides = is_nnue(model).then(|| described(model)).transpose()?;
    Ok(divides.map(|Described { shape, division, .. }| (shape, division)))
}

/// The rule that the operations of a network with two parts divide by: what comes last is the sum, or the division.
fn divided(ops: &[OpRecord]) -> Division {
    match ops.last() {
        Some(OpRecord { kind: op::ADD_I32, .. }) => Division::Twice,
        _ => Division::Once,
    }
}

fn described(model: &Model<'_>) -> Result<Described, PackError> {
    let described = description::parse(model.metadata()?.description).map_err(PackError::Description)?;
    // Of one part both rules are one.
    let found = divided(model.ops());
    if described.shape.features.has_psqt() && found != described.division {
        let (word, found) = (described.division.word(), found.word());
        let problem = format!("divide = {word:?}, but the operations divide {found}; pack the network again");
        return Err(PackError::Description(problem));
    }
    Ok(described)
}

/// Takes such a container apart, in the order of the `.nnue` file.
///
/// # Errors
/// [`PackError`] if the description is none, or the tensors or the last operations are not those that it speaks of.
pub fn unpack_nnue(model: &Model<'_>) -> Result<Net, PackError> {
    let metadata = model.metadata()?;
    let described = described(model)?;
    let names: Vec<&str> = metadata.tensor_names.lines().collect();
    let reader = Reader { model, names: &names };
    let Described { shape, division, .. } = described;
    let transformer = reader.transformer(&described)?;
    let [first, second, output] = [0, 1, 2].map(|index| reader.layers(&shape, index));
    let stacks = first?.into_iter().zip(second?).zip(output?);
    let stacks = stacks.map(|((first, second), output)| Stack { first, second, output }).collect();
    let net = Net { shape, description: metadata.bare_header.to_vec(), transformer, stacks, division };
    if description::of(&net) != metadata.description {
        return Err(PackError::Description("not as `pack` writes it; pack the network again".to_owned()));
    }
    Ok(net)
}

struct Reader<'m, 'a> {
    model: &'m Model<'a>,
    names: &'m [&'m str],
}

impl<'a> Reader<'_, 'a> {
    /// A tensor by its name, which must have this element, layout, number of banks and shape of a bank.
    fn tensor(
        &self,
        name: &str,
        code: u32,
        layout: Layout,
        (banks, rows, cols): (usize, usize, usize),
    ) -> Result<Tensor<'a>, PackError> {
        let index = self.names.iter().position(|other| *other == name);
        let tensor = index.and_then(|index| self.model.tensor(u32::try_from(index).ok()?));
        let fits = |tensor: &Tensor<'_>| {
            let record = tensor.record;
            let shape = (record.banks as usize, record.rows as usize, record.cols as usize);
            u32::from(record.element) == code && tensor.layout == layout && shape == (banks, rows, cols)
        };
        let missing =
            || PackError::Contents { tensor: name.to_owned(), outputs: banks.saturating_mul(rows), inputs: cols };
        tensor.filter(fits).ok_or_else(missing)
    }

    fn transformer(&self, described: &Described) -> Result<Transformer, PackError> {
        let Shape { features, width, .. } = described.shape;
        let cols = self.model.input().hidden as usize;
        let missing =
            || PackError::Contents { tensor: ROWS.to_owned(), outputs: features.used_pieces(), inputs: width };
        let psqt = self.model.ops().iter().find(|record| record.kind == op::PSQT);
        let digits = match psqt {
            Some(OpRecord { params: [count, 0, ..], .. }) => Digits { count: *count, bits: op::DIGIT_BITS },
            Some(OpRecord { params: [count, bits, ..], .. }) => Digits { count: *count, bits: *bits },
            None => Digits { count: 0, bits: op::DIGIT_BITS },
        };
        let has_psqt = digits.count > 0;
        let fits = width.checked_add(digit_columns(digits)) == Some(cols) && has_psqt == features.has_psqt();
        if !fits {
            return Err(missing());
        }
        let rows = self.tensor(ROWS, element::I16, Layout::Rows, (1, features.used_pieces(), cols))?;
        let bias = self.tensor(BIAS, element::I16, Layout::Rows, (1, cols, 1))?;
        // Both were held against a tensor that the file has, so that they are no longer than the file.
        let mut weights = vec![0i16; features.piece_count() * width];
        let mut psqt = vec![0i32; if has_psqt { features.piece_count() * PSQT_BUCKETS } else { 0 }];
        for feature in 0..features.used_pieces() {
            let (row, at) = (rows.row::<i16>(feature), features.row_of(feature));
            let (row, columns) = row.split_at_checked(width).ok_or_else(missing)?;
            copy(&mut weights, at * width, row);
            if has_psqt {
                let values = &mut psqt[at * PSQT_BUCKETS..(at + 1) * PSQT_BUCKETS];
                from_columns(digits, columns.iter().copied(), values).ok_or_else(missing)?;
            }
        }
        let relations = features.relations().iter().zip(&described.relations);
        let relations = relations.map(|(&relation, &encoding)| self.relation(relation, encoding, digits, width));
        let relations = relations.collect::<Result<_, _>>()?;
        let unused = features.unused_rows();
        if !unused.is_empty() {
            let rows = self.tensor(UNUSED, element::I16, Layout::Rows, (1, unused.len(), width))?;
            for (index, at) in unused.into_iter().enumerate() {
                copy(&mut weights, at * width, rows.row(index));
            }
        }
        let biases: Vec<i16> = bias.bank(0).get(..width).ok_or_else(missing)?.to_vec();
        Ok(Transformer {
            biases: Block { values: biases, encoding: described.biases },
            weights: Block { values: weights, encoding: described.weights },
            psqt: described.psqt.map(|encoding| Block { values: psqt, encoding }),
            relations,
        })
    }

    /// The rows of a relation, a block of bytes.
    fn relation(
        &self,
        relation: Relation,
        encoding: Encoding,
        digits: Digits,
        width: usize,
    ) -> Result<RelationRows, PackError> {
        let (name, cols) = (relation_name(relation), self.model.input().hidden as usize);
        let missing = || PackError::Contents { tensor: name.to_owned(), outputs: relation.count(), inputs: cols };
        let rows = self.tensor(name, element::I8, Layout::Rows, (1, relation.count(), cols))?;
        let mut weights = Vec::with_capacity(relation.count() * width);
        let mut psqt = vec![0; relation.count() * PSQT_BUCKETS];
        for (index, values) in psqt.chunks_mut(PSQT_BUCKETS).enumerate() {
            let (row, columns) = rows.row::<i8>(index).split_at_checked(width).ok_or_else(missing)?;
            weights.extend_from_slice(row);
            from_columns(digits, columns.iter().copied().map(i16::from), values).ok_or_else(missing)?;
        }
        Ok(RelationRows { weights, psqt: Block { values: psqt, encoding } })
    }

    /// Layer `index` of every stack, of three.
    fn layers(&self, shape: &Shape, index: usize) -> Result<Vec<Affine>, PackError> {
        let (name, (inputs, outputs)) = (STACK[index], shape.layers()[index]);
        let banks = shape.stacks();
        let weights = self.tensor(&format!("{name}.weight"), element::I8, Layout::K4, (banks, outputs, inputs))?;
        let bias = self.tensor(&format!("{name}.bias"), element::I32, Layout::Rows, (banks, outputs, 1))?;
        let row_len = inputs.next_multiple_of(ROW_MULTIPLE);
        let padding = (row_len > inputs).then(|| {
            let shape = (banks, outputs, row_len - inputs);
            self.tensor(&format!("{name}{PADDING}"), element::I8, Layout::Rows, shape)
        });
        let padding = padding.transpose()?;
        let layer = |bank: usize| {
            let at = |row: usize, col: usize| match (col.checked_sub(inputs), &padding) {
                (Some(col), Some(padding)) => element_of(padding, bank, row, col),
                _ => element_of(&weights, bank, row, col),
            };
            let weights = (0..outputs).flat_map(|row| (0..row_len).map(move |col| (row, col)));
            let biases = (0..outputs).map(|row| element_of(&bias, bank, row, 0)).collect();
            Affine { inputs, outputs, biases, weights: weights.map(|(row, col)| at(row, col)).collect() }
        };
        Ok((0..banks).map(layer).collect())
    }
}

fn element_of<T: AnyBitPattern>(tensor: &Tensor<'_>, bank: usize, row: usize, col: usize) -> T {
    tensor.bank::<T>(bank)[tensor.layout.offset(tensor.stride(), row, col)]
}

/// The piece-square values, (8,), whose digits stand at the end of a row's columns.
fn from_columns(digits: Digits, columns: impl ExactSizeIterator<Item = i16> + Clone, values: &mut [i32]) -> Option<()> {
    let left = columns.len().checked_sub(digits.count as usize * PSQT_BUCKETS)?;
    for (bucket, value) in values.iter_mut().enumerate() {
        let found: Vec<i16> = columns.clone().skip(left + bucket).step_by(PSQT_BUCKETS).collect();
        *value = digits.value(found.into_iter())?;
    }
    Some(())
}

fn copy(to: &mut [i16], start: usize, row: &[i16]) {
    to[start..start + row.len()].copy_from_slice(row);
}
