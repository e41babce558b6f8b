//! The same operations over the channels that stay.

use super::spans::{Channels, Reach, reaches};
use crate::program::{Convolution, Operation, Program, ProgramNode, QuantTensor, Rounding, Values};

/// kept: of every value the channels that stay, in order.
pub(super) fn program(program: Program, known: &Channels, kept: &[Vec<usize>]) -> Program {
    let nodes = program.nodes.iter().enumerate().map(|(index, node)| {
        let mut made = node.clone();
        made.op = operation(&program, known, kept, node, &kept[index + 1]);
        let (value, stay) = (&mut made.value, &kept[index + 1]);
        if stay.len() < value.shape.channels {
            let of_layer = |channel: &usize| value.kept.as_ref().map_or(*channel, |kept| kept[*channel]);
            value.kept = Some(stay.iter().map(of_layer).collect());
            if value.units.len() > 1 {
                value.units = stay.iter().map(|channel| value.units[*channel]).collect();
            }
            value.shape.channels = stay.len();
        }
        made
    });
    Program { nodes: nodes.collect(), ..program.clone() }
}

fn operation(
    program: &Program,
    known: &Channels,
    kept: &[Vec<usize>],
    node: &ProgramNode,
    rows: &[usize],
) -> Operation {
    let read = node.read(0);
    let (channels, stay) = (program.shape(read).channels, &kept[read]);
    // Of a channel that is gone and read, the number that it always is.
    let gone = || (0..channels).filter(|channel| !stay.contains(channel));
    match &node.op {
        Operation::Convolution(op) => Operation::Convolution(Convolution {
            groups: if op.groups > 1 { op.groups * stay.len() / channels } else { 1 },
            weights: if op.groups > 1 {
                part(&op.weights, rows, &(0..op.weights.inputs).collect::<Vec<_>>())
            } else {
                part(&op.weights, rows, &columns(op.window.taps(), channels, stay))
            },
            bias: op.bias.as_ref().map(|bias| {
                let mut bias = bias.clone();
                if op.groups == 1
                    && let Values::Int(sums) = &mut bias.values
                {
                    let inside = reaches(op, program.shape(read), node.value.shape).into_iter().enumerate();
                    for (tap, _) in inside.filter(|(_, reach)| *reach == Reach::Inside) {
                        for channel in gone() {
                            let Some(constant) = known.constant(read, channel) else { continue };
                            let start = op.weights.outputs * (tap * channels + channel);
                            let column = &op.weights.integers()[start..start + op.weights.outputs];
                            add(sums, column, constant as i32 - program.zero(read));
                        }
                    }
                }
                part(&bias, rows, &[0])
            }),
            rounding: op.rounding.as_ref().map(|rounding| rounding_of(rounding, rows)),
            ..op.clone()
        }),
        Operation::Affine { weights, bias } => {
            let pixels = weights.inputs / channels;
            let bias = bias.as_ref().map(|bias| {
                let mut bias = bias.clone();
                if let Values::Int(sums) = &mut bias.values {
                    for channel in gone() {
                        let Some(constant) = known.constant(read, channel) else { continue };
                        for pixel in 0..pixels {
                            let start = weights.outputs * (pixel * channels + channel);
                            add(sums, &weights.integers()[start..start + weights.outputs], constant as i32);
                        }
                    }
                }
                part(&bias, rows, &[0])
            });
            Operation::Affine { weights: part(weights, rows, &columns(pixels, channels, stay)), bias }
        }
        Operation::Requantise { multipliers, shifts, low, high } if rows.len() < multipliers.len() => {
            Operation::Requantise {
                multipliers: rows.iter().map(|row| multipliers[*row]).collect(),
                shifts: rows.iter().map(|row| shifts[*row]).collect(),
                low: *low,
                high: *high,
            }
        }
        Operation::Move { start, steps } if stay.len() < channels => {
            let step = |step: i32| step / channels as i32 * stay.len() as i32;
            let steps = [step(steps[0]), step(steps[1]), 1];
            Operation::Move { start: start / channels * stay.len(), steps }
        }
        op => op.clone(),
    }
}

/// Sums wrap, so that a bias does.
fn add(sums: &mut [i32], column: &[i32], constant: i32) {
    let sums = sums.iter_mut().zip(column);
    sums.for_each(|(sum, weight)| *sum = sum.wrapping_add(weight.wrapping_mul(constant)));
}

/// The columns of the channels that stay, of so many pixels.
fn columns(pixels: usize, channels: usize, stay: &[usize]) -> Vec<usize> {
    (0..pixels).flat_map(|pixel| stay.iter().map(move |channel| pixel * channels + channel)).collect()
}

/// Some rows and columns of a tensor.
fn part(tensor: &QuantTensor, rows: &[usize], columns: &[usize]) -> QuantTensor {
    if (rows.len(), columns.len()) == (tensor.outputs, tensor.inputs) {
        return tensor.clone();
    }
    let values = tensor.integers();
    let mut left = Vec::with_capacity(rows.len() * columns.len());
    for column in columns {
        left.extend(rows.iter().map(|row| values[row + tensor.outputs * column]));
    }
    let values = Values::Int(left);
    QuantTensor { outputs: rows.len(), inputs: columns.len(), values, ..tensor.clone() }
}

fn rounding_of(rounding: &Rounding, rows: &[usize]) -> Rounding {
    let own = rows.iter().map(|row| rounding.multipliers[*row]);
    let beside = &rounding.multipliers[rounding.shifts.len()..];
    let beside = rows.iter().filter(|_| !beside.is_empty()).map(|row| beside[*row]);
    Rounding {
        multipliers: own.chain(beside).collect(),
        shifts: rows.iter().map(|row| rounding.shifts[*row]).collect(),
        ..rounding.clone()
    }
}
