//! Networks over maps from a checkpoint to a verdict: right ones in every form, and mistakes, each by its name.

use super::{Ran, host_tools, run};
use safetensors::tensor::{Dtype, TensorView, serialize};
use serde_json::Value;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use tamis_quant::float::Matrix;
use tamis_quant::graph::{Activation, Graph, Input, Node, Op, Pooling, Sample, Shape, Window};
use tamis_quant::import::tensors::export;
use tempfile::TempDir;
use tests::graphs::Random;

const SIDE: usize = 12;
const CHANNELS: usize = 3;
const EXAMPLES: usize = 80;

/// 12×12 pixels of 3 channels, two convolutions and one a channel, to five classes.
fn network(seed: u64) -> Graph {
    let mut random = Random(seed);
    let mut numbers = |count: usize, size: f64| -> Vec<f64> {
        (0..count).map(|_| f64::from((size * random.real()) as f32)).collect()
    };
    let node = |name: &str, read, op| Node { name: name.to_owned(), reads: vec![read], op };
    let mut convolution = |window: Window, groups, outputs: usize, columns: usize| Op::Convolution {
        window,
        groups,
        weights: Matrix::new(outputs, columns, numbers(outputs * columns, 1.0)).unwrap(),
        bias: numbers(outputs, 0.7),
    };
    let strided = Window { stride: [2, 2], ..Window::of([3, 3]) }.same([SIDE, SIDE]);
    let first = convolution(strided, 1, 8, 9 * CHANNELS);
    let second = convolution(Window::of([3, 3]).same([6, 6]), 8, 8, 9);
    let third = convolution(Window::of([1, 1]), 1, 8, 8);
    let linear = Op::Linear { weights: Matrix::new(5, 72, numbers(360, 0.7)).unwrap(), bias: numbers(5, 2.0) };
    let pool = Window { stride: [2, 2], ..Window::of([2, 2]) };
    Graph {
        name: "pictures".to_owned(),
        input: Input::Dense { shape: Shape::map(SIDE, SIDE, CHANNELS) },
        nodes: vec![
            node("first", 0, first),
            node("first.relu", 1, Op::Activation(Activation::Relu)),
            node("second", 2, second),
            node("second.relu", 3, Op::Activation(Activation::Relu)),
            node("third", 4, third),
            node("third.relu", 5, Op::Activation(Activation::Relu)),
            node("pool", 6, Op::Pool { window: pool, kind: Pooling::Max }),
            node("flat", 7, Op::Flatten),
            node("fc", 8, linear),
            node("out", 9, Op::Activation(Activation::Softmax)),
        ],
    }
}

/// Pictures from 0 to 1 whose channels differ: the first is bright, the last dark.
fn pictures(seed: u64) -> Vec<Vec<f64>> {
    let mut random = Random(seed);
    let pixel = |random: &mut Random, element: usize| {
        let light = 0.5 + 0.5 * random.real();
        f64::from((light * [1.0, 0.6, 0.25][element % CHANNELS]) as f32)
    };
    (0..EXAMPLES).map(|_| (0..SIDE * SIDE * CHANNELS).map(|element| pixel(&mut random, element)).collect()).collect()
}

fn f32s(values: impl IntoIterator<Item = f64>) -> Vec<u8> {
    values.into_iter().flat_map(|value| (value as f32).to_le_bytes()).collect()
}

/// A folder of checkpoints, containers and examples.
struct Work {
    folder: TempDir,
}

