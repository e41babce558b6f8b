//! Networks over maps: their descriptions, files of tensors, and what other programs answer.

use std::fs;
use tamis_quant::graph::description::{Description, Tensor, Tensors};
use tamis_quant::graph::{Graph, Input, Op, Sample, Shape};
use tamis_quant::import::importers::{NetworkArch, NetworkOptions, read_network};
use tamis_quant::import::tensors::{TensorForm, export, import, read_npz};
use tests::graphs::Random;
use tests::maps::random_maps;
use tests::own;
use tests::tolerances::F32_OUTPUTS;
use tests::trials::Fixtures;

/// A network of a description in `architectures`, and its tensors among the fixtures.
fn described(folder: &Fixtures, description: &str, tensors: &str) -> Graph {
    let arch = NetworkArch::read(own("architectures").join(description).as_os_str()).unwrap();
    let options = NetworkOptions { arch: Some(arch), ..NetworkOptions::default() };
    read_network(&folder.join(tensors), &options).unwrap().graph
}

/// The largest difference from the outputs of the first ten examples, by the largest of these.
fn difference(graph: &Graph, arrays: &Tensors, real: impl Fn(f64) -> f64) -> f64 {
    let (inputs, outputs) = (&arrays["inputs"], &arrays["outputs_f32"]);
    let (len, columns) = (inputs.values.len() / inputs.shape[0], outputs.shape[1]);
    let (mut largest, mut scale) = (0.0f64, 0.0f64);
    for (input, expected) in inputs.values.chunks(len).zip(outputs.values.chunks(columns)).take(10) {
        let found = graph.evaluate(&Sample::Dense(input.iter().map(|x| real(*x)).collect())).unwrap();
        assert_eq!(found.len(), columns);
        for (found, expected) in found.iter().zip(expected) {
            largest = largest.max((found - expected).abs());
            scale = scale.max(expected.abs());
        }
    }
    largest / scale
}

#[test]
fn a_keyword_spotter_of_pytorch_has_its_outputs(folder: Fixtures) {
    let graph = described(&folder, "kws_ckpt_torch.toml", "mlperf/kws_ckpt/kws_ckpt_torch.safetensors");
    assert!(!graph.nodes.iter().any(|node| matches!(node.op, Op::PerChannel { .. })), "normalizations are folded");
    assert_eq!(graph.parameter_count(), 22_604);
    let arrays = read_npz(&fs::read(folder.join("mlperf/kws_ckpt/kws_ckpt.npz")).unwrap()).unwrap();
    let difference = difference(&graph, &arrays, |byte| (byte - 83.0) * 0.584_702_908_992_767_3);
    assert!(difference < F32_OUTPUTS, "{difference:e}");
}

#[test]
fn an_image_classifier_of_pytorch_has_its_outputs(folder: Fixtures) {
    let graph = described(&folder, "ic_torch.toml", "mlperf/ic/ic_torch.safetensors");
    let arrays = read_npz(&fs::read(folder.join("mlperf/ic/ic.npz")).unwrap()).unwrap();
    let difference = difference(&graph, &arrays, |byte| byte);
    assert!(difference < F32_OUTPUTS, "{difference:e}");
}

#[test]
fn descriptions_of_maps_survive_their_canonical_text() {
    let mut random = Random(7);
    let mut words = std::collections::BTreeSet::new();
    for _ in 0..400 {
        let graph = random_maps(&mut random);
        graph.check().unwrap();
        let (description, tensors) = Description::of(&graph).unwrap();
        let text = description.to_toml();
        let again = Description::from_toml(&text, "x").unwrap_or_else(|error| panic!("{error}\n{text}"));
        assert_eq!(again, description, "{text}");
        assert_eq!(again.to_toml(), text);
        assert_eq!(again.bind(tensors).unwrap(), graph, "{text}");
        let bytes = export(&graph).unwrap();
        assert_eq!(import(&bytes, TensorForm::Safetensors, None).unwrap().graph, graph);
        words.extend(text.lines().filter_map(|line| line.strip_prefix("op = ")).map(str::to_owned));
    }
    // All but those of lists of features, `linear` included; `batch-normalization` is gone once it is bound.
    let missing: Vec<&str> = WORDS.into_iter().filter(|word| !words.contains(&format!("\"{word}\""))).collect();
    assert_eq!(missing, [""; 0]);
    for name in ["kws_ckpt_torch.toml", "ic_torch.toml"] {
        let text = fs::read_to_string(own("architectures").join(name)).unwrap();
        let (_, text) = text.split_once("graph = 1").unwrap();
        let text = format!("graph = 1{text}");
        assert_eq!(Description::from_toml(&text, name).unwrap().to_toml(), text, "{name}");
    }
}

