//! Maps in double precision: windows, sizes and axes.

use super::node::{Binary, Fill, Pooling};
use crate::float::Matrix;
use crate::spatial::{Shape, Tap, Window};

/// `y[o] = Σ x[tap, i] · weights[o, (tap, i)] + bias[o]`.
pub(crate) fn convolution(
    x: &[f64],
    (from, to): (Shape, Shape),
    window: &Window,
    groups: usize,
    (weights, bias): (&Matrix<f64>, &[f64]),
) -> Vec<f64> {
    let mut made = Vec::with_capacity(to.len());
    for y in 0..to.height {
        for column in 0..to.width {
            let start = made.len();
            made.extend_from_slice(bias);
            let sums = &mut made[start..];
            for tap in 0..window.taps() {
                let (down, across) = (tap / window.kernel[1], tap % window.kernel[1]);
                let Some(row) = window.input(0, y, down, from.height) else { continue };
                let Some(place) = window.input(1, column, across, from.width) else { continue };
                let pixel = &x[from.at(row, place, 0)..][..from.channels];
                add_tap(sums, pixel, weights, tap, groups);
            }
        }
    }
    made
}

/// The transpose: an input pixel adds the kernel to the outputs that a convolution from there would have read it for.
pub(crate) fn transposed(
    x: &[f64],
    (from, to): (Shape, Shape),
    window: &Window,
    groups: usize,
    (weights, bias): (&Matrix<f64>, &[f64]),
) -> Vec<f64> {
    let mut made = bias.repeat(to.pixels());
    for y in 0..from.height {
        for column in 0..from.width {
            let pixel = &x[from.at(y, column, 0)..][..from.channels];
            for tap in 0..window.taps() {
                let (down, across) = (tap / window.kernel[1], tap % window.kernel[1]);
                let Some(row) = window.input(0, y, down, to.height) else { continue };
                let Some(place) = window.input(1, column, across, to.width) else { continue };
                let sums = &mut made[to.at(row, place, 0)..][..to.channels];
                add_tap(sums, pixel, weights, tap, groups);
            }
        }
    }
    made
}

/// Adds to every output what its group's inputs give it through one tap.
fn add_tap(sums: &mut [f64], pixel: &[f64], weights: &Matrix<f64>, tap: usize, groups: usize) {
    let (inputs, outputs) = (pixel.len() / groups, sums.len() / groups);
    for input in 0..inputs {
        let column = weights.column(tap * inputs + input);
        if outputs == 1 {
            // Depthwise: a channel each.
            for (group, (sum, weight)) in sums.iter_mut().zip(column).enumerate() {
                *sum += pixel[group * inputs + input] * weight;
            }
            continue;
        }
        let by_group = sums.chunks_exact_mut(outputs).zip(column.chunks_exact(outputs));
        for (group, (sums, column)) in by_group.enumerate() {
            let x = pixel[group * inputs + input];
            sums.iter_mut().zip(column).for_each(|(sum, weight)| *sum += x * weight);
        }
    }
}

/// What a window holds, channel by channel.
pub(super) fn pool(x: &[f64], (from, to): (Shape, Shape), window: &Window, kind: Pooling) -> Vec<f64> {
    let mut made = Vec::with_capacity(to.len());
    for y in 0..to.height {
        for column in 0..to.width {
            let start = made.len();
            let first = if kind == Pooling::Max { f64::NEG_INFINITY } else { 0.0 };
            made.resize(start + to.channels, first);
            let (mut pixels, mut padded) = (0usize, 0usize);
            for tap in 0..window.taps() {
                let (down, across) = (tap / window.kernel[1], tap % window.kernel[1]);
                padded += usize::from(is_padded(window, from, [y, column], [down, across]));
                let Some(row) = window.input(0, y, down, from.height) else { continue };
                let Some(place) = window.input(1, column, across, from.width) else { continue };
                pixels += 1;
                let pixel = &x[from.at(row, place, 0)..][..from.channels];
                for (sum, x) in made[start..].iter_mut().zip(pixel) {
                    *sum = if kind == Pooling::Max { sum.max(*x) } else { *sum + x };
                }
            }
            let count = match kind {
                Pooling::Max => continue,
                Pooling::Average => pixels,
                Pooling::AverageWithPadding => padded,
            };
            made[start..].iter_mut().for_each(|sum| *sum /= count.max(1) as f64);
        }
    }
    made
}

