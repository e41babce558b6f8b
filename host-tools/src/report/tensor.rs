//! The tensors of a network: types, shapes, scales, ranges.

use super::UNKNOWN;
use crate::table::{self, row};
use bytemuck::AnyBitPattern;
use serde::Serialize;
use std::io::{self, Write};
use tamis_quant::program::{Program, QuantTensor, Values};
use tamis_quant::quantised::QuantNet;
use tamis_runtime::format::{Metadata, Model};
use tamis_runtime::raw::{Tensor, element};

/// One tensor.
#[derive(Debug, Clone, Serialize)]
pub struct TensorReport {
    /// Its name.
    pub name: String,
    /// Type of an element.
    pub element: &'static str,
    /// Number of matrices, one an output bucket; 1 where there are none, or where they are not stored apart.
    pub banks: usize,
    /// Rows of one matrix.
    pub rows: usize,
    /// Columns of one matrix.
    pub cols: usize,
    /// Order in the container.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub layout: Option<&'static str>,
    /// The multiplier that made the integers, where one number did.
    pub scale: Option<i32>,
    /// The least element.
    pub min: Number,
    /// The greatest.
    pub max: Number,
}

/// An element as it is stored.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize)]
#[serde(untagged)]
pub enum Number {
    /// Of an integer tensor.
    Int(i64),
    /// Of a real one.
    Real(f32),
}

/// The tensors of a network in training order, (out, in).
pub fn of_net(net: &QuantNet) -> Vec<TensorReport> {
    let layers = net.layers.iter().chain(&net.psqt);
    let tensors = layers.flat_map(|layer| [&layer.weights, &layer.bias]);
    tensors.filter(|tensor| net.arch.tensor(&tensor.name).is_some()).map(of_tensor).collect()
}

/// The tensors of a quantised graph in training order, (out, in).
pub fn of_graph(graph: &Program) -> Vec<TensorReport> {
    graph.tensors().map(of_tensor).collect()
}

fn of_tensor(tensor: &QuantTensor) -> TensorReport {
    let (min, max) = match &tensor.values {
        Values::Int(values) => ends(values.iter().map(|value| Number::Int(i64::from(*value)))),
        Values::F32(values) => ends(values.iter().map(|value| Number::Real(*value))),
    };
    TensorReport {
        name: tensor.name.clone(),
        element: tensor.element.word(),
        banks: 1,
        rows: tensor.outputs,
        cols: tensor.inputs,
        layout: None,
        scale: tensor.scale,
        min,
        max,
    }
}

/// The tensors of a container as they are stored, tables and scales included; the ranges do not count padding. `scale`:
/// of a tensor by its name.
pub fn of_model(model: &Model<'_>, metadata: &Metadata<'_>, scale: impl Fn(&str) -> Option<i32>) -> Vec<TensorReport> {
    let mut names = metadata.tensor_names.lines();
    let facts = (0..).zip(model.tensors()).map(|(index, _)| {
        // Metadata may have been cut out of a file; a tensor without a name is still one.
        let name = names.next().unwrap_or_default();
        let tensor = model.tensor(index).unwrap_or_else(|| unreachable!("tensor {index} is one of the model's"));
        let (min, max) = stored_ends(&tensor);
        let record = tensor.record;
        TensorReport {
            name: name.to_owned(),
            element: element::word(record.element.into()).unwrap_or(UNKNOWN),
            banks: record.banks as usize,
            rows: record.rows as usize,
            cols: record.cols as usize,
            layout: Some(tensor.layout.word()),
            scale: scale(name),
            min,
            max,
        }
    });
    facts.collect()
}

fn stored_ends(tensor: &Tensor<'_>) -> (Number, Number) {
    let int = |value: i32| Number::Int(i64::from(value));
    match u32::from(tensor.record.element) {
        element::U8 => ends(elements::<u8>(tensor).map(|value| int(value.into()))),
        element::I8 => ends(elements::<i8>(tensor).map(|value| int(value.into()))),
        element::I16 => ends(elements::<i16>(tensor).map(|value| int(value.into()))),
        element::I32 => ends(elements::<i32>(tensor).map(int)),
        _ => ends(elements::<f32>(tensor).map(Number::Real)),
    }
}

/// Every element of every bank, without padding.
fn elements<'t, T: AnyBitPattern>(tensor: &'t Tensor<'_>) -> impl Iterator<Item = T> + 't {
    let (rows, cols) = (tensor.record.rows as usize, tensor.record.cols as usize);
    (0..tensor.record.banks.max(1) as usize).flat_map(move |bank| {
        let values: &[T] = tensor.bank(bank);
        (0..rows * cols).filter_map(move |at| {
            let offset = tensor.layout.offset(tensor.stride(), at / cols.max(1), at % cols.max(1));
            values.get(offset).copied()
        })
    })
}

fn ends(values: impl Iterator<Item = Number>) -> (Number, Number) {
    let mut ends: Option<(Number, Number)> = None;
    for value in values {
        let (min, max) = ends.get_or_insert((value, value));
        if value < *min {
            *min = value;
        }
        if value > *max {
            *max = value;
        }
    }
    ends.unwrap_or((Number::Int(0), Number::Int(0)))
}

impl std::fmt::Display for Number {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Int(value) => write!(f, "{value}"),
            Self::Real(value) => write!(f, "{value:.6}"),
        }
    }
}

/// Prints tensors as a table.
///
/// # Errors
/// The writer's.
pub fn print(out: &mut dyn Write, tensors: &[TensorReport]) -> io::Result<()> {
    let mut rows = vec![row!["tensor", "type", "shape", "layout", "scale", "min", "max"]];
    for tensor in tensors {
        let banks = if tensor.banks > 1 { format!("{} × ", tensor.banks) } else { String::new() };
        let scale = tensor.scale.map_or("-".to_owned(), |scale| scale.to_string());
        rows.push(row![
            tensor.name,
            tensor.element,
            format!("{banks}({}, {})", tensor.rows, tensor.cols),
            tensor.layout.unwrap_or("-"),
            scale,
            tensor.min,
            tensor.max,
        ]);
    }
    table::print(out, &rows)
}