/// Every word of an operation that can follow a map.
const WORDS: [&str; 46] = [
    "linear",
    "concat",
    "add",
    "broadcast-add",
    "sub",
    "mul",
    "div",
    "max",
    "min",
    "constant",
    "scale",
    "per-channel",
    "prelu",
    "relu",
    "relu6",
    "crelu",
    "leaky-relu",
    "sigmoid",
    "tanh",
    "softmax",
    "log-softmax",
    "clip",
    "hard-sigmoid",
    "hard-swish",
    "elu",
    "abs",
    "exp",
    "sqrt",
    "erf",
    "flatten",
    "reshape",
    "transpose",
    "slice",
    "pad",
    "resize",
    "convolution",
    "depthwise",
    "transposed-convolution",
    "average-pool",
    "max-pool",
    "global-average-pool",
    "global-max-pool",
    "trees",
    "fm-term",
    "bi-interaction",
    "inner-products",
];

const HEAD: &str = "graph = 1\nname = \"x\"\n[input]\nkind = \"dense\"\nshape = [4, 3, 2]\n";

fn node(name: &str, op: &str, keys: &str) -> String {
    format!("[[node]]\nname = \"{name}\"\nop = \"{op}\"\n{keys}\n")
}

fn tensor(shape: &[usize], from: f64) -> Tensor {
    let count: usize = shape.iter().product();
    Tensor { shape: shape.to_vec(), values: (0..count).map(|index| from + index as f64 * 0.25).collect() }
}

fn evaluated(text: &str, tensors: &[(&str, Tensor)]) -> Vec<f64> {
    let tensors = tensors.iter().map(|(name, tensor)| ((*name).to_owned(), tensor.clone())).collect();
    let graph = Description::from_toml(text, "x").unwrap().bind(tensors).unwrap();
    let Input::Dense { shape } = graph.input else { panic!("a list of features") };
    let input = (0..shape.len()).map(|index| (index * 7 % 11) as f64 - 4.0).collect();
    graph.evaluate(&Sample::Dense(input)).unwrap()
}

/// Indices of a tensor in another order: index `i` of what is made is index `axes[i]` of what there was.
fn permuted(tensor: &Tensor, axes: &[usize]) -> Tensor {
    let shape: Vec<usize> = axes.iter().map(|axis| tensor.shape[*axis]).collect();
    let mut at = vec![0; axes.len()];
    let mut values = Vec::new();
    for _ in 0..tensor.values.len() {
        let place = (0..axes.len()).fold(0, |place, axis| {
            let made = axes.iter().position(|from| *from == axis).unwrap();
            place * tensor.shape[axis] + at[made]
        });
        values.push(tensor.values[place]);
        for axis in (0..at.len()).rev() {
            at[axis] += 1;
            if at[axis] < shape[axis] {
                break;
            }
            at[axis] = 0;
        }
    }
    Tensor { shape, values }
}

#[test]
fn kernels_lie_in_any_order() {
    let torch = tensor(&[6, 2, 2, 3], -3.0);
    let bias = ("c.bias", tensor(&[6], 0.5));
    let of = |keys: &str, weights: &Tensor| {
        let text = format!("{HEAD}{}", node("c", "convolution", &format!("outputs = 6\nkernel = [2, 3]\n{keys}")));
        evaluated(&text, &[("c.weight", weights.clone()), bias.clone()])
    };
    let expected = of("", &torch);
    assert_eq!(of("order = \"out-h-w-in\"", &permuted(&torch, &[0, 2, 3, 1])), expected);
    assert_eq!(of("order = \"h-w-in-out\"", &permuted(&torch, &[2, 3, 1, 0])), expected);
    // Keras' depthwise kernel is (h, w, channel, multiplier).
    let torch = tensor(&[6, 1, 2, 3], -3.0);
    let of = |keys: &str, weights: &Tensor| {
        let text = format!("{HEAD}{}", node("c", "depthwise", &format!("outputs = 6\nkernel = [2, 3]\n{keys}")));
        evaluated(&text, &[("c.weight", weights.clone()), bias.clone()])
    };
    let keras = Tensor { shape: vec![2, 3, 2, 3], ..permuted(&torch, &[2, 3, 1, 0]) };
    assert_eq!(of("order = \"h-w-in-out\"", &keras), of("", &torch));
    // Transposed: PyTorch's (in, out, h, w) and Keras' (h, w, out, in).
    let torch = tensor(&[2, 6, 2, 3], -3.0);
    let of = |keys: &str, weights: &Tensor| {
        let keys = format!("outputs = 6\nkernel = [2, 3]\nstride = 2\n{keys}");
        let text = format!("{HEAD}{}", node("c", "transposed-convolution", &keys));
        evaluated(&text, &[("c.weight", weights.clone()), bias.clone()])
    };
    let expected = of("", &torch);
    assert_eq!(expected.len(), 8 * 7 * 6, "(4 − 1) · 2 + 2 and (3 − 1) · 2 + 3");
    assert_eq!(of("order = \"h-w-out-in\"", &permuted(&torch, &[2, 3, 1, 0])), expected);
    assert_eq!(of("order = \"out-h-w-in\"", &permuted(&torch, &[1, 2, 3, 0])), expected);
}

