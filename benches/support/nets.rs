//! Networks for the benchmarks.

use crate::{CHESS, Random};
use std::path::Path;
use tamis_quant::arch::{Architecture, HeadDivision};
use tamis_quant::float::Net;
use tamis_quant::import::importers::dense_graph;
use tamis_quant::import::{read_checkpoint, read_raw};
use tamis_quant::pack::{Provenance, pack};
use tamis_quant::program::Program;
use tamis_quant::proof::prove;
use tamis_quant::quantise::graph::{Options, quantise_graph};
use tamis_quant::quantise::quantise;
use tamis_quant::run::AlignedBytes;
use tamis_quant::stockfish::{
    Affine, Block, Encoding, FeatureSet, Net as FamilyNet, PSQT_BUCKETS, RelationRows, Shape, Stack, Transformer,
    decide,
};
use tamis_runtime::format::Model;
use tamis_runtime::raw::claim;

/// Weights and biases of two layers, 255 and 64.
const TENSORS: &str = "[[tensor]]\nname = \"l0w\"\ntype = \"i16\"\nscale = 255\nrounding = \"nearest\"\n\
    [[tensor]]\nname = \"l0b\"\ntype = \"i16\"\nscale = 255\nrounding = \"nearest\"\n\
    [[tensor]]\nname = \"l1w\"\ntype = \"i16\"\nscale = 64\nrounding = \"nearest\"\n\
    [[tensor]]\nname = \"l1b\"\ntype = \"i16\"\nscale = 16320\nrounding = \"nearest\"\n";

/// The same where the head's products are rounded, at the scales that `quantise` comes to.
const ROUNDED_TENSORS: &str = "[[tensor]]\nname = \"l0w\"\ntype = \"i16\"\nscale = 1024\nrounding = \"nearest\"\n\
    [[tensor]]\nname = \"l0b\"\ntype = \"i16\"\nscale = 1024\nrounding = \"nearest\"\n\
    [[tensor]]\nname = \"l1w\"\ntype = \"i16\"\nscale = 16384\nrounding = \"nearest\"\n\
    [[tensor]]\nname = \"l1b\"\ntype = \"i32\"\nscale = 524288\nrounding = \"nearest\"\n";

/// The reference network of `tests/reference` as a container.
pub fn reference() -> AlignedBytes {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests");
    let text = std::fs::read_to_string(tests.join("architectures/reference.toml")).unwrap();
    let arch = Architecture::from_toml(&text, "reference.toml").unwrap();
    container(&read_checkpoint(&tests.join("reference/nnue.weights.bin"), &arch).unwrap().net)
}

/// A container of 4 MiB, almost all of it one tensor: (768 -> 2720)x2 -> 1, weights of any values.
pub fn four_mebibytes() -> AlignedBytes {
    let text = format!(
        "schema = 1\nname = \"large\"\ninput = {{ kind = \"chess\" }}\noutput = {{ scale = 400 }}\n\
         [[layer]]\nname = \"l0\"\noutputs = 2720\nactivation = \"screlu\"\n\
         [[layer]]\nname = \"l1\"\noutputs = 1\n{TENSORS}"
    );
    let arch = Architecture::from_toml(&text, "large").unwrap();
    let weights = Random::new(4).reals(arch.raw_len_bytes() as usize / 4);
    let raw: Vec<u8> = weights.iter().flat_map(|weight| weight.to_le_bytes()).collect();
    container(&read_raw(&raw, &arch).unwrap())
}

/// (768 × `king_buckets` -> `hidden`)x2 -> 1x8 with SCReLU, and a `raw.bin` for it: weights as training leaves them,
/// most near zero. 1024 wide, 16 king buckets make 50.4 MB of f32 and 32 make a container of 50.4 MB.
pub fn king_buckets(king_buckets: usize, hidden: usize) -> (Architecture, Vec<u8>) {
    let table: Vec<String> = (0..64).map(|square| (square * king_buckets / 64).to_string()).collect();
    let text = format!(
        "schema = 1\nname = \"buckets\"\ninput = {{ kind = \"chess\", king_buckets = [{}] }}\n\
         buckets = {{ count = 8 }}\noutput = {{ scale = 400 }}\n\
         [[layer]]\nname = \"l0\"\noutputs = {hidden}\nactivation = \"screlu\"\n\
         [[layer]]\nname = \"l1\"\noutputs = 1\nbucketed = true\n{TENSORS}",
        table.join(", ")
    );
    let arch = Architecture::from_toml(&text, "buckets").unwrap();
    let mut random = Random::new(50);
    // The sum of four uniform numbers has tails like the normal distribution's; a standard deviation of 0.15.
    let mut weight = || (0..4).map(|_| random.within(-1000, 1000) as f32).sum::<f32>() * (0.15 / 1155.0);
    let raw = (0..arch.raw_len_bytes() / 4).flat_map(|_| weight().to_le_bytes()).collect();
    (arch, raw)
}

