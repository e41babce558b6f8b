//! Networks with piece-square values beside bullet's layers, one a head, and their outputs in plain arithmetic.

use crate::synthetic;
use tamis_quant::program::{QuantTensor, Values};
use tamis_quant::quantised::QuantNet;

const HIDDEN: usize = 16;

/// A network and its outputs from the accumulators, the first side's first, the piece-square values of both sides, own
/// first, and the output bucket.
pub struct Form {
    /// What it shows.
    pub name: &'static str,
    /// Keys of `[input]`.
    pub input: &'static str,
    /// Tables of the description.
    pub tables: &'static str,
    /// Keys of each layer.
    pub layers: &'static [&'static str],
    /// Name, type and scale of each tensor.
    pub tensors: &'static [(&'static str, &'static str, u32)],
    /// How large the values of `pstw` are.
    pub values: i32,
    /// The outputs.
    pub plain: Plain,
}

/// Outputs from the accumulators, the first side's first, the piece-square values of both sides, own first, and the
/// output bucket.
pub type Plain = fn(&QuantNet, &[f64], [&[f64]; 2], usize) -> Vec<f64>;

const TWO: &str = "kind = \"features\"\nsize = 40\nperspectives = 2\nmax_active = 12";
const ONE: &str = "kind = \"features\"\nsize = 40\nperspectives = 1\nmax_active = 12";
const LONG: &str = "kind = \"features\"\nsize = 400\nperspectives = 1\nmax_active = 300";
const CHESS: &str = "kind = \"chess\"\nother_first = true";