#[test]
fn dense_layers_behind_channels_first_have_their_columns_put_in_order() {
    let weights = ("fc.weight", tensor(&[5, 24], -2.0));
    let bias = ("fc.bias", tensor(&[5], 1.0));
    let of = |flatten: &str| {
        let text = format!("{HEAD}{flatten}{}{}", node("r", "relu", ""), node("fc", "linear", "outputs = 5"));
        evaluated(&text, &[weights.clone(), bias.clone()])
    };
    let axes = "axes = [\"channels\", \"height\", \"width\"]";
    let expected = of(&(node("t", "transpose", axes) + &node("f", "flatten", "")));
    assert_eq!(of(&node("f", "flatten", "order = \"channels-first\"")), expected);
    assert_ne!(of(&node("f", "flatten", "")), expected);
    let text = format!("{HEAD}{}{}", node("f", "flatten", "order = \"channels-first\""), node("s", "softmax", ""));
    let message = Description::from_toml(&text, "x").unwrap_err().to_string();
    assert!(message.contains("puts the columns of dense layers in order, and `s` is none"), "{message}");
}

#[test]
fn normalizations_become_part_of_the_layer_before() {
    let bound = |text: &str, tensors: &[(&str, Tensor)]| {
        let tensors: Tensors = tensors.iter().map(|(name, tensor)| ((*name).to_owned(), tensor.clone())).collect();
        Description::from_toml(text, "x").unwrap().bind(tensors)
    };
    let tensors = [
        ("c.weight", tensor(&[3, 2, 1, 1], -1.0)),
        ("c.bn.weight", tensor(&[3], 0.5)),
        ("c.bn.bias", tensor(&[3], -0.5)),
        ("c.bn.running_mean", tensor(&[3], 1.0)),
        ("c.bn.running_var", tensor(&[3], 2.0)),
        ("c.bn.num_batches_tracked", tensor(&[], 7.0)),
    ];
    let text = format!("{HEAD}{}{}", node("c", "convolution", "outputs = 3\nkernel = 1\nbias = false"), {
        node("c.bn", "batch-normalization", "")
    });
    let folded = bound(&text, &tensors).unwrap();
    assert_eq!(folded.nodes.len(), 1);
    let shared = format!("{text}{}", node("sum", "add", "reads = [\"c\", \"c.bn\"]"));
    let apart = bound(&shared, &tensors).unwrap();
    let Op::PerChannel { factors, .. } = &apart.nodes[1].op else { panic!("{:?}", apart.nodes[1].op) };
    assert_eq!(factors[1], 0.75 / (2.25f64 + 1e-5).sqrt());
    let sample = Sample::Dense((0..24).map(|index| f64::from(index % 5)).collect());
    let (folded, apart) = (folded.trace(&sample).unwrap(), apart.trace(&sample).unwrap());
    let largest = folded[1].iter().zip(&apart[2]).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(largest < 1e-14, "{largest:e}");
    // Keras' names, and another tensor that nothing counts with is refused as ever.
    let keras = text.replace(
        "\"batch-normalization\"\n",
        "\"batch-normalization\"\nweights = false\nmean = \"moving_mean\"\nvariance = \"moving_variance\"\n\
         epsilon = 0.001\n",
    );
    let message = bound(&keras, &tensors).unwrap_err().to_string();
    for words in [
        "`moving_mean` (3,) of node `c.bn` is missing",
        "`c.bn.weight` is used by no node",
        "`c.bn.running_var` is used by no node",
    ] {
        assert!(message.contains(words), "{words}: {message}");
    }
    assert!(!message.contains("num_batches_tracked"), "{message}");
}

