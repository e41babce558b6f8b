//! The operations of general networks (sections 6.11 to 6.18).

use super::exponential::in_lanes;
use super::file::{Op, Tensor};
use super::operations::wrap32;
use super::{Container, Numbers};

/// A feature with its value.
type Active = (u32, i16);

impl Container {
    /// SPARSE_AFFINE, SPARSE_ROWS and TREES of the sparse input; it has one bucket.
    pub(super) fn of_a_list(&self, op: &Op, list: &[Active]) -> Numbers {
        if op.kind == 21 {
            let at =
                |feature: usize| list.iter().find(|(f, _)| *f as usize == feature).map_or(0, |(_, v)| i64::from(*v));
            return self.trees(op, 0, |feature, tree, node| at(feature) <= self.weights(op).integer(0, tree, node));
        }
        assert!(matches!(op.kind, 12 | 13), "operation kind {} of a list", op.kind);
        match (op.kind, self.weights(op).element) {
            (12, 5) => Numbers::Reals(self.sparse_affine_f32(op, list)),
            (12, _) => Numbers::Integers(self.sparse_affine(op, list)),
            (_, 5) => Numbers::Reals(self.sparse_rows_f32(op, list)),
            _ => Numbers::Integers(self.sparse_rows(op, list)),
        }
    }

    fn weights(&self, op: &Op) -> &Tensor {
        self.tensor(op.weights).unwrap()
    }

    fn sparse_affine(&self, op: &Op, list: &[Active]) -> Vec<i64> {
        let weights = self.weights(op);
        let one = |j: usize| {
            let bias = self.tensor(op.bias).map_or(0, |bias| bias.integer(0, j, 0));
            let terms = list.iter().map(|(f, v)| i64::from(*v) * weights.integer(0, *f as usize, j));
            wrap32(bias + terms.sum::<i64>())
        };
        (0..self.values[op.output].len).map(one).collect()
    }

    fn sparse_affine_f32(&self, op: &Op, list: &[Active]) -> Vec<f32> {
        let weights = self.weights(op);
        let one = |j: usize| {
            let mut y = self.tensor(op.bias).map_or(0.0, |bias| bias.real(0, j, 0));
            for active in list {
                y += self.term(*active, weights.real(0, active.0 as usize, j));
            }
            y
        };
        (0..self.values[op.output].len).map(one).collect()
    }

    /// A weight, times its feature's value where the network has values.
    fn term(&self, (_, value): Active, weight: f32) -> f32 {
        if self.input.element == 0 {
            return weight;
        }
        let real = f32::from(value) * self.input.unit;
        real * weight
    }

    fn sparse_rows(&self, op: &Op, list: &[Active]) -> Vec<i64> {
        let weights = self.weights(op);
        let limit = if weights.element == 2 { 127 } else { 32_767 };
        let [multiplier, shift, ..] = op.params.map(i64::from);
        let mut rows = Vec::new();
        for (f, v) in list {
            for i in 0..weights.cols {
                let w = weights.integer(0, *f as usize, i);
                rows.push(if self.input.element == 0 {
                    w
                } else {
                    let product = i128::from(i64::from(*v) * w) * i128::from(multiplier);
                    (((product + (1 << (shift - 1))) >> shift) as i64).clamp(-limit, limit)
                });
            }
        }
        rows.resize(self.values[op.output].len, 0);
        rows
    }

    fn sparse_rows_f32(&self, op: &Op, list: &[Active]) -> Vec<f32> {
        let weights = self.weights(op);
        let row = |active: &Active| -> Vec<f32> {
            (0..weights.cols).map(|i| self.term(*active, weights.real(0, active.0 as usize, i))).collect()
        };
        let mut rows: Vec<f32> = list.iter().flat_map(row).collect();
        rows.resize(self.values[op.output].len, 0.0);
        rows
    }

