//! Networks that a description asks for, packed as `quantise` packs them.

use super::{Random, SampleModel};
use crate::{lowered, packed, packed_program};
use tamis_quant::arch::{Architecture, ElementType, InputKind};
use tamis_quant::float::{Affine, Matrix, Net};
use tamis_quant::program::{QuantTensor, Values};
use tamis_quant::quantised::{QuantLayer, QuantNet};

/// A layer: its lines in the description, its weights' and its bias's type and scale, and how large the weights are.
struct Layer {
    lines: &'static str,
    weights: &'static str,
    bias: &'static str,
    limit: i32,
}

const fn layer(lines: &'static str, weights: &'static str, bias: &'static str, limit: i32) -> Layer {
    Layer { lines, weights, bias, limit }
}

const I16_255: &str = "type = 'i16'\nscale = 255";
const I16_64: &str = "type = 'i16'\nscale = 64";
const I8_64: &str = "type = 'i8'\nscale = 64";
const HEAD_BIAS: &str = "type = 'i16'\nscale = 16320";
const WIDE_HEAD_BIAS: &str = "type = 'i32'\nscale = 16320";
const I16_4064: &str = "type = 'i16'\nscale = 4064";
const I32_8128: &str = "type = 'i32'\nscale = 8128";
const I32_4096: &str = "type = 'i32'\nscale = 4096";
const I32_64: &str = "type = 'i32'\nscale = 64";
const I32_SQUARED: &str = "type = 'i32'\nscale = 262144";
const I16_256: &str = "type = 'i16'\nscale = 256";
const I16_960: &str = "type = 'i16'\nscale = 960";
const I16_1020: &str = "type = 'i16'\nscale = 1020";
const ROUNDED_PAIRS: &str = "outputs = 38\nactivation = 'pairwise-crelu'\nproduct_shift = 13\nproduct_rounded = true";
const I16_16000: &str = "type = 'i16'\nscale = 16000";
const I32_32000: &str = "type = 'i32'\nscale = 32000";
const I32_450000: &str = "type = 'i32'\nscale = 450000";
const F32: &str = "type = 'f32'";
const I8: &str = "type = 'i8'";
const I32: &str = "type = 'i32'";

const CHESS: &str = "kind = 'chess'";
/// Two king buckets: the first rank, and the others.
const MIRRORED: &str = "kind = 'chess'\nmirrored = true\nking_buckets = [0, 0, 0, 0, 1, 1, 1, 1, \
                        1, 1, 1, 1, 1, 1, 1, 1, \
                        1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]";
const MERGED: &str = "kind = 'chess'\nmirrored = true\nmerged_kings = true\nking_buckets = [0, 0, 0, 0, \
                      1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]";
const ONE_LIST: &str = "kind = 'features'\nsize = 11\nperspectives = 1\nmax_active = 4";
const TWO_LISTS: &str = "kind = 'features'\nsize = 7\nperspectives = 2\nmax_active = 7";
const U7: &str = "kind = 'dense'\nsize = 13\ntype = 'u7'\nmax = 1.0";
const SIGNED: &str = "kind = 'dense'\nsize = 16\ntype = 'i8'\nmax = 2.0";

