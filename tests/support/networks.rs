//! MLPerf Tiny's networks out of the fixtures, and what networks over maps are held to.

use crate::tolerances::F32_UNITS;
use std::path::Path;
use tamis_quant::graph::{Graph, Sample};
use tamis_quant::import::tensors::read_npz;
use tamis_quant::import::tflite::read_tflite;
use tamis_quant::integer::IntegerModel;
use tamis_quant::pack::{Provenance, pack, unpack_graph};
use tamis_quant::program::{GraphInput, Program};
use tamis_quant::proof::prove;
use tamis_quant::quantise::graph::{Activations, InputEncoding, Options};
use tamis_quant::run::AlignedBytes;
use tamis_quant::verify::runtime::check_runtime;
use tamis_quant::verify::simulate::Simulation;
use tamis_runtime::format::Model;
use tamis_runtime::kernels::best;
use tamis_runtime::{Input, Plan};

/// What the KWS files' stored inputs count in.
const KWS_SCALE: f64 = 0.584_702_908_992_767_3;

/// What a stored input is to a network.
pub type Real = fn(f64) -> f64;

/// Whether bytes are signed, the unit and the zero point in which the stored inputs enter unchanged.
pub type Encoding = Option<(bool, f64, i32)>;

/// Each with its inputs.
pub const NETWORKS: [(&str, Real, Encoding); 5] = [
    ("kws", |q| (q - 83.0) * KWS_SCALE, Some((true, KWS_SCALE, 83))),
    ("kws_ckpt", |q| (q - 83.0) * KWS_SCALE, Some((true, KWS_SCALE, 83))),
    ("ic", |byte| byte, Some((false, 1.0, 0))),
    ("vww", |byte| byte / 255.0, Some((false, 1.0 / 255.0, 0))),
    ("ad", |x| x, None),
];

/// A network with examples.
pub struct Network {
    /// In full precision.
    pub graph: Graph,
    /// What calibrates it.
    pub calibration: Vec<Sample>,
    /// What it is measured on.
    pub inputs: Vec<Sample>,
}

impl Network {
    /// Signed bytes between layers, and the inputs as they are stored.
    #[must_use]
    pub fn options(&self, encoding: Encoding) -> Options {
        let input_encoding = encoding.map(|(is_signed, unit, zero)| InputEncoding { is_signed, unit, zero });
        Options { input_encoding, activations: Activations::I8, ..Options::default() }
    }
}

/// One of them, out of the fixtures.
#[must_use]
pub fn network(folder: &Path, name: &str, real: Real) -> Network {
    let read = |path: &Path| std::fs::read(path).unwrap();
    let folder = folder.join("mlperf").join(name);
    let graph = read_tflite(&read(&folder.join(format!("{name}_float.tflite"))), name).unwrap().graph;
    let arrays = read_npz(&read(&folder.join(format!("{name}.npz")))).unwrap();
    let samples = |array: &str| -> Vec<Sample> {
        let array = &arrays[array];
        let len = array.shape[1..].iter().product();
        array.values.chunks_exact(len).map(|row| Sample::Dense(row.iter().map(|x| real(*x)).collect())).collect()
    };
    let (calibration, inputs) = (samples("calibration_inputs"), samples("inputs"));
    Network { graph, calibration, inputs }
}

/// How close integers are to full precision.
#[derive(Debug, Clone, Copy, Default)]
pub struct Closeness {
    /// Signal to noise of the logits.
    pub sqnr_db: f64,
    /// Answers that are the same.
    pub agree: usize,
    /// Examples whose best two logits are more than 0.1 apart.
    pub clear: usize,
    /// Of them those whose answers are the same.
    pub clear_agree: usize,
}