    /// Kinds 14 to 23 and 34 of values that lie in memory.
    pub(super) fn general(&self, op: &Op, values: &[Numbers], bucket: usize) -> Numbers {
        let range = op.input_start..op.input_start + op.input_len;
        let x = &values[op.input];
        let param = |index: usize| i64::from(op.params[index] as i32);
        let real = |index: usize| f32::from_bits(op.params[index]);
        match op.kind {
            14..=16 => match x {
                Numbers::Integers(x) => Numbers::Integers(pairs(op, &x[range])),
                Numbers::Reals(x) => Numbers::Reals(pairs_f32(op, &x[range])),
            },
            17 => {
                let second = op.second_start..op.second_start + self.values[op.output].len - op.input_len;
                let runs = op.params[0].max(1) as usize;
                match (x, &values[op.second as usize]) {
                    (Numbers::Integers(a), Numbers::Integers(b)) => {
                        Numbers::Integers(by_turns(&a[range], &b[second], runs))
                    }
                    (a, b) => Numbers::Reals(by_turns(&a.reals()[range], &b.reals()[second], runs)),
                }
            }
            18 => {
                let second = &values[op.second as usize].integers()[op.second_start..];
                Numbers::Integers(x.integers()[range].iter().zip(second).map(|(a, b)| wrap32(a + b)).collect())
            }
            19 => {
                let row = |x: &i64| self.weights(op).integer(bucket, x.rem_euclid(256) as usize, 0);
                Numbers::Integers(x.integers()[range].iter().map(row).collect())
            }
            20 => {
                let (x, weights) = (&x.integers()[range], self.weights(op));
                let sum = |j: usize| {
                    let products = x.iter().enumerate().map(|(i, x)| x * weights.integer(bucket, j, i));
                    wrap32(self.tensor(op.bias).map_or(0, |bias| bias.integer(bucket, j, 0)) + products.sum::<i64>())
                };
                Numbers::Integers((0..self.values[op.output].len).map(sum).collect())
            }
            21 => match x {
                Numbers::Integers(x) => {
                    let x = &x[range];
                    self.trees(op, bucket, |f, tree, node| x[f] <= self.weights(op).integer(bucket, tree, node))
                }
                Numbers::Reals(x) => {
                    let x = &x[range];
                    self.trees(op, bucket, |f, tree, node| x[f] <= self.weights(op).real(bucket, tree, node))
                }
            },
            22 => {
                let one = |x: &i64| (x - param(1)) as f32 * real(0);
                Numbers::Reals(x.integers()[range].iter().map(one).collect())
            }
            23 => {
                let one = |x: &f32| {
                    let scaled = f64::from(x * real(0));
                    // f64's `round` goes away from 0 at halves, and `as` makes a NaN 0.
                    let rounded = scaled.round().clamp(-1e15, 1e15) as i64;
                    (rounded + param(3)).clamp(param(1), param(2))
                };
                Numbers::Integers(x.reals()[range].iter().map(one).collect())
            }
            // 6.26, in 64 bits, where a product of 32 bits and a sum over a few thousand of them fit.
            34 => {
                let (max, weights) = (param(0), self.weights(op));
                let shifted: Vec<i64> = x.integers()[range].iter().map(|x| x >> param(1)).collect();
                let each = |f: fn(i64, i64) -> i64| shifted.iter().map(|v| f(*v, max)).collect::<Vec<i64>>();
                let a = match op.activation {
                    1 => each(|v, _| v),
                    2 => each(|v, _| if v > 0 { v } else { 0 }),
                    3 => each(|v, max| v.clamp(0, max)),
                    4 | 5 => each(|v, max| v.clamp(0, max).pow(2)),
                    7 => [each(|v, max| v.clamp(0, max) * max), each(|v, max| v.clamp(-max, max).pow(2))].concat(),
                    other => panic!("activation {other} of sums"),
                };
                let sum = |j: usize| {
                    let products = a.iter().enumerate().map(|(i, a)| wrap32(a * weights.integer(bucket, j, i)));
                    wrap32(self.tensor(op.bias).map_or(0, |bias| bias.integer(bucket, j, 0)) + products.sum::<i64>())
                };
                Numbers::Integers((0..self.values[op.output].len).map(sum).collect())
            }
            other => panic!("operation kind {other}"),
        }
    }

    /// `goes_left(feature, tree, node)` compares.
    fn trees(&self, op: &Op, bucket: usize, goes_left: impl Fn(usize, usize, usize) -> bool) -> Numbers {
        let (features, leaves) = (self.tensor(op.multipliers).unwrap(), self.tensor(op.bias).unwrap());
        let [trees, nodes, ..] = op.params.map(|param| param as usize);
        let end = |tree: usize| {
            let mut node = 0;
            loop {
                let feature = features.integer(bucket, tree, node);
                if feature == -1 {
                    return node;
                }
                let next = if goes_left(feature as usize, tree, node) { 2 * node + 1 } else { 2 * node + 2 };
                if next >= nodes {
                    return node;
                }
                node = next;
            }
        };
        if leaves.element == 5 {
            let sum = (0..trees).fold(0.0, |sum, tree| sum + leaves.real(bucket, tree, end(tree)));
            return Numbers::Reals(vec![sum]);
        }
        let sum = (0..trees).map(|tree| leaves.integer(bucket, tree, end(tree))).sum();
        Numbers::Integers(vec![wrap32(sum)])
    }
}

/// From the formulas over all pairs, in wide integers.
fn pairs(op: &Op, x: &[i64]) -> Vec<i64> {
    let width = op.params[0] as usize;
    let e: Vec<&[i64]> = x.chunks(width).collect();
    // One at a time: of three thousand there are four million.
    let pairs = || (0..e.len()).flat_map(|k| (k + 1..e.len()).map(move |l| (k, l))).map(|(k, l)| (e[k], e[l]));
    let product = |(a, b): (&[i64], &[i64])| a.iter().zip(b).map(|(a, b)| a * b).sum::<i64>();
    match op.kind {
        16 => pairs().map(|pair| wrap32(product(pair))).collect(),
        15 => (0..width).map(|i| wrap32(pairs().map(|(a, b)| a[i] * b[i]).sum())).collect(),
        _ => vec![wrap32(pairs().map(product).sum())],
    }
}

fn pairs_f32(op: &Op, x: &[f32]) -> Vec<f32> {
    let width = op.params[0] as usize;
    let e: Vec<&[f32]> = x.chunks(width).collect();
    if op.kind == 16 {
        let mut products = Vec::new();
        for k in 0..e.len() {
            for l in k + 1..e.len() {
                let terms: Vec<f32> = e[k].iter().zip(e[l]).map(|(a, b)| a * b).collect();
                products.push(in_lanes(&terms));
            }
        }
        return products;
    }
    let (mut p, mut t) = (vec![0f32; width], vec![0f32; width]);
    for e in e {
        for i in 0..width {
            let product = p[i] * e[i];
            t[i] += product;
            p[i] += e[i];
        }
    }
    if op.kind == 15 { t } else { vec![in_lanes(&t)] }
}

/// As many runs of one as of the other, one of each in turn.
fn by_turns<T: Copy>(a: &[T], b: &[T], runs: usize) -> Vec<T> {
    let (mut a, mut b) = (a.chunks(a.len() / runs), b.chunks(b.len() / runs));
    (0..runs).flat_map(|_| [a.next().unwrap(), b.next().unwrap()].concat()).collect()
}