impl Work {
    /// With pictures to calibrate with and others to verify with.
    fn new() -> Self {
        let work = Self { folder: tempfile::tempdir().unwrap() };
        work.examples("calibration", &pictures(1), None);
        work.examples("inputs", &pictures(2), None);
        work
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn examples(&self, name: &str, pictures: &[Vec<f64>], labels: Option<&[usize]>) {
        let values = f32s(pictures.iter().flatten().copied());
        let shape = vec![pictures.len(), SIDE, SIDE, CHANNELS];
        let classes: Vec<u8> =
            labels.unwrap_or_default().iter().flat_map(|label| (*label as i64).to_le_bytes()).collect();
        let mut views = vec![("inputs", TensorView::new(Dtype::F32, shape, &values).unwrap())];
        if let Some(labels) = labels {
            views.push(("labels", TensorView::new(Dtype::I64, vec![labels.len()], &classes).unwrap()));
        }
        fs::write(self.path(name), serialize(views, None).unwrap()).unwrap();
    }

    fn checkpoint(&self, name: &str, graph: &Graph) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, export(graph).unwrap()).unwrap();
        path
    }

    /// A container of a graph.
    fn container(&self, name: &str, graph: &Graph, calibration: &str) -> PathBuf {
        let (checkpoint, out) = (self.checkpoint(&format!("{name}.from"), graph), self.path(name));
        let calibration = self.path(calibration);
        let ran = host_tools!(
            "quantise",
            checkpoint,
            "--activations",
            "i8",
            "--calibrate",
            calibration,
            "--array",
            "inputs",
            "-o",
            out
        );
        ran.fine();
        out
    }

    fn verify(&self, model: &Path, checkpoint: &Path, inputs: &str, more: &[&str]) -> Ran {
        let mut words: Vec<OsString> = ["verify".into(), model.into(), "--checkpoint".into(), checkpoint.into()].into();
        words.extend(["--inputs".into(), self.path(inputs).into(), "--array".into(), "inputs".into()]);
        words.extend(more.iter().map(OsString::from));
        run(words)
    }

    /// The mistakes of a verification that ends with status 1, by name.
    #[track_caller]
    fn mistakes(&self, model: &Path, checkpoint: &Path, inputs: &str) -> Vec<String> {
        let ran = self.verify(model, checkpoint, inputs, &["--json"]);
        let report = ran.json();
        let kinds: Vec<String> = of(&report, "mistakes");
        assert_eq!(ran.status, i32::from(!kinds.is_empty()), "{kinds:?} {}", ran.stderr);
        kinds
    }
}

fn of(report: &Value, key: &str) -> Vec<String> {
    report[key].as_array().unwrap().iter().map(|mistake| mistake["kind"].as_str().unwrap().to_owned()).collect()
}

/// The network with one fact changed.
fn changed(change: impl Fn(&mut Graph)) -> Graph {
    let mut graph = network(3);
    change(&mut graph);
    graph.check().unwrap();
    graph
}

fn bias(graph: &mut Graph, node: usize) -> &mut Vec<f64> {
    match &mut graph.nodes[node].op {
        Op::Linear { bias, .. } | Op::Convolution { bias, .. } => bias,
        other => panic!("{other:?}"),
    }
}

fn weights(graph: &mut Graph, node: usize) -> &mut Matrix<f64> {
    match &mut graph.nodes[node].op {
        Op::Linear { weights, .. } | Op::Convolution { weights, .. } => weights,
        other => panic!("{other:?}"),
    }
}

/// Columns of a matrix in another order.
fn permute(matrix: &mut Matrix<f64>, from: impl Fn(usize) -> usize) {
    let values = (0..matrix.inputs).flat_map(|column| matrix.column(from(column)).to_vec()).collect();
    matrix.values = values;
}

/// Each mistake that a checkpoint may have against the container that was made from another file of the same network:
/// its name, and the graph.
fn mistaken() -> Vec<(&'static str, Graph)> {
    vec![
        ("lost-bias", changed(|graph| bias(graph, 8).fill(0.0))),
        ("lost-bias", changed(|graph| bias(graph, 0).fill(0.0))),
        ("other-weights", network(4)),
        ("channel-order", changed(|graph| permute(weights(graph, 0), |column| column / 3 * 3 + 2 - column % 3))),
        ("input-unit", changed(|graph| weights(graph, 0).values.iter_mut().for_each(|weight| *weight /= 255.0))),
        ("flatten-order", changed(|graph| permute(weights(graph, 8), |column| column % 8 * 9 + column / 8))),
        ("flatten-order", changed(|graph| permute(weights(graph, 8), |column| column % 9 * 8 + column / 9))),
        (
            "padding",
            changed(|graph| {
                let Op::Convolution { window, .. } = &mut graph.nodes[0].op else { panic!() };
                (window.before, window.after) = ([1, 1], [1, 1]);
            }),
        ),
    ]
}

#[test]
fn what_differs_between_container_and_checkpoint_is_named() {
    let work = Work::new();
    let right = work.container("right", &network(3), "calibration");
    let checkpoint = work.checkpoint("checkpoint", &network(3));
    assert!(work.mistakes(&right, &checkpoint, "inputs").is_empty(), "the right checkpoint");
    for (index, (kind, graph)) in mistaken().iter().enumerate() {
        let other = work.checkpoint("other", graph);
        assert_eq!(work.mistakes(&right, &other, "inputs"), [*kind], "the checkpoint's, {index}");
        // A container whose numbers are scaled by 255 was calibrated for pictures of another unit.
        if *kind == "input-unit" {
            continue;
        }
        let model = work.container(&format!("{index}"), graph, "calibration");
        assert_eq!(work.mistakes(&model, &checkpoint, "inputs"), [*kind], "the container's, {index}");
        assert!(work.mistakes(&model, &other, "inputs").is_empty(), "its own checkpoint, {index}");
    }
}

