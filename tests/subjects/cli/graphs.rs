//! Graphs from a checkpoint to a verdict, on small networks and examples that are written here.

use super::host_tools;
use safetensors::tensor::{Dtype, SafeTensors};
use std::ffi::OsStr;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use tamis_quant::float::Matrix;
use tamis_quant::graph::{Activation, Forest, Graph, Input, Node, Op, Sample, Shape, Tree};
use tamis_quant::import::tensors::export;
use tamis_quant::pack::unpack_graph;
use tamis_quant::program::{Operation, Program, QuantTensor, Values};
use tamis_quant::run::AlignedBytes;
use tamis_runtime::format::Model;
use tamis_runtime::kernels::tiers;
use tempfile::TempDir;
use tests::graphs::{Random, sample};

/// A checkpoint and 300 labelled examples of it, in a folder that vanishes with the test.
pub struct Case {
    pub folder: TempDir,
    pub checkpoint: PathBuf,
    /// Each with the class that the checkpoint says.
    pub rows: PathBuf,
    /// The same classes, a line each.
    pub labels: PathBuf,
}

impl Case {
    pub fn new(graph: &Graph) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let [checkpoint, rows, labels] = ["net.safetensors", "rows", "labels"].map(|name| folder.path().join(name));
        fs::write(&checkpoint, export(graph).unwrap()).unwrap();
        let (mut random, mut text, mut classes) = (Random(11), String::new(), String::new());
        for _ in 0..300 {
            let sample = sample(&mut random, graph.input, false);
            let class = class(&graph.trace(&sample).unwrap()[graph.logits()]);
            write!(text, "{class}").unwrap();
            match &sample {
                Sample::Dense(x) => x.iter().enumerate().for_each(|(at, x)| write!(text, " {at}:{x}").unwrap()),
                Sample::Sparse(active) => active.iter().for_each(|(at, _)| write!(text, " {at}").unwrap()),
            }
            text.push('\n');
            writeln!(classes, "{class}").unwrap();
        }
        fs::write(&rows, text).unwrap();
        fs::write(&labels, classes).unwrap();
        Self { folder, checkpoint, rows, labels }
    }

    /// A path in the folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Quantised with the first 200 examples and more words.
    pub fn quantise(&self, name: &str, more: &[&str]) -> super::Ran {
        let out = self.path(name);
        let words: [&OsStr; 8] = [
            "quantise".as_ref(),
            self.checkpoint.as_ref(),
            "--calibrate".as_ref(),
            self.rows.as_ref(),
            "--calibrate-limit".as_ref(),
            "200".as_ref(),
            "-o".as_ref(),
            out.as_ref(),
        ];
        super::run(words.into_iter().chain(more.iter().map(OsStr::new)))
    }
}

fn class(logits: &[f64]) -> usize {
    match logits {
        [logit] => usize::from(*logit > 0.0),
        logits => (0..logits.len()).rev().max_by(|a, b| logits[*a].total_cmp(&logits[*b])).unwrap(),
    }
}

pub fn matrix(random: &mut Random, outputs: usize, inputs: usize) -> Matrix<f64> {
    // Exact in f32, as trained numbers are.
    let values = (0..outputs * inputs).map(|_| f64::from(random.real() as f32)).collect();
    Matrix::new(outputs, inputs, values).unwrap()
}

pub fn node(name: &str, reads: &[usize], op: Op) -> Node {
    Node { name: name.to_owned(), reads: reads.to_vec(), op }
}

/// 12 reals through ReLU, Tanh and softmax to five classes.
pub fn dense() -> Graph {
    let mut random = Random(1);
    let mut linear =
        |outputs, inputs| Op::Linear { weights: matrix(&mut random, outputs, inputs), bias: vec![0.25; outputs] };
    Graph {
        name: "dense".to_owned(),
        input: Input::Dense { shape: Shape::vector(12) },
        nodes: vec![
            node("first", &[0], linear(24, 12)),
            node("relu", &[1], Op::Activation(Activation::Relu)),
            node("second", &[2], linear(9, 24)),
            node("tanh", &[3], Op::Activation(Activation::Tanh)),
            node("third", &[4], linear(5, 9)),
            node("softmax", &[5], Op::Activation(Activation::Softmax)),
        ],
    }
}