/// Every head.
pub const FORMS: [Form; 8] = [
    Form {
        name: "divided twice, buckets",
        input: TWO,
        tables: "[output]\nscale = 400\n[buckets]\ncount = 3\n[psqt]\nbucketed = true\n",
        layers: &["outputs = 16\nactivation = \"screlu\"", "outputs = 1\nbucketed = true"],
        tensors: &[
            ("l0w", "i16", 255),
            ("l0b", "i16", 255),
            ("l1w", "i16", 64),
            ("l1b", "i16", 16_320),
            ("pstw", "i32", 6000),
        ],
        values: 40_000,
        plain: |net, acc, psqt, bucket| {
            let sum = dot(net, acc, bucket, |x| x.clamp(0.0, 255.0).powi(2));
            let bias = f64::from(net.layers[1].bias.integers()[bucket]);
            let head = (((sum / 255.0).trunc() + bias) * 400.0 / (255.0 * 64.0)).trunc();
            vec![head + ((psqt[0][bucket] - psqt[1][bucket]) * 400.0 / 6000.0).trunc()]
        },
    },
    Form {
        name: "divided once, rows of bytes",
        input: TWO,
        tables: "[output]\nscale = 400\ndivide = \"once\"\n[psqt]\nof = \"half-difference\"\n",
        layers: &["outputs = 16\nactivation = \"screlu\"", "outputs = 1"],
        tensors: &[
            ("pstw", "i16", 300),
            ("l0w", "i8", 64),
            ("l0b", "i16", 64),
            ("l1w", "i16", 64),
            ("l1b", "i16", 4096),
        ],
        values: 9000,
        plain: |net, acc, psqt, _| {
            let sum = dot(net, acc, 0, |x| x.clamp(0.0, 64.0).powi(2));
            let bias = f64::from(net.layers[1].bias.integers()[0]);
            let head = ((sum + bias * 64.0) * 400.0 / (64.0 * 64.0 * 64.0)).trunc();
            vec![head + ((psqt[0][0] - psqt[1][0]) * 400.0 / 600.0).trunc()]
        },
    },
    Form {
        name: "rounded once",
        input: CHESS,
        tables: "[output]\nscale = 400\ndivide = \"rounded\"\n[psqt]\n",
        layers: &["outputs = 16\nactivation = \"screlu\"", "outputs = 1"],
        tensors: &[
            ("l0w", "i16", 256),
            ("l0b", "i16", 256),
            ("l1w", "i16", 16_000),
            ("l1b", "i32", 32_000),
            ("pstw", "i16", 64),
        ],
        values: 5000,
        plain: |net, acc, psqt, _| {
            let weights = net.layers[1].weights.integers().iter().copied().map(f64::from);
            let term = |(x, w): (&f64, f64)| {
                let c = x.clamp(0.0, 256.0);
                (c * w / 32_768.0 + 0.5).floor() * c
            };
            let sum: f64 = acc.iter().zip(weights).map(term).sum();
            let bias = f64::from(net.layers[1].bias.integers()[0]);
            let nearest = |x: f64| (x + 0.5).floor();
            vec![nearest((sum + bias) * 400.0 / 32_000.0) + nearest((psqt[0][0] - psqt[1][0]) * 400.0 / 64.0)]
        },
    },
    Form {
        name: "sums of 64 bits, own values with a bias",
        input: TWO,
        tables: "[output]\nscale = 1\n[psqt]\nof = \"own\"\nbias = \"pstb\"\n",
        layers: &["outputs = 16\nactivation = \"sqrrelu\"", "outputs = 2"],
        tensors: &[
            ("l0w", "i16", 2000),
            ("l0b", "i16", 2000),
            ("l1w", "i16", 64),
            ("l1b", "i32", 128_000),
            ("pstw", "i32", 1),
            ("pstb", "i32", 1),
        ],
        values: 1_000_000,
        plain: |net, acc, psqt, _| {
            let weights = net.layers[1].weights.integers();
            let row = |output: usize| -> f64 {
                let squares = acc.iter().map(|x| x.max(0.0).powi(2));
                squares.zip(weights.iter().skip(output).step_by(2)).map(|(x, w)| x * f64::from(*w)).sum()
            };
            let bias = |output: usize| f64::from(net.layers[1].bias.integers()[output]);
            let head = |output: usize| (((row(output) / 2000.0).trunc() + bias(output)) / 128_000.0).trunc();
            vec![head(0) + psqt[0][0], head(1) + psqt[0][1]]
        },
    },
    Form {
        name: "pairs, bytes, reals",
        input: TWO,
        tables: "[output]\nscale = 16\n[buckets]\ncount = 3\n[psqt]\nbucketed = true\nof = \"half-difference\"\n",
        layers: &[
            "outputs = 16\nactivation = \"pairwise-crelu\"\nproduct_shift = 9",
            "outputs = 1\nactivation = \"relu\"\nbucketed = true",
            "outputs = 1",
        ],
        tensors: &[
            ("l0w", "i16", 256),
            ("l0b", "i16", 256),
            ("l1w", "i8", 64),
            ("l1b", "f32", 0),
            ("l2w", "f32", 0),
            ("l2b", "f32", 0),
            ("pstw", "i16", 64),
        ],
        values: 2000,
        plain: |net, acc, psqt, bucket| {
            let pairs: Vec<f64> = acc
                .chunks(HIDDEN)
                .flat_map(|side| {
                    let clip = |x: f64| x.clamp(0.0, 256.0);
                    let (first, second) = side.split_at(HIDDEN / 2);
                    first
                        .iter()
                        .zip(second)
                        .map(move |(a, b)| (clip(*a) * clip(*b) / 512.0).floor())
                        .collect::<Vec<f64>>()
                })
                .collect();
            let sum = dot(net, &pairs, bucket, |x| x) / 8192.0 + reals(&net.layers[1].bias)[bucket];
            let tail = sum.max(0.0) * reals(&net.layers[2].weights)[0] + reals(&net.layers[2].bias)[0];
            vec![16.0 * (tail + (psqt[0][bucket] - psqt[1][bucket]) / 128.0)]
        },
    },
    Form {
        name: "reals from accumulators, three outputs, one perspective",
        input: ONE,
        tables: "[psqt]\nbias = \"pstb\"\n",
        layers: &["outputs = 16\nactivation = \"crelu\"", "outputs = 3"],
        tensors: &[
            ("l0w", "i16", 256),
            ("l0b", "i16", 256),
            ("l1w", "f32", 0),
            ("l1b", "f32", 0),
            ("pstb", "i16", 1024),
            ("pstw", "i16", 1024),
        ],
        values: 3000,
        plain: |net, acc, psqt, _| {
            let (weights, bias) = (reals(&net.layers[1].weights), reals(&net.layers[1].bias));
            let row = |output: usize| -> f64 {
                let own = weights.iter().skip(output).step_by(3);
                acc.iter().zip(own).map(|(x, weight)| x.clamp(0.0, 256.0) / 256.0 * weight).sum()
            };
            (0..3).map(|output| row(output) + bias[output] + psqt[0][output] / 1024.0).collect()
        },
    },
    Form {
        name: "long lists, reals from sums",
        input: LONG,
        tables: "[psqt]\n",
        layers: &["outputs = 16\nactivation = \"crelu\"", "outputs = 1"],
        tensors: &[
            ("l0w", "i16", 256),
            ("l0b", "i16", 256),
            ("l1w", "i16", 64),
            ("l1b", "f32", 0),
            ("pstw", "i16", 128),
        ],
        values: 1000,
        plain: |net, acc, psqt, _| {
            let sum = dot(net, acc, 0, |x| x.clamp(0.0, 256.0)) / 16_384.0;
            vec![sum + reals(&net.layers[1].bias)[0] + psqt[0][0] / 128.0]
        },
    },
    Form {
        name: "integers to the end",
        input: CHESS,
        tables: "[output]\nscale = 400\n[psqt]\n",
        layers: &[
            "outputs = 16\nactivation = \"relu\"\nactivation_shift = 5",
            "outputs = 4\nactivation = \"crelu\"\nactivation_shift = 6",
            "outputs = 1",
        ],
        tensors: &[
            ("l0w", "i16", 4096),
            ("l0b", "i16", 4096),
            ("l1w", "i8", 64),
            ("l1b", "i32", 8192),
            ("l2w", "i16", 256),
            ("l2b", "i32", 32_768),
            ("pstw", "i16", 512),
        ],
        values: 3000,
        plain: |net, acc, psqt, _| {
            let bytes: Vec<f64> = acc.iter().map(|x| (x.max(0.0) / 32.0).floor().min(127.0)).collect();
            let last = net.layers[2].weights.integers().iter().copied().map(f64::from);
            let activated = (0..4).map(|output| {
                let own = net.layers[1].weights.integers().iter().skip(output).step_by(4);
                let sum: f64 = bytes.iter().zip(own).map(|(x, weight)| x * f64::from(*weight)).sum();
                ((sum + f64::from(net.layers[1].bias.integers()[output])) / 64.0).floor().clamp(0.0, 128.0)
            });
            let sum: f64 = activated.zip(last).map(|(x, weight)| x * weight).sum();
            let head = ((sum + f64::from(net.layers[2].bias.integers()[0])) * 400.0 / 32_768.0).trunc();
            vec![head + ((psqt[0][0] - psqt[1][0]) * 400.0 / 512.0).trunc()]
        },
    },
];