#[test]
fn what_examples_and_container_disagree_about_is_named() {
    let work = Work::new();
    let (graph, checkpoint) = (network(3), work.checkpoint("checkpoint", &network(3)));
    let right = work.container("right", &graph, "calibration");
    let times = |pictures: Vec<Vec<f64>>, factor: f64| -> Vec<Vec<f64>> {
        pictures.into_iter().map(|picture| picture.into_iter().map(|x| factor * x).collect()).collect()
    };
    work.examples("bytes", &times(pictures(2), 255.0), None);
    assert_eq!(work.mistakes(&right, &checkpoint, "bytes"), ["input-unit"]);
    work.examples("dark", &times(pictures(1), 0.08), None);
    let dark = work.container("dark.bin", &graph, "dark");
    assert_eq!(work.mistakes(&dark, &checkpoint, "inputs"), ["calibration"]);
    work.examples("bright", &times(pictures(1), 60.0), None);
    let bright = work.container("bright.bin", &graph, "bright");
    assert_eq!(work.mistakes(&bright, &checkpoint, "inputs"), ["calibration"]);
}

#[test]
fn labels_decide_where_container_and_checkpoint_agree() {
    let work = Work::new();
    let (graph, checkpoint) = (network(3), work.checkpoint("checkpoint", &network(3)));
    let best = |picture: &Vec<f64>| {
        let scores = graph.evaluate_logits(&Sample::Dense(picture.clone())).unwrap();
        (0..scores.len()).max_by(|a, b| scores[*a].total_cmp(&scores[*b])).unwrap()
    };
    // Pictures that the network tells apart by their channels.
    let mut random = Random(9);
    let mut tinted = || -> Vec<f64> {
        let tint = [0, 1, 2].map(|_| 0.5 + 0.5 * random.real());
        let pixel = |at: usize| f64::from((tint[at % 3] * (0.7 + 0.3 * random.real().abs())) as f32);
        (0..SIDE * SIDE * CHANNELS).map(pixel).collect()
    };
    let calibration: Vec<Vec<f64>> = (0..EXAMPLES).map(|_| tinted()).collect();
    let tinted: Vec<Vec<f64>> = (0..EXAMPLES).map(|_| tinted()).collect();
    work.examples("tints", &calibration, None);
    let right = work.container("right", &graph, "tints");
    let labels: Vec<usize> = tinted.iter().map(best).collect();
    let exchanged: Vec<Vec<f64>> = tinted
        .iter()
        .map(|picture| picture.chunks(3).flat_map(|pixel| [pixel[2], pixel[1], pixel[0]]).collect())
        .collect();
    work.examples("tinted", &tinted, Some(&labels));
    work.examples("exchanged", &exchanged, Some(&labels));
    assert_eq!(work.mistakes(&right, &checkpoint, "tinted"), [""; 0]);
    assert_eq!(work.mistakes(&right, &checkpoint, "exchanged"), ["channel-order"]);
    let report = work.verify(&right, &checkpoint, "tinted", &["--json"]).fine().json();
    let accuracy = &report["accuracy"];
    assert!(accuracy["logits"]["sqnr_db"].as_f64().unwrap() > 20.0, "{}", accuracy["logits"]);
    assert_eq!(report["runtime"]["equal"], true);
    assert_eq!(accuracy["agreement"].as_f64().unwrap() * EXAMPLES as f64, accuracy["top1"]["equal"].as_f64().unwrap());
    assert_eq!(accuracy["correct"], accuracy["predictions"]["correct"]["equal"]);
    assert!(accuracy["auc"].is_null(), "five classes");
    assert!(accuracy["causes"].as_array().unwrap().len() > 10 && accuracy["layers"].as_array().unwrap().len() > 5);
}