#[test]
fn inspection_counts_products_and_bytes() {
    let case = Case::new(&dense());
    case.quantise("model.bin", &[]).fine();
    let json = host_tools!("inspect", case.path("model.bin"), "--json").fine().json();
    let operations = json["operations"].as_array().unwrap();
    let numbers = |key: &str| operations.iter().map(|of| of[key].as_u64().unwrap()).collect::<Vec<u64>>();
    let macs: Vec<u64> = numbers("macs").into_iter().filter(|macs| *macs > 0).collect();
    assert_eq!(macs, [12 * 24, 24 * 9, 9 * 5]);
    let alive = numbers("alive_len_bytes");
    // 24 sums of i32, then beside them the 24 bytes that they become.
    assert_eq!(alive[..2], [24 * 4, 24 * 4 + 24]);
    assert!(alive.iter().all(|alive| *alive <= json["workspace_len_bytes"].as_u64().unwrap()), "{alive:?}");
    assert_eq!(operations[0]["output_shape"], serde_json::json!([1, 1, 24]));
}

/// 20 features, 4 at once: a factorisation machine with a tower and a tree beside it.
pub fn sparse() -> Graph {
    let mut random = Random(2);
    let (weights, table) = (matrix(&mut random, 1, 20), matrix(&mut random, 3, 20));
    let tower = matrix(&mut random, 6, 12);
    let top = matrix(&mut random, 1, 6);
    let tree =
        Tree { features: vec![Some(3), None, None], thresholds: vec![0.5, 0.0, 0.0], leaves: vec![0.0, 0.5, -0.5] };
    Graph {
        name: "sparse".to_owned(),
        input: Input::Sparse { features: 20, max_active: 4, exact: true },
        nodes: vec![
            node("wide", &[0], Op::SparseLinear { weights, bias: vec![0.125] }),
            node("rows", &[0], Op::Embed { table }),
            node("fm", &[2], Op::FmTerm { width: 3 }),
            node("tower", &[2], Op::Linear { weights: tower, bias: vec![0.0; 6] }),
            node("relu", &[4], Op::Activation(Activation::Relu)),
            node("top", &[5], Op::Linear { weights: top, bias: vec![0.5] }),
            node("tree", &[0], Op::Trees(Forest { rate: 0.25, trees: vec![tree] })),
            node("sum", &[1, 3, 6, 7], Op::Add),
            node("sigmoid", &[8], Op::Activation(Activation::Sigmoid)),
        ],
    }
}

/// Both, each with its examples.
pub fn cases() -> [(Graph, Case); 2] {
    [dense(), sparse()].map(|graph| {
        let case = Case::new(&graph);
        (graph, case)
    })
}

fn unpacked(path: &Path) -> Program {
    let bytes = AlignedBytes::copy_of(&fs::read(path).unwrap());
    unpack_graph(&Model::parse(bytes.as_ref()).unwrap()).unwrap()
}

#[test]
fn quantised_inspected_and_the_same_again() {
    for (graph, case) in cases() {
        let json = case.quantise("net.bin", &["--json"]).fine().json();
        assert_eq!(json["schema"], "tamis-quantise-1");
        assert_eq!((&json["network"], &json["calibration"]["examples"]), (&graph.name.as_str().into(), &200.into()));
        assert_eq!((&json["source"], &json["proof"]["holds"]), (&"safetensors".into(), &true.into()));
        assert!(json["accuracy"]["logits"]["sqnr_db"].as_f64().unwrap() > 25.0, "{}", json["accuracy"]["logits"]);
        let text = case.quantise("again.bin", &[]).fine();
        for words in ["calibrated on 200 examples of", "workspace", "signal to noise of the raw scores", "proved"] {
            assert!(text.text().contains(words), "{words}: {}", text.text());
        }
        let [model, again] = ["net.bin", "again.bin"].map(|name| case.path(name));
        let bytes = fs::read(&model).unwrap();
        assert!(bytes == fs::read(again).unwrap(), "the bytes differ from run to run");

        let aligned = AlignedBytes::copy_of(&bytes);
        let workspace = Model::parse(aligned.as_ref()).unwrap().workspace_len_bytes();
        for tier in tiers() {
            let inspected = host_tools!("inspect", model, "--tier", tier.name, "--json").fine().json();
            assert_eq!((&inspected["tier"], &inspected["signature"]), (&tier.name.into(), &json["signature"]));
            assert_eq!(inspected["checksum"], json["checksum"]);
            assert_eq!(inspected["workspace_len_bytes"], workspace);
            assert!(inspected["disagreements"].as_array().unwrap().is_empty(), "{}", inspected["disagreements"]);
        }
        assert_eq!(json["workspace_len_bytes"], workspace);
        let text = host_tools!("inspect", model).fine();
        assert!(text.text().contains(&format!("workspace  {workspace} bytes")), "{}", text.text());
    }
}