/// A network for each kind of input and head. Widths stand beside the vector widths of the kernels, never on them.
#[rustfmt::skip]
pub(super) fn described() -> Vec<SampleModel> {
    vec![
        sample("clipped squares, short products", TWO_LISTS, "", &[
            layer("outputs = 33\nactivation = 'screlu'", I16_255, I16_255, 250),
            layer("outputs = 1", I16_64, HEAD_BIAS, 126),
        ]),
        sample("clipped squares, long products", ONE_LIST, "", &[
            layer("outputs = 37\nactivation = 'screlu'", I16_255, I16_255, 250),
            layer("outputs = 2", I16_64, WIDE_HEAD_BIAS, 5000),
        ]),
        sample("clipped, three outputs", ONE_LIST, "", &[
            layer("outputs = 35\nactivation = 'crelu'", I16_255, I16_255, 250),
            layer("outputs = 3", I16_64, HEAD_BIAS, 126),
        ]),
        sample("unclipped squares", TWO_LISTS, "", &[
            layer("outputs = 41\nactivation = 'sqrrelu'", I16_255, I16_255, 250),
            layer("outputs = 1", I16_64, HEAD_BIAS, 126),
        ]),
        rounded("rounded products", TWO_LISTS, "", &[
            layer("outputs = 39\nactivation = 'screlu'", I16_960, I16_960, 900),
            layer("outputs = 1", I16_16000, I32_450000, 32_767),
        ]),
        rounded("rounded products, buckets, three outputs", ONE_LIST, "count = 3", &[
            layer("outputs = 36\nactivation = 'screlu'", I16_256, I16_256, 250),
            layer("outputs = 3\nbucketed = true", I16_16000, I32_32000, 32_767),
        ]),
        sample("chess, no buckets", CHESS, "", &[
            layer("outputs = 3\nactivation = 'crelu'", I16_255, I16_255, 60),
            layer("outputs = 1", I16_64, HEAD_BIAS, 126),
        ]),
        sample("chess, mirrored king buckets, output buckets", MIRRORED, "count = 4", &[
            layer("outputs = 18\nactivation = 'screlu'", I16_255, I16_255, 60),
            layer("outputs = 1\nbucketed = true", I16_64, HEAD_BIAS, 126),
        ]),
        sample("chess, kings on one plane", MERGED, "count = 4", &[
            layer("outputs = 10\nactivation = 'screlu'", I16_255, I16_255, 60),
            layer("outputs = 1\nbucketed = true", I16_64, HEAD_BIAS, 126),
        ]),
        // Whole vectors of every width, and a rest.
        sample("chess, mirrored king buckets, wide", MIRRORED, "", &[
            layer("outputs = 300\nactivation = 'screlu'", I16_255, I16_255, 60),
            layer("outputs = 1", I16_64, HEAD_BIAS, 126),
        ]),
        sample("pairs, i8, both squares and a skip", TWO_LISTS, "count = 3", &[
            layer("outputs = 38\nactivation = 'pairwise-crelu'\nproduct_shift = 9", I16_255, I16_255, 250),
            layer("outputs = 6\nactivation = 'dual-crelu'\nbucketed = true\nskip = 1", I8_64, F32, 127),
            layer("outputs = 9\nactivation = 'screlu'\nbucketed = true", F32, F32, 0),
            layer("outputs = 1\nbucketed = true", F32, F32, 0),
        ]),
        sample("rounded pairs, i8, reals", TWO_LISTS, "count = 3", &[
            layer(ROUNDED_PAIRS, I16_1020, I16_1020, 1000),
            layer("outputs = 6\nactivation = 'screlu'\nbucketed = true", I8_64, F32, 127),
            layer("outputs = 1\nbucketed = true", F32, F32, 0),
        ]),
        sample("sums to reals", ONE_LIST, "", &[
            layer("outputs = 21\nactivation = 'screlu'", I16_255, I16_255, 250),
            layer("outputs = 5\nactivation = 'relu'", I16_64, F32, 126),
            layer("outputs = 6\nactivation = 'sqrrelu'", F32, F32, 0),
            layer("outputs = 8\nactivation = 'pairwise-crelu'", F32, F32, 0),
            layer("outputs = 2", F32, F32, 0),
        ]),
        sample("reals from clipped accumulators", TWO_LISTS, "", &[
            layer("outputs = 19\nactivation = 'crelu'", I16_255, I16_255, 250),
            layer("outputs = 9\nactivation = 'crelu'", F32, F32, 0),
            layer("outputs = 1", F32, F32, 0),
        ]),
        sample("reals from clipped squares", ONE_LIST, "", &[
            layer("outputs = 19\nactivation = 'screlu'", I16_255, I16_255, 250),
            layer("outputs = 1", F32, F32, 0),
        ]),
        sample("reals from unclipped squares", ONE_LIST, "", &[
            layer("outputs = 19\nactivation = 'sqrrelu'", I16_255, I16_255, 250),
            layer("outputs = 1", F32, F32, 0),
        ]),
        sample("reals from pairs", TWO_LISTS, "", &[
            layer("outputs = 22\nactivation = 'pairwise-crelu'\nproduct_shift = 9", I16_255, I16_255, 250),
            layer("outputs = 1", F32, F32, 0),
        ]),
        sample("unclipped, with an integer head", TWO_LISTS, "", &[
            layer("outputs = 37\nactivation = 'relu'", I16_255, I16_255, 250),
            layer("outputs = 1", I16_64, HEAD_BIAS, 126),
        ]),
        sample("bytes, reals", ONE_LIST, "", &[
            layer("outputs = 35\nactivation = 'crelu'\nactivation_shift = 1", I16_255, I16_255, 250),
            layer("outputs = 3\nactivation = 'screlu'", I8_64, F32, 127),
            layer("outputs = 2", F32, F32, 0),
        ]),
        // 127 stands for 1 in the bytes, 64 in the sums behind; its square where they are squared.
        sample("bytes, and integers to the end", TWO_LISTS, "count = 3", &[
            layer("outputs = 34\nactivation = 'relu'\nactivation_shift = 5", I16_4064, I16_4064, 250),
            layer("outputs = 9\nactivation = 'relu'\nbucketed = true\nactivation_shift = 7", I8_64, I32_8128, 127),
            layer("outputs = 7\nactivation = 'crelu'\nactivation_shift = 6", I16_64, I32_4096, 126),
            layer("outputs = 5\nactivation = 'screlu'\nactivation_shift = 6\nbucketed = true", I8_64, I32_4096, 127),
            layer("outputs = 6\nactivation = 'dual-crelu'\nactivation_shift = 12", I16_64, I32_SQUARED, 126),
            layer("outputs = 1\nbucketed = true", I32_64, I32_SQUARED, 60),
        ]),
        sample("pairs, and integers to the end", TWO_LISTS, "", &[
            layer("outputs = 38\nactivation = 'pairwise-crelu'\nproduct_shift = 9", I16_255, I16_255, 250),
            layer("outputs = 6\nactivation = 'sqrrelu'\nactivation_shift = 7", I8_64, I32_8128, 127),
            layer("outputs = 2", I16_64, I32_SQUARED, 126),
        ]),
        sample("i8 feature rows", TWO_LISTS, "", &[
            layer("outputs = 35\nactivation = 'screlu'", I8_64, "type = 'i16'\nscale = 64", 127),
            layer("outputs = 1", I16_64, "type = 'i16'\nscale = 4096", 126),
        ]),
        sample("dense, u7", U7, "", &[
            layer("outputs = 17\nactivation = 'relu'\nactivation_max = 3.0", I8, I32, 0),
            layer("outputs = 6\nactivation = 'crelu'", I8, I32, 0),
            layer("outputs = 5", I8, I32, 0),
        ]),
        // Three inputs a row cannot leave the claim that four products fit i16.
        sample("dense, paired", U7, "", &[
            layer("outputs = 3\nactivation = 'relu'\nactivation_max = 3.0", I8, I32, 0),
            layer("outputs = 20", I8, I32, 0),
        ]),
        sample("dense, i8", SIGNED, "", &[layer("outputs = 10", I8, I32, 0)]),
    ]
}