/// Whether a tap lies in the map or in its padding, not behind that.
fn is_padded(window: &Window, from: Shape, place: [usize; 2], tap: [usize; 2]) -> bool {
    let sizes = [from.height, from.width];
    (0..2).all(|axis| {
        let at = place[axis] * window.stride[axis] + tap[axis] * window.dilation[axis];
        at < window.before[axis] + sizes[axis] + window.after[axis]
    })
}

/// Rows first, then columns, each the mean of two.
pub(super) fn resize(x: &[f64], from: Shape, (rows, columns): (&[Tap], &[Tap])) -> Vec<f64> {
    let mut made = Vec::with_capacity(rows.len() * columns.len() * from.channels);
    for row in rows {
        for column in columns {
            for channel in 0..from.channels {
                let along = |y: usize| {
                    let at = |place| x[from.at(y, place, channel)];
                    mean(at(column.first), at(column.second), column.weight)
                };
                made.push(mean(along(row.first), along(row.second), row.weight));
            }
        }
    }
    made
}

fn mean(first: f64, second: f64, weight: f64) -> f64 {
    first * (1.0 - weight) + second * weight
}

/// Two values of which each axis has one size or is repeated.
pub(super) fn binary(op: Binary, (a, a_shape): (&[f64], Shape), (b, b_shape): (&[f64], Shape), to: Shape) -> Vec<f64> {
    elements(to)
        .map(|at| {
            let of = |values: &[f64], shape: Shape| {
                let [y, x, channel] = clamped(at, shape);
                values[shape.at(y, x, channel)]
            };
            let (a, b) = (of(a, a_shape), of(b, b_shape));
            match op {
                Binary::Add => a + b,
                Binary::Sub => a - b,
                Binary::Mul => a * b,
                Binary::Div => a / b,
                Binary::Max => a.max(b),
                Binary::Min => a.min(b),
            }
        })
        .collect()
}

/// The place itself, or 0 along axes of size 1.
fn clamped(at: [usize; 3], shape: Shape) -> [usize; 3] {
    let mut place = at;
    for (place, size) in place.iter_mut().zip(shape.axes()) {
        *place = (*place).min(size - 1);
    }
    place
}

/// Values one behind the other along an axis.
pub(super) fn concat(parts: &[(&[f64], Shape)], axis: usize) -> Vec<f64> {
    let inner = |shape: Shape| shape.axes()[axis..].iter().product::<usize>();
    let outer: usize = parts[0].1.axes()[..axis].iter().product();
    let runs =
        |run: usize| parts.iter().flat_map(move |(x, shape)| x[run * inner(*shape)..][..inner(*shape)].iter().copied());
    (0..outer).flat_map(runs).collect()
}

/// Each element of what is made is the element of `x` at the place that `source` says; `None` is `fill`.
pub(super) fn moved(
    x: &[f64],
    (from, to): (Shape, Shape),
    source: impl Fn([usize; 3]) -> Option<[usize; 3]>,
    fill: f64,
) -> Vec<f64> {
    let value = |at| source(at).map_or(fill, |[y, column, channel]| x[from.at(y, column, channel)]);
    elements(to).map(value).collect()
}

/// Where padding takes an element from; none where it is a number.
pub(super) fn padded(at: [usize; 3], from: Shape, before: [usize; 3], fill: Fill) -> Option<[usize; 3]> {
    let mut place = [0; 3];
    for axis in 0..3 {
        let size = from.axes()[axis];
        let inside = at[axis].checked_sub(before[axis]).filter(|at| *at < size);
        place[axis] = match (inside, fill) {
            (Some(at), _) => at,
            (None, Fill::Value(_)) => return None,
            (None, Fill::Edge) if at[axis] < before[axis] => 0,
            (None, Fill::Edge) => size - 1,
            (None, Fill::Reflect) if at[axis] < before[axis] => before[axis] - at[axis],
            (None, Fill::Reflect) => 2 * (size - 1) - (at[axis] - before[axis]),
        };
    }
    Some(place)
}

fn elements(shape: Shape) -> impl Iterator<Item = [usize; 3]> {
    let [height, width, channels] = shape.axes();
    let pixels = (0..height).flat_map(move |y| (0..width).map(move |x| [y, x]));
    pixels.flat_map(move |[y, x]| (0..channels).map(move |channel| [y, x, channel]))
}
