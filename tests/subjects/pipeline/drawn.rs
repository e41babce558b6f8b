//! Networks that nobody thought of: descriptions that are valid, weights and examples for them.

use tamis_quant::arch::{Architecture, InputKind};
use tamis_quant::float::{Affine, Example, Matrix, Net};
use tests::sample_models::Random;

/// One of several.
fn pick<'a>(random: &mut Random, words: &[&'a str]) -> &'a str {
    words[(random.draw() % words.len() as u64) as usize]
}

pub fn chance(random: &mut Random, one_in: u64) -> bool {
    random.draw().is_multiple_of(one_in)
}

/// From `low` to `high`.
pub fn between(random: &mut Random, low: u64, high: u64) -> u64 {
    low + random.draw() % (high - low + 1)
}

/// A description that is valid, though not always one that the runtime has operations for.
pub fn describe(random: &mut Random) -> String {
    if chance(random, 4) { dense(random) } else { features(random) }
}

/// Beside every third network that has features: values of them.
pub fn with_piece_squares(text: String, random: &mut Random) -> String {
    if text.contains("kind = 'dense'") || !chance(random, 3) {
        return text;
    }
    let mut table = String::from("[psqt]\n");
    if text.contains("[buckets]") && chance(random, 2) {
        table += "bucketed = true\n";
    }
    if !text.contains("perspectives = 1") && chance(random, 2) {
        table += &format!("of = '{}'\n", pick(random, &["difference", "half-difference", "own"]));
    }
    let (element, scale) = (pick(random, &["i8", "i16", "i16", "i32"]), pick(random, &["1", "64", "255", "6000"]));
    let mut tensors = vec![tensor(random, "pstw", element, scale)];
    if chance(random, 2) {
        table += "bias = 'pstb'\n";
        let element = pick(random, &["i16", "i32"]);
        tensors.push(tensor(random, "pstb", element, scale));
    }
    text + &table + &tensors.concat()
}

fn dense(random: &mut Random) -> String {
    let mut text = format!(
        "schema = 1\nname = 'dense'\n[input]\nkind = 'dense'\nsize = {}\ntype = '{}'\nmax = {}\n",
        between(random, 1, 24),
        pick(random, &["u7", "i8"]),
        pick(random, &["1.0", "0.001", "16.0", "255.0", "1e30"]),
    );
    if chance(random, 4) {
        text += "[output]\nscale = 100\n";
    }
    let count = between(random, 1, 4);
    let outputs = between(random, 1, 5);
    for layer in 0..count {
        text += &format!("[[layer]]\nname = 'l{layer}'\n");
        if layer + 1 == count {
            text += &format!("outputs = {outputs}\n");
            continue;
        }
        let skip = if chance(random, 12) { outputs } else { 0 };
        text += &format!("outputs = {}\nskip = {skip}\n", skip + between(random, 1, 20));
        text += match random.draw() % 12 {
            0 => "activation = 'sqrrelu'\n",
            1 => "activation = 'relu'\n",
            2 | 3 => "activation = 'crelu'\n",
            4 => "activation = 'relu'\nactivation_max = 0.01\n",
            _ => "activation = 'relu'\nactivation_max = 6.0\n",
        };
    }
    for layer in 0..count {
        text += &format!("[[tensor]]\nname = 'l{layer}w'\ntype = 'i8'\n[[tensor]]\nname = 'l{layer}b'\ntype = 'i32'\n");
    }
    text
}