fn sample(name: &'static str, input: &str, buckets: &str, layers: &[Layer]) -> SampleModel {
    of_description(name, &description(name, input, buckets, layers), layers)
}

/// With an integer head that rounds its products.
fn rounded(name: &'static str, input: &str, buckets: &str, layers: &[Layer]) -> SampleModel {
    let text = description(name, input, buckets, layers);
    of_description(name, &text.replace("[output]\n", "[output]\ndivide = 'rounded'\n"), layers)
}

fn of_description(name: &'static str, text: &str, layers: &[Layer]) -> SampleModel {
    let arch = Architecture::from_toml(text, name).unwrap();
    let mut random = Random(layers.len() as u64 + 1000 * layers[0].lines.len() as u64);
    let bytes = match arch.input.kind {
        InputKind::Dense => packed_program(&lowered(&reals(&arch, &mut random))),
        _ => packed(&integers(&arch, layers, &mut random)),
    };
    SampleModel { name, bytes }
}

fn description(name: &str, input: &str, buckets: &str, layers: &[Layer]) -> String {
    let mut text = format!("schema = 1\nname = '{name}'\n[input]\n{input}\n[file]\ntail = 'none'\n");
    if !input.contains("dense") {
        text += "[output]\nscale = 400\n";
    }
    if !buckets.is_empty() {
        text += &format!("[buckets]\n{buckets}\n");
    }
    for (index, layer) in layers.iter().enumerate() {
        text += &format!("[[layer]]\nname = 'l{index}'\n{}\n", layer.lines);
    }
    for (index, layer) in layers.iter().enumerate() {
        text += &format!("[[tensor]]\nname = 'l{index}w'\n{}\n", layer.weights);
        text += &format!("[[tensor]]\nname = 'l{index}b'\n{}\n", layer.bias);
    }
    text
}

fn integers(arch: &Architecture, layers: &[Layer], random: &mut Random) -> QuantNet {
    let mut tensor = |name: String, limit: i32| {
        let (outputs, inputs) = arch.tensor_shape(&name).unwrap();
        let spec = arch.tensor(&name).unwrap();
        let count = outputs * inputs;
        let values = match spec.r#type {
            ElementType::F32 => Values::F32((0..count).map(|_| random.real()).collect()),
            _ => Values::Int((0..count).map(|_| random.within(limit)).collect()),
        };
        QuantTensor { name, element: spec.r#type, scale: spec.scale, banks: 1, outputs, inputs, values }
    };
    let net = layers.iter().enumerate().map(|(index, layer)| QuantLayer {
        weights: tensor(arch.weights_name(index), layer.limit),
        bias: tensor(arch.bias_name(index), if index == 0 { 100 } else { 20_000 }),
    });
    QuantNet { layers: net.collect(), arch: arch.clone(), psqt: None, bare_header: Vec::new(), permutation: None }
}

fn reals(arch: &Architecture, random: &mut Random) -> Net<f32> {
    let mut layer = |index: usize| {
        let (outputs, inputs) = (arch.layer_rows(index), arch.layer_inputs(index));
        let values = (0..outputs * inputs).map(|_| random.real()).collect();
        Affine { weights: Matrix { outputs, inputs, values }, bias: (0..outputs).map(|_| random.real()).collect() }
    };
    let layers = (0..arch.layers.len()).map(&mut layer).collect();
    Net { arch: arch.clone(), layers, psqt: None }
}