#[test]
fn evaluated_alike_on_every_tier_and_near_the_checkpoint() {
    for (graph, case) in cases() {
        let model = case.path("net.bin");
        case.quantise("net.bin", &[]).fine();
        let (rows, labels) = (&case.rows, &case.labels);
        let all = host_tools!("eval", model, "--inputs", rows, "--labels", labels).fine();
        for tier in tiers() {
            let ran = host_tools!("eval", model, "--inputs", rows, "--tier", tier.name).fine();
            assert_eq!(ran.text(), all.text(), "{}", tier.name);
        }
        let lines: Vec<&str> = all.text().lines().collect();
        assert_eq!(lines.len(), 300);
        let rest = host_tools!("eval", model, "--inputs", rows, "--skip", "200", "--limit", "60").fine();
        assert_eq!(rest.text().lines().collect::<Vec<_>>(), lines[200..260]);

        let json =
            |more: &str| host_tools!("eval", model, "--inputs", rows, "--skip", "200", "--json", more).fine().json();
        let (outputs, logits) = (json("--quiet"), json("--logits"));
        assert_eq!((&outputs["schema"], &outputs["network"]), (&"tamis-eval-1".into(), &graph.name.as_str().into()));
        assert_eq!((&outputs["summary"], &outputs["summary"]["count"]), (&logits["summary"], &100.into()));
        assert!(outputs["summary"]["correct"].as_u64().unwrap() >= 96, "{}", outputs["summary"]);
        // Before the last function the scores are of any size, behind it they are probabilities.
        let float = host_tools!("eval", case.checkpoint, "--inputs", rows, "--skip", "200", "--json").fine().json();
        let numbers =
            |json: &serde_json::Value| -> Vec<Vec<f64>> { serde_json::from_value(json["values"].clone()).unwrap() };
        let (found, truth) = (numbers(&outputs).concat(), numbers(&float).concat());
        assert!(found.iter().all(|probability| (0.0..=1.0).contains(probability)));
        let errors: Vec<f64> = found.iter().zip(&truth).map(|(found, truth)| (found - truth).abs()).collect();
        let (mean, largest) =
            (errors.iter().sum::<f64>() / errors.len() as f64, errors.iter().copied().fold(0.0, f64::max));
        // The examples are not those that calibrated, so that some values leave their ranges.
        assert!(mean < 0.01 && largest < 0.25, "{mean} {largest}");
        assert!(numbers(&logits).iter().flatten().any(|score| !(0.0..=1.0).contains(score)));
        assert_eq!(float["summary"]["correct"], 100);
    }
}

#[test]
fn verified_with_gates_that_decide_the_exit_status() {
    for (graph, case) in cases() {
        let (model, checkpoint, rows) = (case.path("net.bin"), &case.checkpoint, &case.rows);
        case.quantise("net.bin", &[]).fine();
        let [kept, broken] = [("kept", 20.0), ("broken", 200.0)].map(|(name, db)| {
            let path = case.path(name);
            fs::write(&path, format!("min_sqnr_db = {db:?}\nmin_top1_agreement = 0.95\n")).unwrap();
            path
        });
        let words =
            ["verify".as_ref(), model.as_os_str(), "--checkpoint".as_ref(), checkpoint.as_ref(), "--inputs".as_ref()];
        let verify = |more: &[&OsStr]| {
            let skip: [&OsStr; 3] = [rows.as_ref(), "--skip".as_ref(), "200".as_ref()];
            super::run(words.iter().chain(&skip).chain(more))
        };
        let ran = verify(&["--gates".as_ref(), kept.as_ref(), "--labels".as_ref(), case.labels.as_ref()]).fine();
        for words in [": passed, on 100 examples", "top-1", "right", "auc", "log-loss", "layer", "SQNR"] {
            let only_of_two_classes = words == "auc" && graph.name == "dense";
            assert!(ran.text().contains(words) != only_of_two_classes, "{words}: {}", ran.text());
        }
        let json = verify(&["--json".as_ref()]).fine().json();
        assert_eq!((&json["schema"], &json["passed"]), (&"tamis-verify-2".into(), &true.into()));
        assert_eq!((&json["runtime"]["equal"], &json["accuracy"]["samples"]), (&true.into(), &100.into()));
        assert_eq!(json["runtime"]["tiers"].as_array().unwrap().len(), tiers().count());
        let ran = verify(&["--gates".as_ref(), broken.as_ref(), "--json".as_ref()]);
        assert_eq!(ran.status, 1, "{}", ran.stderr);
        assert!(
            ran.stderr.contains("error: gate min_sqnr_db: found ") && ran.stderr.contains("wanted "),
            "{}",
            ran.stderr
        );
        assert_eq!(ran.json()["passed"], false);
    }
}