fn features(random: &mut Random) -> String {
    let perspectives = between(random, 1, 2);
    let mut text = format!("schema = 1\nname = 'features'\n[input]\nperspectives = {perspectives}\n");
    if chance(random, 4) {
        text += "kind = 'chess'\n";
        let mirrored = chance(random, 2);
        text += &format!("merged_kings = {}\n", chance(random, 3));
        text += &format!("mirrored = {mirrored}\nother_first = {}\n", perspectives == 2 && chance(random, 3));
        if chance(random, 3) {
            let entries = if mirrored { 32 } else { 64 };
            let table: Vec<u64> = (0..entries).map(|_| random.draw() % 3).collect();
            text += &format!("king_buckets = {table:?}\n");
        }
        if chance(random, 2) {
            text += &format!("max_active = {}\n", between(random, 1, 32));
        }
    } else {
        let size = between(random, 1, 40);
        text += &format!("kind = 'features'\nsize = {size}\nmax_active = {}\n", between(random, 1, size));
    }
    let bucketed = if chance(random, 2) { format!("bucketed = {}\n", chance(random, 2)) } else { String::new() };
    let any = bucketed.contains("true");
    if any {
        text += &format!("[buckets]\ncount = {}\n", between(random, 1, 5));
    }
    text += &format!(
        "[output]\nscale = {}\n",
        pick(random, &["1", "10", "400", "400", "400", "400", "1073741824", "2147483647"])
    );
    text += &format!("[file]\ntail = '{}'\n", pick(random, &["bullet", "zeros", "none"]));
    if chance(random, 4) {
        text += "header_len_bytes = 3\nheader_hex = '010203'\n";
    }

    let first = match random.draw() % 16 {
        0..=2 => "relu",
        3 => "crelu",
        4..=7 => "screlu",
        8..=9 => "sqrrelu",
        _ => "pairwise-crelu",
    };
    let pairwise = first == "pairwise-crelu";
    let transformer = if chance(random, 4) { "i8" } else { "i16" };
    let qa = pick(random, &["1", "64", "127", "181", "255", "255", "255", "403", "1024", "32767"]);
    let qb = pick(random, &["1", "32", "64", "64", "64", "128", "32767"]);
    let second = match (pairwise, random.draw() % 8) {
        (_, 0) => pick(random, &["i8", "i16", "i32", "f32"]),
        (_, 1 | 2) => "f32",
        (false, 3..=5) if first == "relu" || first == "crelu" => "i8",
        (false, _) => "i16",
        (true, _) => "i8",
    };
    let bias = match second {
        "i16" => pick(random, &["i16", "i16", "i32", "i32", "f32", "f32", "f32", "i8"]),
        _ if chance(random, 12) => "i32",
        _ => "f32",
    };
    let makes_bytes = second == "i8" && matches!(first, "relu" | "crelu" | "pairwise-crelu");
    if makes_bytes && chance(random, 3) {
        return integers_to_the_end(random, text, (first, transformer), &bucketed);
    }
    let tail = if bias == "f32" { random.draw() % 4 } else { u64::from(chance(random, 12)) };
    let outputs = between(random, 1, 4);

    let width = between(random, 1, 40);
    text += &format!("[[layer]]\nname = 'l0'\nactivation = '{first}'\n");
    text += &format!("outputs = {}\n", if pairwise { 2 * width } else { width });
    if pairwise {
        text += &format!("product_shift = {}\n", pick(random, &["9", "9", "9", "12", "8", "14", "22", "30"]));
    }
    if makes_bytes && !pairwise && chance(random, 2) {
        text += &format!("activation_shift = {}\n", pick(random, &["0", "1", "5", "7", "14"]));
    }
    for layer in 1..=tail + 1 {
        text += &format!("[[layer]]\nname = 'l{layer}'\n{bucketed}");
        if layer == tail + 1 {
            text += &format!("outputs = {outputs}\n");
            continue;
        }
        let activation =
            pick(random, &["relu", "crelu", "screlu", "sqrrelu", "pairwise-crelu", "dual-crelu", "swish", "sigmoid"]);
        let skip = if chance(random, 3) { outputs } else { 0 };
        let gated = !matches!(activation, "pairwise-crelu" | "dual-crelu") && chance(random, 4);
        let width = between(random, 1, 9) * if activation == "pairwise-crelu" || gated { 2 } else { 1 };
        text += &format!("gated = {gated}\nactivation = '{activation}'\nskip = {skip}\noutputs = {}\n", width + skip);
    }

    if first == "screlu" && second == "i16" && tail == 0 && chance(random, 2) {
        let (qa, qb) = (pick(random, &["256", "960", "32512"]), pick(random, &["64", "16000", "98304"]));
        let [a, b] = [qa, qb].map(|scale| scale.parse::<u64>().unwrap());
        let mut tensors = vec![tensor(random, "l0w", transformer, qa), tensor(random, "l0b", "i16", qa)];
        tensors.push(tensor(random, "l1w", "i16", qb));
        tensors.push(tensor(random, "l1b", "i32", &((a * a * b) >> 15).min(i32::MAX as u64).to_string()));
        return text.replace("[output]\n", "[output]\ndivide = 'rounded'\n") + &tensors.concat();
    }
    let mut tensors = vec![tensor(random, "l0w", transformer, qa), tensor(random, "l0b", "i16", qa)];
    tensors.push(tensor(random, "l1w", second, qb));
    let product = (qa.parse::<u64>().unwrap() * qb.parse::<u64>().unwrap()).min(32767);
    tensors.push(tensor(random, "l1b", bias, &product.to_string()));
    for layer in 2..=tail + 1 {
        tensors.push(tensor(random, &format!("l{layer}w"), "f32", ""));
        tensors.push(tensor(random, &format!("l{layer}b"), "f32", ""));
    }
    let turn = random.draw() as usize % tensors.len();
    tensors.rotate_left(turn);
    text + &tensors.concat()
}

