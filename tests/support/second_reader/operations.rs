//! Accumulators and operations (sections 5 and 6).

use super::file::{NOTHING, Op};
use super::{Container, exponential};

/// A vector of one element type.
#[derive(Debug, Clone, PartialEq)]
pub enum Numbers {
    /// u8, i8, i16 or i32.
    Integers(Vec<i64>),
    /// f32.
    Reals(Vec<f32>),
}

/// The input of an evaluation.
#[derive(Debug, Clone)]
pub enum Given {
    /// Accumulators of the side to move and of the other side.
    Accumulators(Vec<i16>, Vec<i16>),
    /// A dense vector.
    Dense(Vec<i64>),
    /// A dense vector of reals.
    Reals(Vec<f32>),
    /// Features in ascending order, each with its value: 1 in a network without values.
    Sparse(Vec<(u32, i16)>),
}

impl Numbers {
    /// As the signature hashes it: little-endian, `element`'s length, every NaN the same.
    pub fn bytes(&self, element: u32) -> Vec<u8> {
        let len = [0, 1, 1, 2, 4, 4][element as usize];
        match self {
            Self::Integers(all) => all.iter().flat_map(|value| value.to_le_bytes()[..len].to_vec()).collect(),
            Self::Reals(all) => {
                all.iter().flat_map(|x| if x.is_nan() { 0x7FC0_0000u32 } else { x.to_bits() }.to_le_bytes()).collect()
            }
        }
    }

    pub(super) fn integers(&self) -> &[i64] {
        match self {
            Self::Integers(all) => all,
            Self::Reals(_) => panic!("reals where integers belong"),
        }
    }

    pub(super) fn reals(&self) -> &[f32] {
        match self {
            Self::Reals(all) => all,
            Self::Integers(_) => panic!("integers where reals belong"),
        }
    }
}

fn wrap16(value: i64) -> i64 {
    i64::from(value as i16)
}

pub(super) fn wrap32(value: i64) -> i64 {
    i64::from(value as i32)
}

impl Container {
    /// Number of outputs' element and every value's, for whoever compares bytes.
    pub fn element_of_value(&self, value: usize) -> u32 {
        self.values[value].element
    }

    /// Kinds and activations that the file uses, to see what a test covers.
    pub fn kinds(&self) -> Vec<(u32, u32)> {
        self.ops.iter().map(|op| (op.kind, op.activation)).collect()
    }

    /// The accumulator of a list of features.
    pub fn accumulate(&self, features: &[u32]) -> Vec<i16> {
        let bias = self.tensor(self.blocks[0].bias).unwrap();
        let mut sums: Vec<i64> = (0..self.input.hidden as usize).map(|unit| bias.integer(0, unit, 0)).collect();
        for feature in features {
            self.add(&mut sums, *feature, 1);
        }
        sums.into_iter().map(|sum| sum as i16).collect()
    }

    /// Adds (`sign` 1) or subtracts (−1) a feature's row.
    pub(super) fn add(&self, sums: &mut [i64], feature: u32, sign: i64) {
        let holds = |first: u32, count: u32| first <= feature && feature - first < count;
        let block = self.blocks.iter().find(|block| holds(block.first_feature, block.feature_count)).unwrap();
        let weights = self.tensor(block.weights).unwrap();
        for (unit, sum) in sums.iter_mut().enumerate() {
            let row = (feature - block.first_feature) as usize;
            *sum = wrap16(*sum + sign * weights.integer(0, row, unit));
        }
    }