/// The container of [`king_buckets`].
pub fn king_buckets_container(count: usize, hidden: usize) -> AlignedBytes {
    let (arch, raw) = king_buckets(count, hidden);
    container(&read_raw(&raw, &arch).unwrap())
}

/// (768 -> `hidden`)x2 -> 1 with SCReLU, weights of the range that training leaves, 1 output bucket or more. The wider,
/// the smaller are the head's, so that the sums of every width are proved to fit 32 bits, as the anchors' are taken to.
pub(crate) fn perspective(hidden: usize, buckets: usize, division: HeadDivision) -> Model<'static> {
    let (division, tensors) =
        (division.word(), if division == HeadDivision::Rounded { ROUNDED_TENSORS } else { TENSORS });
    let (table, bucketed) =
        if buckets > 1 { (format!("buckets = {{ count = {buckets} }}\n"), true) } else { (String::new(), false) };
    let text = format!(
        "schema = 1\nname = \"perspective\"\ninput = {{ kind = \"chess\" }}\n{table}\
         output = {{ scale = 400, divide = \"{division}\" }}\n\
         [[layer]]\nname = \"l0\"\noutputs = {hidden}\nactivation = \"screlu\"\n\
         [[layer]]\nname = \"l1\"\noutputs = 1\nbucketed = {bucketed}\n{tensors}"
    );
    let mut random = Random::new(11);
    let most = (30 * 1024 / hidden as i32).min(63);
    model(&text, |index| {
        // Feature weights within ±30 of 255, then head weights within ±63 of 64 or less.
        let weight = if index < (CHESS + 1) * hidden {
            random.within(-30, 30) as f32 / 255.0
        } else {
            random.within(-most, most) as f32 / 64.0
        };
        if index >= (CHESS + 1) * hidden + 2 * hidden * buckets { 0.0 } else { weight }
    })
}

/// (768 -> 1024)x2, pairwise -> 16 -> 32 -> 1 with eight output buckets; the second layer is i8 with weights of ±63.
pub(crate) fn multi_layer() -> Model<'static> {
    let text = "schema = 1\nname = \"layers\"\ninput = { kind = \"chess\" }\n\
         buckets = { count = 8 }\noutput = { scale = 400 }\n\
         [[layer]]\nname = \"l0\"\noutputs = 1024\nactivation = \"pairwise-crelu\"\nproduct_shift = 9\n\
         [[layer]]\nname = \"l1\"\noutputs = 16\nactivation = \"crelu\"\nbucketed = true\n\
         [[layer]]\nname = \"l2\"\noutputs = 32\nactivation = \"crelu\"\nbucketed = true\n\
         [[layer]]\nname = \"l3\"\noutputs = 1\nbucketed = true\n\
         [[tensor]]\nname = \"l0w\"\ntype = \"i16\"\nscale = 255\n[[tensor]]\nname = \"l0b\"\ntype = \"i16\"\nscale = \
         255\n\
         [[tensor]]\nname = \"l1w\"\ntype = \"i8\"\nscale = 64\n[[tensor]]\nname = \"l1b\"\ntype = \"f32\"\n\
         [[tensor]]\nname = \"l2w\"\ntype = \"f32\"\n[[tensor]]\nname = \"l2b\"\ntype = \"f32\"\n\
         [[tensor]]\nname = \"l3w\"\ntype = \"f32\"\n[[tensor]]\nname = \"l3b\"\ntype = \"f32\"\n";
    let mut random = Random::new(12);
    model(text, |index| match index < (CHESS + 1) * 1024 {
        true => random.within(-30, 30) as f32 / 255.0,
        false => random.within(-63, 63) as f32 / 64.0,
    })
}