/// Scales whose products, cut and rounded, make 127 of 1.
const PAIRS: [(i64, &str); 4] = [
    (255, "product_shift = 9"),
    (255, "product_shift = 9\nproduct_rounded = true"),
    (510, "product_shift = 11\nproduct_rounded = true"),
    (2040, "product_shift = 15\nproduct_rounded = true"),
];

/// Bytes and integers to the end: what stands for 1 is drawn, scales and shifts follow from it.
fn integers_to_the_end(
    random: &mut Random,
    mut text: String,
    (first, transformer): (&str, &str),
    bucketed: &str,
) -> String {
    let bytes = 127;
    let (qa, shift) = match first {
        "pairwise-crelu" => PAIRS[between(random, 0, 3) as usize],
        _ => (1016, "activation_shift = 3"),
    };
    let width = 2 * between(random, 1, 20);
    text += &format!("[[layer]]\nname = 'l0'\nactivation = '{first}'\noutputs = {width}\n{shift}\n");
    let mut tensors = vec![tensor(random, "l0w", transformer, &qa.to_string())];
    tensors.push(tensor(random, "l0b", "i16", &qa.to_string()));
    let last = between(random, 1, 4);
    let mut met = bytes;
    for layer in 1..=last {
        let scale = pick(random, &["16", "64", "127"]).parse::<i64>().unwrap();
        let element = if layer == 1 { "i8" } else { pick(random, &["i8", "i16", "i32"]) };
        tensors.push(tensor(random, &format!("l{layer}w"), element, &scale.to_string()));
        tensors.push(tensor(random, &format!("l{layer}b"), "i32", &(scale * met).to_string()));
        text += &format!("[[layer]]\nname = 'l{layer}'\n{bucketed}");
        if layer == last {
            text += &format!("outputs = {}\n", between(random, 1, 4));
            continue;
        }
        let activation = pick(random, &["relu", "crelu", "screlu", "sqrrelu", "dual-crelu"]);
        let one = [24, 32, 64][random.draw() as usize % 3];
        let shift = (scale * met / one).ilog2();
        met = if matches!(activation, "relu" | "crelu") { one } else { one * one };
        let outputs = between(random, 1, 9);
        text += &format!("activation = '{activation}'\nactivation_shift = {shift}\noutputs = {outputs}\n");
    }
    let turn = random.draw() as usize % tensors.len();
    tensors.rotate_left(turn);
    text + &tensors.concat()
}