    /// Every value of one evaluation, the input first.
    pub fn evaluate(&self, given: &Given, bucket: usize) -> Vec<Numbers> {
        let mut values = vec![match given {
            Given::Dense(x) => Numbers::Integers(x.clone()),
            Given::Reals(x) => Numbers::Reals(x.clone()),
            // No element of it is read.
            Given::Sparse(_) => Numbers::Integers(Vec::new()),
            Given::Accumulators(own, other) => {
                let both = match (self.input.perspectives, self.input.order) {
                    (1, _) => vec![own],
                    (_, 0) => vec![own, other],
                    _ => vec![other, own],
                };
                Numbers::Integers(both.into_iter().flatten().map(|unit| i64::from(*unit)).collect())
            }
        }];
        for op in &self.ops {
            assert_eq!(op.output, values.len());
            let value = match given {
                Given::Sparse(list) if op.input == 0 => self.of_a_list(op, list),
                _ if matches!(op.kind, 27..=33) => self.maps(op, &values),
                _ if matches!(op.kind, 24..=26 | 39) => self.stockfish(op, &values, bucket),
                _ if matches!(op.kind, 12..=23 | 34) => self.general(op, &values, bucket),
                _ => self.operation(op, &values, bucket),
            };
            values.push(value);
        }
        values
    }

    fn operation(&self, op: &Op, values: &[Numbers], bucket: usize) -> Numbers {
        let range = op.input_start..op.input_start + op.input_len;
        let outputs = self.values[op.output].len;
        let f32_param = |index: usize| f32::from_bits(op.params[index]);
        let bias = |row: usize| self.tensor(op.bias).map(|bias| bias.integer(bucket, row, 0));
        let f32_bias = |row: usize| self.tensor(op.bias).map(|bias| bias.real(bucket, row, 0));
        match op.kind {
            1 => Numbers::Integers(self.activate_dot(op, &values[0].integers()[range], bucket, outputs)),
            35 => Numbers::Integers(self.rounded_dot(op, &values[0].integers()[range], bucket, outputs)),
            37 => Numbers::Integers(self.wide_head(op, &values[0].integers()[range], bucket, outputs)),
            2 => {
                let [before, factor, after, _] = op.params.map(i64::from);
                let x = values[op.input].integers()[range].iter().enumerate();
                // `/` of Rust is the truncating division.
                Numbers::Integers(
                    x.map(|(row, x)| wrap32((x / before + bias(row).unwrap()) * factor / after)).collect(),
                )
            }
            3 => Numbers::Reals(self.activate_f32(op, &values[0].integers()[range])),
            4 => {
                let clip = i64::from(op.params[0]);
                let used = self.used(values[0].integers(), op.params[2]).concat();
                let pairs = self.pairs(&used, self.input.hidden - op.params[2]);
                let product = |(a, b): (i64, i64)| (a.clamp(0, clip) * b.clamp(0, clip)) >> op.params[1];
                Numbers::Integers(pairs.into_iter().map(product).collect())
            }
            36 => {
                assert_eq!(op.activation, 6);
                let [clip, shift, ..] = op.params.map(i64::from);
                let used = self.used(values[0].integers(), op.params[2]).concat();
                let pairs = self.pairs(&used, self.input.hidden - op.params[2]);
                // Half up: twice the product and a whole one more, in halves.
                let rounded = |product: i64| (2 * product + (1 << shift)).div_euclid(2 << shift);
                let product = |(a, b): (i64, i64)| rounded(a.clamp(0, clip) * b.clamp(0, clip));
                Numbers::Integers(pairs.into_iter().map(product).collect())
            }
            5 => {
                let (x, weights) = (&values[op.input].integers()[range], self.tensor(op.weights).unwrap());
                let sum = |row| {
                    let products = x.iter().enumerate().map(|(col, x)| x * weights.integer(bucket, row, col));
                    wrap32(bias(row).unwrap_or(0) + products.sum::<i64>())
                };
                Numbers::Integers((0..outputs).map(sum).collect())
            }
            6 => {
                let x = values[op.input].integers()[range].iter().enumerate();
                Numbers::Reals(x.map(|(row, x)| plus(*x as f32 * f32_param(0), f32_bias(row))).collect())
            }
            7 => {
                let (x, weights) = (&values[op.input].reals()[range], self.tensor(op.weights).unwrap());
                let sum = |row| {
                    let mut lanes = [0f32; 8];
                    for (col, x) in x.iter().enumerate() {
                        let product = x * weights.real(bucket, row, col);
                        lanes[col % 8] += product;
                    }
                    let four: Vec<f32> = (0..4).map(|lane| lanes[lane] + lanes[lane + 4]).collect();
                    plus((four[0] + four[2]) + (four[1] + four[3]), f32_bias(row))
                };
                Numbers::Reals((0..outputs).map(sum).collect())
            }
            8 => Numbers::Reals(activation(op.activation, f32_param(0), &values[op.input].reals()[range])),
            9 => {
                assert_ne!(op.second, NOTHING);
                let second = &values[op.second as usize].reals()[op.second_start..];
                let x = values[op.input].reals()[range].iter();
                Numbers::Reals(x.zip(second).map(|(a, b)| a + b).collect())
            }
            38 => {
                assert_ne!(op.second, NOTHING);
                let second = &values[op.second as usize].reals()[op.second_start..];
                let first = &values[op.input].reals()[op.input_start..];
                Numbers::Reals((0..outputs).map(|at| first[at] * second[at]).collect())
            }
            10 => Numbers::Reals(values[op.input].reals()[range].iter().map(|x| x * f32_param(0)).collect()),
            11 => {
                let tensor = |index| self.tensor(index).unwrap();
                let (multipliers, shifts) = (tensor(op.multipliers), tensor(op.shifts));
                let [low, high, zero, _] = op.params.map(|param| i64::from(param as i32));
                let x = values[op.input].integers()[range].iter().enumerate();
                let one = |(row, x): (usize, &i64)| {
                    let shift = shifts.integer(bucket, row, 0);
                    let half = 1i64 << (shift - 1);
                    (((x * multipliers.integer(bucket, row, 0) + half) >> shift) + zero).clamp(low, high)
                };
                Numbers::Integers(x.map(one).collect())
            }
            other => panic!("operation kind {other}"),
        }
    }