/// A convolution with a normalization behind it, as PyTorch's tensors are: the file does not say the epsilon.
#[test]
fn another_epsilon_is_named() {
    let work = Work::new();
    let mut random = Random(5);
    let mut numbers = |count: usize| (0..count).map(|_| random.real()).collect::<Vec<f64>>();
    let variances: Vec<f64> = numbers(8).into_iter().map(|x| 1e-5 + 2e-4 * x.abs()).collect();
    let arrays: Vec<(&str, Vec<usize>, Vec<u8>)> = vec![
        ("conv.weight", vec![8, 3, 3, 3], f32s(numbers(216).into_iter().map(|x| 0.01 * x))),
        ("bn.weight", vec![8], f32s(numbers(8).into_iter().map(|x| 1.0 + 0.3 * x))),
        ("bn.bias", vec![8], f32s(numbers(8))),
        ("bn.running_mean", vec![8], f32s(numbers(8).into_iter().map(|x| 0.001 * x))),
        ("bn.running_var", vec![8], f32s(variances)),
        ("fc.weight", vec![5, 8], f32s(numbers(40))),
        ("fc.bias", vec![5], f32s(numbers(5))),
    ];
    let views =
        arrays.iter().map(|(name, shape, bytes)| (*name, TensorView::new(Dtype::F32, shape.clone(), bytes).unwrap()));
    let (checkpoint, model) = (work.path("torch.safetensors"), work.path("model.bin"));
    fs::write(&checkpoint, serialize(views, None).unwrap()).unwrap();
    let describe = |name: &str, epsilon: &str| {
        let path = work.path(name);
        let node = |name: &str, op: &str, more: &str| format!("[[node]]\nname = \"{name}\"\nop = \"{op}\"\n{more}");
        let text = [
            "graph = 1\nname = \"torch\"\n[input]\nkind = \"dense\"\nshape = [12, 12, 3]\n".to_owned(),
            node("conv", "convolution", "outputs = 8\nkernel = 3\nstride = 2\npadding = 1\nbias = false\n"),
            node("bn", "batch-normalization", epsilon),
            node("relu", "relu", ""),
            node("mean", "global-average-pool", ""),
            node("flat", "flatten", ""),
            node("fc", "linear", "outputs = 5\n"),
        ];
        fs::write(&path, text.concat()).unwrap();
        path
    };
    let (keras, torch) = (describe("keras.toml", "epsilon = 1e-3\n"), describe("torch.toml", ""));
    let (calibration, inputs) = (work.path("calibration"), work.path("inputs"));
    host_tools!(
        "quantise",
        checkpoint,
        "--arch",
        keras,
        "--activations",
        "i8",
        "--calibrate",
        calibration,
        "--array",
        "inputs",
        "-o",
        model
    )
    .fine();
    let verify = |arch: &Path| {
        host_tools!("verify", model, "--checkpoint", checkpoint, "--arch", arch, "--inputs", inputs, "--json")
    };
    assert!(of(&verify(&keras).fine().json(), "mistakes").is_empty());
    let ran = verify(&torch);
    assert_eq!((ran.status, of(&ran.json(), "mistakes")), (1, vec!["epsilon".to_owned()]), "{}", ran.stderr);
}

#[test]
fn networks_and_examples_that_are_the_same_everywhere_are_refused_by_name() {
    let work = Work::new();
    let (calibration, out) = (work.path("calibration"), work.path("out.bin"));
    let dead = work.checkpoint("dead", &changed(|graph| weights(graph, 4).values.fill(0.0)));
    let cut = work.checkpoint("cut", &changed(|graph| bias(graph, 2).fill(-1e4)));
    let right = work.checkpoint("checkpoint", &network(3));
    work.examples("same", &vec![pictures(1)[0].clone(); EXAMPLES], None);
    let same = work.path("same");
    for (checkpoint, examples, words) in [
        (&dead, &calibration, ["dead: the weights of `third` are one number", "--allow-constant"]),
        (&cut, &calibration, ["calibration: `second.relu` makes the same of every example", "--allow-constant"]),
        (&right, &same, ["same: all 80 examples are the same", "--allow-constant"]),
    ] {
        let ran = host_tools!("quantise", checkpoint, "--calibrate", examples, "--array", "inputs", "-o", out);
        assert!(ran.status == 1 && words.iter().all(|word| ran.stderr.contains(word)), "{}", ran.stderr);
        assert!(!out.exists());
    }
    host_tools!(
        "quantise",
        dead,
        "--activations",
        "i8",
        "--calibrate",
        calibration,
        "--array",
        "inputs",
        "--allow-constant",
        "-o",
        out
    )
    .fine();
    let ran = work.verify(&out, &dead, "inputs", &[]);
    assert!(ran.status == 1 && ran.stderr.contains("the same for all 80 examples"), "{}", ran.stderr);
    work.verify(&out, &dead, "inputs", &["--allow-constant"]).fine();
}