/// A network with Stockfish 19's features and head and `width` accumulators a side. Its weights are small, so that no
/// sum leaves its type.
pub(crate) fn threats(width: usize) -> Model<'static> {
    let features = FeatureSet::ThreatsAndPairs;
    let shape = Shape { features, width, head: features.heads()[0] };
    let (mut random, encoding) = (Random::new(19), Encoding::Leb128);
    let mut block = |len: usize, most: i32| Block { values: random.vector(len, -most, most, |value| value), encoding };
    let count = features.piece_count();
    let narrowed =
        |block: Block<i32>| Block { values: block.values.iter().map(|value| *value as i16).collect(), encoding };
    let (biases, weights) = (narrowed(block(width, 60)), narrowed(block(count * width, 60)));
    let psqt = Some(block(count * PSQT_BUCKETS, 3000));
    let relations = features.relations().iter().map(|relation| RelationRows {
        weights: block(relation.count() * width, 40).values.iter().map(|value| *value as i8).collect(),
        psqt: block(relation.count() * PSQT_BUCKETS, 60),
    });
    let relations = relations.collect();
    let mut affine = |(inputs, outputs): (usize, usize)| {
        let weights = random.vector(outputs * inputs.next_multiple_of(32), -60, 60, |value| value as i8);
        Affine { inputs, outputs, biases: random.vector(outputs, -2000, 2000, |value| value), weights }
    };
    let stacks = (0..shape.stacks()).map(|_| {
        let [first, second, output] = shape.layers().map(&mut affine);
        Stack { first, second, output }
    });
    let stacks = stacks.collect();
    let transformer = Transformer { biases, weights, psqt, relations };
    let division = decide(&shape, None).division;
    let net = FamilyNet { shape, description: b"benchmark".to_vec(), transformer, stacks, division };
    leaked(packed(&net.lower()))
}

/// A dense int8 network with ReLU between its layers. `earns_pairs`: its weights earn [`claim::QUADS_FIT_I16`]: one
/// large weight a row, the others below a third of it; otherwise any weights up to the largest.
pub(crate) fn perceptron(widths: &[usize], earns_pairs: bool) -> Model<'static> {
    let mut text = format!(
        "schema = 1\nname = \"perceptron\"\ninput = {{ kind = \"dense\", size = {}, type = \"u7\", max = 1.0 }}\n",
        widths[0]
    );
    let last = widths.len() - 2;
    let mut ends = Vec::new();
    for (index, pair) in widths.windows(2).enumerate() {
        let activation = if index == last { "" } else { "activation = \"relu\"\nactivation_max = 8.0\n" };
        text += &format!("[[layer]]\nname = \"l{index}\"\noutputs = {}\n{activation}", pair[1]);
        ends.push((pair[0] * pair[1], pair[1]));
    }
    for index in 0..=last {
        text += &format!(
            "[[tensor]]\nname = \"l{index}w\"\ntype = \"i8\"\n[[tensor]]\nname = \"l{index}b\"\ntype = \"i32\"\n"
        );
    }
    let mut random = Random::new(13);
    let (mut layer, mut within) = (0, 0);
    let model = model(&text, |_| {
        let (weights, outputs) = ends[layer];
        // Outputs are innermost, so the first `outputs` weights are those of the first input.
        let large = within < outputs;
        let value = if large { 127 } else { random.within(-127, 127) };
        let value = if earns_pairs && !large { value / 3 } else { value };
        let value = if within >= weights { 0 } else { value };
        within += 1;
        if within == weights + outputs {
            (layer, within) = (layer + 1, 0);
        }
        value as f32 / 127.0 / 8.0
    });
    let wide: Vec<_> = model
        .tensors()
        .iter()
        .filter(|tensor| tensor.rows as usize == widths[1] && tensor.cols as usize == widths[0])
        .collect();
    assert!(wide.iter().all(|tensor| (tensor.claims & claim::QUADS_FIT_I16 != 0) == earns_pairs) && !wide.is_empty());
    model
}

/// A model for the rest of the program from a description and its raw weights, by index.
fn model(text: &str, mut weight: impl FnMut(usize) -> f32) -> Model<'static> {
    let arch = Architecture::from_toml(text, "benchmark").unwrap();
    let raw: Vec<u8> = (0..arch.raw_len_bytes() as usize / 4).flat_map(|index| weight(index).to_le_bytes()).collect();
    leaked(container(&read_raw(&raw, &arch).unwrap()))
}

fn leaked(file: AlignedBytes) -> Model<'static> {
    let file: &'static AlignedBytes = Box::leak(Box::new(file));
    Model::parse(file.as_ref()).unwrap()
}

fn container(net: &Net<f32>) -> AlignedBytes {
    let program = if net.arch.input.is_sparse() {
        quantise(net).unwrap().lower().unwrap()
    } else {
        let (graph, ranges) = dense_graph(net).unwrap();
        quantise_graph(&graph, &[], &Options::default().with_ranges(ranges)).unwrap()
    };
    packed(&program)
}

fn packed(program: &Program) -> AlignedBytes {
    AlignedBytes::copy_of(&pack(program, &prove(program), &Provenance::default()).unwrap())
}