    fn activate_dot(&self, op: &Op, x: &[i64], bucket: usize, outputs: usize) -> Vec<i64> {
        let weights = self.tensor(op.weights).unwrap();
        let (clip, short) = (i64::from(op.params[0]), weights.claims & 4 != 0);
        let sum = |row| {
            let mut sum = 0;
            for (col, x) in x.iter().enumerate() {
                let (c, w) = (x.clamp(&0, &clip), weights.integer(bucket, row, col));
                sum += match op.activation {
                    3 => c * w,
                    4 if short => wrap16(c * w) * c,
                    4 | 5 => wrap32(c * c * w),
                    other => panic!("activation {other} before a dot"),
                };
            }
            wrap32(sum)
        };
        (0..outputs).map(sum).collect()
    }

    /// 6.27
    fn rounded_dot(&self, op: &Op, x: &[i64], bucket: usize, outputs: usize) -> Vec<i64> {
        assert_eq!(op.activation, 4);
        let weights = self.tensor(op.weights).unwrap();
        let term = |row: usize, col: usize| {
            let c = x[col].clamp(0, op.params[0].into());
            // Half up: the integer part of a quotient that is rounded down.
            let p = (c * weights.integer(bucket, row, col) + 16_384).div_euclid(32_768);
            p * c
        };
        let bias = |row: usize| self.tensor(op.bias).map_or(0, |bias| bias.integer(bucket, row, 0));
        (0..outputs).map(|row| wrap32(bias(row) + (0..x.len()).map(|col| term(row, col)).sum::<i64>())).collect()
    }