/// What the second layer makes of activated inputs, of one output a bucket.
fn dot(net: &QuantNet, x: &[f64], bucket: usize, activation: fn(f64) -> f64) -> f64 {
    let weights = &net.layers[1].weights;
    let row = weights.integers().iter().skip(bucket).step_by(weights.outputs);
    x.iter().zip(row).map(|(x, weight)| activation(*x) * f64::from(*weight)).sum()
}

fn reals(tensor: &QuantTensor) -> Vec<f64> {
    match &tensor.values {
        Values::F32(values) => values.iter().copied().map(f64::from).collect(),
        Values::Int(_) => panic!("`{}` has reals", tensor.name),
    }
}

/// A network of a form.
pub fn network(form: &Form) -> QuantNet {
    let layer = |(index, keys): (usize, &&str)| format!("[[layer]]\nname = \"l{index}\"\n{keys}\n");
    let tensor = |(name, element, scale): &(&str, &str, u32)| {
        let scale = if *scale > 0 { format!("scale = {scale}\n") } else { String::new() };
        format!("[[tensor]]\nname = \"{name}\"\ntype = \"{element}\"\n{scale}")
    };
    let text = format!(
        "schema = 1\nname = \"piece squares\"\n[input]\n{}\n{}{}{}",
        form.input,
        form.tables,
        form.layers.iter().enumerate().map(layer).collect::<String>(),
        form.tensors.iter().map(tensor).collect::<String>()
    );
    let is_wide = form.name.starts_with("sums of 64 bits");
    synthetic::network(&text, |name, random| match name {
        "pstw" | "pstb" => random.within(form.values) as f32,
        "l0w" if is_wide => random.within(2000) as f32,
        "l0w" => random.within(60) as f32,
        "l0b" => random.within(120) as f32,
        "l1w" if form.tensors.contains(&("l1w", "f32", 0)) => random.within(40) as f32 / 16.0,
        "l1w" if is_wide => 20_000.0 + random.within(9000) as f32,
        "l1w" => random.within(120) as f32,
        "l1b" | "l2b" if form.tensors.contains(&(name, "f32", 0)) => random.within(16) as f32 / 16.0,
        "l2w" if form.tensors.contains(&(name, "f32", 0)) => 3.0,
        _ => random.within(9000) as f32,
    })
}