/// Nothing is calibrated where nothing is rounded, and the tensors are those that the checkpoint exports.
#[test]
fn all_in_reals_is_the_checkpoint_again() {
    for (graph, case) in cases() {
        let [model, exported, direct] = ["f32.bin", "f32.safetensors", "direct"].map(|name| case.path(name));
        host_tools!("quantise", case.checkpoint, "--keep-f32", "all", "-o", model).fine();
        host_tools!("export", model, "-o", exported).fine();
        host_tools!("export", case.checkpoint, "-o", direct).fine();
        let (exported_bytes, direct_bytes) = (fs::read(&exported).unwrap(), fs::read(&direct).unwrap());
        if graph.name == "dense" {
            assert!(exported_bytes == direct_bytes, "no checkpoint any more");
        }
        let (found, truth) =
            (SafeTensors::deserialize(&exported_bytes).unwrap(), SafeTensors::deserialize(&direct_bytes).unwrap());
        for (name, truth) in truth.iter().filter(|(name, _)| !name.starts_with("tree.")) {
            let found = found.tensor(name).unwrap();
            assert_eq!((found.dtype(), found.shape()), (Dtype::F32, truth.shape()), "{name}");
            assert!(found.data() == truth.data(), "{name}");
        }
        let ran = host_tools!("verify", model, "--checkpoint", case.checkpoint, "--inputs", case.rows, "--json").fine();
        let json = ran.json();
        assert!(json["accuracy"]["logits"]["sqnr_db"].as_f64().unwrap() > 90.0, "{}", json["accuracy"]["logits"]);
        assert_eq!(json["accuracy"]["top1"]["equal"], 300);
    }
}

/// Every tensor of the safetensors has the elements of the container's, in training order.
#[test]
fn an_exported_container_has_its_integers() {
    for (graph, case) in cases() {
        for (name, more) in
            [("u7", [].as_slice()), ("u8", &["--activations", "u8"]), ("i16", &["--activations", "i16"])]
        {
            let model = case.path(name);
            case.quantise(name, more).fine();
            let out = case.path(&format!("{name}.safetensors"));
            let json = host_tools!("export", model, "-o", out, "--json").fine().json();
            assert_eq!((&json["schema"], &json["source"]), (&"tamis-export-1".into(), &"container".into()));
            let bytes = fs::read(&out).unwrap();
            let (_, header) = SafeTensors::read_metadata(&bytes).unwrap();
            let metadata = header.metadata().clone().unwrap();
            let quantised = unpacked(&model);
            assert_eq!(metadata.get("tamis.quantised"), Some(&quantised.description));
            let file = SafeTensors::deserialize(&bytes).unwrap();
            let mut count = 0;
            for node in &quantised.nodes {
                for tensor in node.op.tensors() {
                    same_elements(&file, tensor, &node.op);
                    count += 1;
                }
                if let Operation::Requantise { multipliers, shifts, .. } = &node.op {
                    let bytes: Vec<u8> = multipliers.iter().flat_map(|value| value.to_le_bytes()).collect();
                    assert!(file.tensor(&format!("{}.multipliers", node.name)).unwrap().data() == bytes);
                    assert!(file.tensor(&format!("{}.shifts", node.name)).unwrap().data() == shifts);
                    count += 2;
                }
                if let Operation::Lookup { table } = &node.op {
                    let bytes: Vec<u8> = table.iter().map(|entry| *entry as u8).collect();
                    assert!(file.tensor(&format!("{}.table", node.name)).unwrap().data() == bytes);
                    count += 1;
                }
                let units: Vec<u8> = node.value.units.iter().flat_map(|unit| unit.to_le_bytes()).collect();
                assert!(file.tensor(&format!("{}.unit", node.name)).unwrap().data() == units);
                count += 1;
            }
            assert_eq!(file.tensor("graph.values").unwrap().shape(), [quantised.nodes.len(), 2]);
            assert_eq!(file.len(), count + 1, "{} {name}", graph.name);
            // Integers are no checkpoint, and say so.
            let ran = host_tools!("quantise", out, "--keep-f32", "all", "-o", case.path("out"));
            assert_eq!(ran.status, 2, "{}", ran.stderr);
            assert!(ran.stderr.contains("safetensors: ") && !case.path("out").exists(), "{}", ran.stderr);
        }
    }
}

