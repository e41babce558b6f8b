//! Networks with convolutions, quantised: how close they stay to full precision, and that the runtime does what the
//! integer model does.

use std::path::Path;
use tamis_quant::graph::{Graph, Sample};
use tamis_quant::import::tensors::read_npz;
use tamis_quant::import::tflite::read_tflite;
use tamis_quant::integer::IntegerModel;
use tamis_quant::pack::{Provenance, pack, unpack_graph};
use tamis_quant::program::Program;
use tamis_quant::proof::prove;
use tamis_quant::quantise::graph::{Activations, GraphQuantError, InputEncoding, Options, quantise_graph};
use tamis_quant::run::AlignedBytes;
use tamis_quant::verify::runtime::check_runtime;
use tamis_runtime::format::Model;
use tests::graphs::Random;
use tests::maps::random_maps;
use tests::note;
use tests::tolerances::MAPS_SQNR_DB;
use tests::trials::Fixtures;

/// What the KWS files' stored inputs count in.
const KWS_SCALE: f64 = 0.584_702_908_992_767_3;

/// What a stored input is to a network.
type Real = fn(f64) -> f64;

/// Whether bytes are signed, the unit and the zero point in which the stored inputs enter unchanged.
type Encoding = Option<(bool, f64, i32)>;

const NETWORKS: [(&str, Real, Encoding); 5] = [
    ("kws", |q| (q - 83.0) * KWS_SCALE, Some((true, KWS_SCALE, 83))),
    ("kws_ckpt", |q| (q - 83.0) * KWS_SCALE, Some((true, KWS_SCALE, 83))),
    ("ic", |byte| byte, Some((false, 1.0, 0))),
    ("vww", |byte| byte / 255.0, Some((false, 1.0 / 255.0, 0))),
    ("ad", |x| x, None),
];

struct Network {
    graph: Graph,
    calibration: Vec<Sample>,
    inputs: Vec<Sample>,
}

fn network(folder: &Path, name: &str, real: Real) -> Network {
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

/// Decibels of the logits against full precision, and how many answers agree.
fn accuracy(graph: &Graph, program: &Program, samples: &[Sample]) -> (f64, usize) {
    let model = IntegerModel::new(program);
    let (mut signal, mut noise, mut agree) = (0.0, 0.0, 0);
    let best = |values: &[f64]| (0..values.len()).max_by(|a, b| values[*a].total_cmp(&values[*b])).unwrap();
    for sample in samples {
        let truth = graph.evaluate_logits(sample).unwrap();
        let found = model.logits(sample, graph.logits()).unwrap();
        signal += truth.iter().map(|x| x * x).sum::<f64>();
        noise += truth.iter().zip(&found).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
        agree += usize::from(best(&truth) == best(&found));
    }
    (10.0 * (signal / noise).log10(), agree)
}

/// Packs, takes apart again, and runs on every tier against the integer model.
#[track_caller]
fn runs_everywhere(program: &Program, samples: &[Sample]) -> usize {
    let packed = pack(program, &prove(program), &Provenance::default()).unwrap();
    let bytes = AlignedBytes::copy_of(&packed);
    let model = Model::parse(bytes.as_ref()).unwrap();
    let again = unpack_graph(&model).unwrap();
    for (node, again) in program.nodes.iter().zip(&again.nodes) {
        assert!(node == again, "unpacked: {} {:?}", node.name, node.reads);
    }
    assert!(again == *program, "unpacked");
    let workspace = model.workspace_len_bytes();
    let inputs: Vec<_> = samples.iter().map(|sample| program.input.quantise(sample).unwrap()).collect();
    let check = check_runtime(model, program, &inputs, &mut |_, _| ()).unwrap();
    assert!(check.equal, "{:?}", check.tiers);
    workspace
}

/// MLPerf Tiny's networks from their float files, calibrated on what lies beside them.
#[test]
fn public_networks_stay_close_to_full_precision(folder: Fixtures) {
    for (name, real, encoding) in NETWORKS {
        let input_encoding = encoding.map(|(is_signed, unit, zero)| InputEncoding { is_signed, unit, zero });
        let Network { graph, calibration, inputs } = network(&folder, name, real);
        let options = Options { input_encoding, activations: Activations::I8, ..Options::default() };
        let start = std::time::Instant::now();
        let program = quantise_graph(&graph, &calibration, &options).unwrap();
        let seconds = start.elapsed().as_secs_f64();
        assert!(prove(&program).holds(), "{name}");
        let workspace = runs_everywhere(&program, &inputs[..3]);
        let (sqnr, agree) = accuracy(&graph, &program, &inputs);
        note!("{name}: {sqnr:.1} dB, {agree} of {} agree, {workspace} B of workspace, {seconds:.1} s", inputs.len());
        let (_, least) = MAPS_SQNR_DB.iter().find(|(of, _)| *of == name).unwrap();
        assert!(sqnr >= *least, "{name}: {sqnr}");
    }
}

/// Graphs of every operation on maps, of odd sizes.
#[test]
fn random_graphs_run_as_the_integer_model_does() {
    let mut random = Random(20);
    let (mut done, mut tried) = (0, 0);
    while done < 300 {
        let graph = random_maps(&mut random);
        tried += 1;
        let samples: Vec<Sample> = (0..4).map(|_| tests::graphs::sample(&mut random, graph.input, false)).collect();
        match quantise_graph(&graph, &samples, &Options::default()) {
            Ok(program) => {
                runs_everywhere(&program, &samples);
                done += 1;
            }
            Err(
                GraphQuantError::Unsupported { .. }
                | GraphQuantError::Overflow { .. }
                | GraphQuantError::NotCalibrated { .. },
            ) => {}
            Err(error) => panic!("{error}"),
        }
    }
    note!("{done} of {tried} graphs were quantised");
}