#[test]
fn mistakes_in_descriptions_of_maps_are_named() {
    let refused = |op: &str, keys: &str| {
        Description::from_toml(&format!("{HEAD}{}", node("n", op, keys)), "x").unwrap_err().to_string()
    };
    for (op, keys, words) in [
        ("conv2d", "", "x:8: unknown value `conv2d`; did you mean `convolution`?"),
        ("convolution", "outputs = 4", "x:7: node `n` lacks the key `kernel`, which convolution needs"),
        ("convolution", "outputs = 4\nkernal = 3", "x:10: unknown key `kernal`; did you mean `kernel`?"),
        ("convolution", "outputs = 4\nkernel = 5", "a map of 2 channels that a kernel of 5×5 fits"),
        ("convolution", "outputs = 4\nkernel = [1, 2, 3]", "`kernel` is [1, 2, 3], expected a whole number, or two"),
        ("convolution", "outputs = 4\nkernel = 0", "`kernel` is 0, expected 1 to 16777216"),
        ("convolution", "outputs = 4\nkernel = 1\nstride = 0", "`stride` is 0"),
        ("convolution", "outputs = 3\nkernel = 1\ngroups = 2", "(groups: 2)"),
        ("convolution", "outputs = 3\nkernel = 1\npadding = \"sane\"", "`padding` is \\\"sane\\\", expected \"same\""),
        ("convolution", "outputs = 3\nkernel = 1\norder = \"in-out-h-w\"", "unknown value `order = \"in-out-h-w\"`"),
        (
            "convolution",
            "outputs = 3\nkernel = 1\nweights = false",
            "`weights` is false, expected the name of a tensor",
        ),
        ("max-pool", "kernel = 2\ngroups = 2", "`groups` has no meaning for max-pool"),
        ("transpose", "axes = [\"channels\", \"width\"]", "`axes` is 2, expected three axes"),
        ("transpose", "axes = [\"channels\", \"width\", \"width\"]", "an order of the axes 0, 1 and 2"),
        ("concat", "reads = [\"input\", \"input\"]\naxis = \"heigth\"", "did you mean `height`?"),
        ("reshape", "shape = [2, 2]", "expected [height, width, channels], or the length of a vector"),
        ("reshape", "shape = [2, 2, 2]", "reads 4×3×2, expected 8 elements"),
        ("clip", "low = 2.0\nhigh = 1.0", "`low` is 2, expected a number up to `high`"),
        ("clip", "low = nan", "`low` is NaN"),
        ("resize", "size = 8\nsampling = \"bilinear\"\nrounding = \"floor\"", "`rounding` has no meaning for bilinear"),
        ("constant", "shape = [4096, 4096, 2]", "`shape` is 33554432, expected 1 to 16777216"),
        ("convolution", "outputs = 3\nkernel = 9223372036854775807", "expected at most 16777216"),
    ] {
        let message = refused(op, keys);
        assert!(message.contains(words), "{words}\n{message}");
    }
    let text = format!("{}shape = 5\n", HEAD.replace("shape", "size = 24\nshape"));
    assert!(Description::from_toml(&text, "x").is_err());
    let text = format!("{HEAD}{}", node("n", "convolution", "outputs = 4\nkernel = 2"));
    let keras =
        Tensors::from([("n.weight".to_owned(), tensor(&[2, 2, 2, 4], 0.0)), ("n.bias".to_owned(), tensor(&[4], 0.0))]);
    let message = Description::from_toml(&text, "x").unwrap().bind(keras).unwrap_err().to_string();
    assert!(message.contains("expected (4, 2, 2, 2); `order = \"h-w-in-out\"` would fit"), "{message}");
}

#[test]
fn shapes_may_be_vectors() {
    let text = format!("{HEAD}{}", node("n", "reshape", "shape = 24"));
    let description = Description::from_toml(&text, "x").unwrap();
    assert!(description.to_toml().contains("shape = 24\n"));
    let vector = text.replace("shape = [4, 3, 2]", "shape = [24]");
    let Input::Dense { shape } = Description::from_toml(&vector, "x").unwrap().input else { panic!("features") };
    assert_eq!(shape, Shape::vector(24));
}