#[track_caller]
fn same_elements(file: &SafeTensors<'_>, tensor: &QuantTensor, op: &Operation) {
    let found = file.tensor(&tensor.name).unwrap();
    let width = found.data().len() / (tensor.outputs * tensor.inputs).max(1);
    let rows_of_inputs = matches!(op, Operation::SparseRows { .. });
    for output in 0..tensor.outputs {
        for input in 0..tensor.inputs {
            let at = if rows_of_inputs { output + input * tensor.outputs } else { input + output * tensor.inputs };
            let bytes = &found.data()[at * width..][..width];
            let place = output + tensor.outputs * input;
            let equal = match (&tensor.values, bytes) {
                (Values::F32(values), bytes) => values[place].to_le_bytes() == bytes,
                (Values::Int(values), [byte]) => values[place] == i32::from(*byte as i8),
                (Values::Int(values), [low, high]) => values[place] == i32::from(i16::from_le_bytes([*low, *high])),
                (Values::Int(values), bytes) => values[place].to_le_bytes() == bytes,
            };
            assert!(equal, "{} ({output}, {input}): {bytes:?}", tensor.name);
        }
    }
}

#[test]
fn a_budget_decides_which_layers_stay_f32() {
    let case = Case::new(&dense());
    let plain = case.quantise("plain", &["--json"]).fine().json();
    let sqnr = |json: &serde_json::Value| json["accuracy"]["logits"]["sqnr_db"].as_f64().unwrap();
    let kept = |json: &serde_json::Value| json["kept_f32"].as_array().unwrap().len();
    assert_eq!(kept(&plain), 0);
    let wanted = format!("{:.1}", sqnr(&plain) + 3.0);
    let better = case.quantise("better", &["--sqnr-budget", &wanted, "--json"]).fine().json();
    assert!(sqnr(&better) >= sqnr(&plain) + 2.9 && kept(&better) > 0, "{better}");
    assert!(better["len_bytes"].as_u64() > plain["len_bytes"].as_u64());
    // What is there already is kept by nothing.
    let enough = case.quantise("enough", &["--sqnr-budget", "5", "--json"]).fine().json();
    assert_eq!((kept(&enough), &enough["len_bytes"]), (0, &plain["len_bytes"]));
    assert!(fs::read(case.path("enough")).unwrap() == fs::read(case.path("plain")).unwrap());

    // Room for the weights of the second layer, 9 · 24 of them, but not for those of the first.
    let bytes = unpacked(&case.path("plain")).parameter_len_bytes();
    let limit = bytes + 9 * 24 * 3 + 100;
    let sized = case.quantise("sized", &["--size-budget", &limit.to_string(), "--json"]).fine().json();
    assert!(kept(&sized) > 0 && sqnr(&sized) > sqnr(&plain), "{}", sized["kept_f32"]);
    assert!(unpacked(&case.path("sized")).parameter_len_bytes() <= limit);
    let by_name = case.quantise("by-name", &["--keep-f32", "third", "--json"]).fine().json();
    assert_eq!(by_name["kept_f32"], serde_json::json!(["third"]));
    host_tools!("inspect", case.path("sized")).fine();
}