/// Of a program on some samples.
#[must_use]
pub fn closeness(graph: &Graph, program: &Program, samples: &[Sample]) -> Closeness {
    let model = IntegerModel::new(program);
    let (mut signal, mut noise, mut found) = (0.0, 0.0, Closeness::default());
    let best = |values: &[f64]| (0..values.len()).max_by(|a, b| values[*a].total_cmp(&values[*b])).unwrap();
    for sample in samples {
        let truth = graph.evaluate_logits(sample).unwrap();
        let integer = model.scores(sample, graph).unwrap();
        signal += truth.iter().map(|x| x * x).sum::<f64>();
        noise += truth.iter().zip(&integer).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
        let is_alike = usize::from(best(&truth) == best(&integer));
        let mut order = truth.clone();
        order.sort_by(|a, b| b.total_cmp(a));
        let is_clear = usize::from(order[0] - order[1] > 0.1);
        found.agree += is_alike;
        found.clear += is_clear;
        found.clear_agree += is_clear * is_alike;
    }
    Closeness { sqnr_db: 10.0 * (signal / noise).log10(), ..found }
}

/// What a network that runs on every tier takes and makes.
#[derive(Debug, Clone)]
pub struct Ran {
    /// Bytes of the workspace.
    pub all: usize,
    /// Bytes of the workspace where outputs lie elsewhere.
    pub beside_outputs: usize,
    /// The signature that it has on all tiers.
    pub signature: String,
}

/// Packs, takes apart again, and runs on every tier against the integer model, in exactly as much memory as is needed.
#[track_caller]
pub fn runs_everywhere(program: &Program, samples: &[Sample]) -> Ran {
    packed_runs_everywhere(&pack(program, &prove(program), &Provenance::default()).unwrap(), program, samples)
}

/// The same of a container that a program was packed as.
#[track_caller]
pub fn packed_runs_everywhere(packed: &[u8], program: &Program, samples: &[Sample]) -> Ran {
    let bytes = AlignedBytes::copy_of(packed);
    let model = Model::parse(bytes.as_ref()).unwrap();
    let again = unpack_graph(&model).unwrap();
    for (node, again) in program.nodes.iter().zip(&again.nodes) {
        assert!(node == again, "unpacked: {} {:?}", node.name, node.reads);
    }
    assert!(again == *program, "unpacked");
    let inputs: Vec<_> = samples.iter().map(|sample| program.input.quantise(sample).unwrap()).collect();
    let check = check_runtime(model, program, &inputs, 64, |_, _| (), |_, ()| ()).unwrap();
    assert!(check.equal, "{:?}", check.tiers);
    let plan = Plan::new(model, best());
    runs_into(&plan, &inputs);
    let signature = check.tiers[0].signature.clone();
    Ran { all: model.workspace_len_bytes(), beside_outputs: plan.beside_outputs_len_bytes(), signature }
}

/// A program with no rounding at all, in the units of its own values, is the float graph that it came from.
#[track_caller]
pub fn is_the_graph_without_rounding(graph: &Graph, program: &Program, samples: &[Sample]) {
    let simulation = Simulation::of_graph(graph, program, program.scores_of(graph).unwrap()).unwrap();
    for sample in samples {
        let (exact, float) = (simulation.evaluate(sample.into(), &|_| false).outputs, graph.evaluate_logits(sample));
        for (exact, float) in exact.iter().zip(&float.unwrap()) {
            let slack = F32_UNITS * (1.0 + float.abs());
            assert!((exact - float).abs() <= slack, "{exact} for {float}\n{program:#?}");
        }
    }
}

/// The outputs are the same in memory of their own.
#[track_caller]
fn runs_into(plan: &Plan<'_>, inputs: &[GraphInput]) {
    let mut beside = AlignedBytes::zeroed(plan.beside_outputs_len_bytes());
    let mut outputs = AlignedBytes::zeroed(plan.outputs_len_bytes());
    let mut workspace = AlignedBytes::zeroed(plan.model().workspace_len_bytes());
    for input in inputs {
        let input = match input {
            GraphInput::U8(x) => Input::U8(x),
            GraphInput::I8(x) => Input::I8(x),
            GraphInput::F32(x) => Input::F32(x),
            other => panic!("no vector and no map: {other:?}"),
        };
        let found = plan.run_into(input, 0, beside.as_mut(), outputs.as_mut());
        assert_eq!(found, plan.run(input, 0, workspace.as_mut()));
    }
}