    /// 6.29
    fn wide_head(&self, op: &Op, x: &[i64], bucket: usize, outputs: usize) -> Vec<i64> {
        let (weights, bias) = (self.tensor(op.weights).unwrap(), self.tensor(op.bias).unwrap());
        let [clip, before, factor, after] = op.params.map(i128::from);
        let row = |row: usize| {
            let term = |(col, x): (usize, &i64)| {
                let (c, w) = (i128::from(*x).clamp(0, clip), i128::from(weights.integer(bucket, row, col)));
                match op.activation {
                    3 => c * w,
                    4 | 5 => c * c * w,
                    other => panic!("activation {other} before a wide head"),
                }
            };
            let sum: i128 = x.iter().enumerate().map(term).sum();
            // To 64 bits behind the product, the only place where it can leave them.
            let product = (sum / before + i128::from(bias.integer(bucket, row, 0))) * factor;
            wrap32(product as i64 / after as i64)
        };
        (0..outputs).map(row).collect()
    }

    fn activate_f32(&self, op: &Op, x: &[i64]) -> Vec<f32> {
        let (clip, inverse) = (i64::from(op.params[0]), f32::from_bits(op.params[1]));
        let real = |x: i64| x.clamp(0, clip) as f32 * inverse;
        let x = self.used(x, op.params[2]).concat();
        match op.activation {
            6 => self.pairs(&x, self.input.hidden - op.params[2]).into_iter().map(|(a, b)| real(a) * real(b)).collect(),
            3 => x.iter().map(|x| real(*x)).collect(),
            4 | 5 => x.iter().map(|x| real(*x) * real(*x)).collect(),
            other => panic!("activation {other} of accumulators"),
        }
    }

    /// Each perspective without its last elements.
    pub(super) fn used(&self, x: &[i64], left_out: u32) -> Vec<Vec<i64>> {
        let hidden = self.input.hidden as usize;
        x.chunks(hidden).map(|x| x[..hidden - left_out as usize].to_vec()).collect()
    }

    /// Element i of each perspective, of `width` elements, with element i + width/2 of the same.
    fn pairs(&self, x: &[i64], width: u32) -> Vec<(i64, i64)> {
        let width = width as usize;
        let halves = x.chunks(width).map(|x| x.split_at(width / 2));
        halves.flat_map(|(a, b)| a.iter().copied().zip(b.iter().copied())).collect()
    }
}

fn plus(sum: f32, bias: Option<f32>) -> f32 {
    bias.map_or(sum, |bias| sum + bias)
}

fn activation(code: u32, alpha: f32, x: &[f32]) -> Vec<f32> {
    // `>` and `<` are false for NaN, so NaN ends as the 0 of the last arm; so does −0.
    let relu = |x: f32| if x > 0.0 { x } else { 0.0 };
    let crelu = |x: f32| if relu(x) < 1.0 { relu(x) } else { 1.0 };
    match code {
        1 => x.to_vec(),
        2 => x.iter().map(|x| relu(*x)).collect(),
        3 => x.iter().map(|x| crelu(*x)).collect(),
        4 => x.iter().map(|x| crelu(*x) * crelu(*x)).collect(),
        5 => x.iter().map(|x| relu(*x) * relu(*x)).collect(),
        6 => {
            let (a, b) = x.split_at(x.len() / 2);
            a.iter().zip(b).map(|(a, b)| crelu(*a) * crelu(*b)).collect()
        }
        7 => x.iter().map(|x| crelu(*x)).chain(x.iter().map(|x| crelu(x * x))).collect(),
        8 => x.iter().map(|x| if *x > 0.0 { *x } else { alpha * *x }).collect(),
        9 => x.iter().map(|x| 1.0 / (1.0 + exponential::exp(-x))).collect(),
        10 => x.iter().map(|x| exponential::tanh(*x)).collect(),
        11 => exponential::softmax(x),
        20 => {
            let one = |x: f32| match x + 3.0 {
                y if y >= 6.0 => x,
                y if y > 0.0 => x * y / 6.0,
                _ => 0.0,
            };
            x.iter().map(|x| one(*x)).collect()
        }
        other => panic!("activation {other}"),
    }
}