fn tensor(random: &mut Random, name: &str, element: &str, scale: &str) -> String {
    let mut text = format!("[[tensor]]\nname = '{name}'\ntype = '{element}'\ntransposed = {}\n", chance(random, 2));
    if element != "f32" {
        text += &format!("scale = {scale}\nrounding = '{}'\n", pick(random, &["nearest", "truncate"]));
    }
    text
}

/// Weights of every size that the stored types can hold, and rarely a channel of zeros or one that is almost zero.
pub fn reals(arch: &Architecture, random: &mut Random) -> Net<f32> {
    let limit = |name: &str, random: &mut Random| {
        let spec = arch.tensor(name).unwrap();
        let share = [1.0, 1.0, 0.1, 0.01][(random.draw() % 4) as usize];
        spec.scale.map_or(share, |scale| {
            let type_max = match spec.r#type.len_bytes() {
                1 => 127.0,
                _ => 32767.0,
            };
            type_max / scale as f32 * share * share
        })
    };
    let mut layers = Vec::new();
    for index in 0..arch.layers.len() {
        let (outputs, inputs) = (arch.layer_rows(index), arch.layer_inputs(index));
        let (weight, bias) = (limit(&arch.weights_name(index), random), limit(&arch.bias_name(index), random));
        let mut values: Vec<f32> = (0..outputs * inputs).map(|_| random.real() * weight).collect();
        if chance(random, 6) {
            let factor = [0.0, 1e-12, 1e-40][(random.draw() % 3) as usize];
            values.iter_mut().step_by(outputs).for_each(|value| *value *= factor);
        }
        let bias = (0..outputs).map(|_| random.real() * bias).collect();
        layers.push(Affine { weights: Matrix { outputs, inputs, values }, bias });
    }
    let psqt = arch.psqt.as_ref().map(|psqt| {
        let (outputs, inputs) = (arch.psqt_rows(), arch.feature_count());
        let weight = limit(&psqt.weights, random);
        let values = (0..outputs * inputs).map(|_| random.real() * weight).collect();
        let bias = match &psqt.bias {
            Some(bias) => limit(bias, random),
            // A table without a bias is one with zeros.
            None => 0.0,
        };
        let bias = (0..outputs).map(|_| random.real() * bias).collect();
        Affine { weights: Matrix { outputs, inputs, values }, bias }
    });
    Net { layers, arch: arch.clone(), psqt }
}

/// Distinct features, from none to as many as there may be, of a chess network such as a board shows together; or a
/// vector that leaves its range here and there.
pub fn example(arch: &Architecture, random: &mut Random) -> Example {
    if arch.input.kind == InputKind::Dense {
        let max = arch.input.max.unwrap();
        return Example::Dense((0..arch.feature_count()).map(|_| f64::from(random.real()) * 1.2 * max).collect());
    }
    let bucket = (random.draw() % arch.bucket_count() as u64) as usize;
    let mut lists = [Vec::new(), Vec::new()];
    let is_chess = arch.input.kind == InputKind::Chess;
    let features = if is_chess { arch.planes().features_per_king_bucket() } else { arch.feature_count() as u32 };
    for list in lists.iter_mut().take(arch.perspectives()) {
        let first = features * (random.draw() % (arch.feature_count() as u64 / u64::from(features))) as u32;
        for _ in 0..between(random, 0, arch.max_active() as u64) {
            let feature = first + (random.draw() % u64::from(features)) as u32;
            // Of a side one less than it has, so that a shared plane of kings counts for both.
            let is_own = |feature: u32| feature - first < features / 2;
            let side = list.iter().filter(|other| is_own(**other) == is_own(feature)).count();
            if if is_chess {
                side < 15 && list.iter().all(|other| other % 64 != feature % 64)
            } else {
                !list.contains(&feature)
            } {
                list.push(feature);
            }
        }
    }
    Example::Features { lists, bucket }
}
