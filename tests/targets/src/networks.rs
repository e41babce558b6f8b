//! Descriptions, and other trainers' networks. A graph that comes out of one can be evaluated.

use std::sync::LazyLock;
use tamis_quant::arch::Architecture;
use tamis_quant::graph::description::Description;
use tamis_quant::graph::{Input, Sample};
use tamis_quant::import::chain::Chain;
use tamis_quant::import::datacode::{Options, read_datacode};
use tamis_quant::import::lattice::{read_fann, read_lattice_checkpoint, read_network_json};
use tamis_quant::import::onnx::{read_onnx, read_onnx_model};
use tamis_quant::import::tflite::quantised::read_quantised;
use tamis_quant::import::tflite::read_tflite;
use tamis_quant::import::{Imported, read_bare, read_bytes};
use tamis_quant::pack::to_bare;
use tamis_quant::proof::prove;
use tamis_quant::quantise::quantise;
use tamis_quant::quantised::{QuantNet, QuantisedGraph, from_graph};
use tamis_quant::stockfish::{self, Encoding, FeatureSet, Head, Shape};
use tests::tflite::{Step, byte, constant, int, list, network, value};

/// Larger maps than this take long and show nothing.
const LONGEST: usize = 10_000;

static TINY: LazyLock<Architecture> = LazyLock::new(|| {
    Architecture::from_toml(include_str!("../../vectors/tiny.toml"), "tiny.toml").expect("the example is right")
});

pub(crate) fn graph<E>(imported: Result<Imported, E>) -> bool {
    let Ok(Imported { graph, .. }) = imported else { return false };
    // A few bytes can ask for a large map.
    if graph.lengths().iter().any(|len| *len > LONGEST) {
        return true;
    }
    if let Input::Dense { shape } = graph.input {
        graph.evaluate(&Sample::Dense(vec![1.0; shape.len()])).expect("a checked graph takes a vector of its length");
    }
    true
}

/// The canonical text of a description is that description.
pub fn description(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    let Ok(arch) = Architecture::from_toml(text, "x") else { return false };
    let canonical = arch.to_toml();
    let again = Architecture::from_toml(&canonical, "y").expect("the canonical text is a right description");
    assert_eq!(again, arch);
    assert_eq!(again.to_toml(), canonical, "and the canonical text of itself");
    true
}

/// The same of a graph's.
pub fn graph_description(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    let Ok(description) = Description::from_toml(text, "x") else { return false };
    let canonical = description.to_toml();
    let again = Description::from_toml(&canonical, "y").expect("the canonical text is a right description");
    assert_eq!(again.to_toml(), canonical, "the canonical text of itself");
    true
}

/// A bare file that is read is written back byte for byte.
pub fn bare(bytes: &[u8]) -> bool {
    let Ok(bare) = read_bare(bytes, &TINY) else { return false };
    let again = QuantNet::from_bare(bare).ok().and_then(|net| to_bare(&net).ok());
    assert_eq!(again.as_deref(), Some(bytes));
    true
}

/// A checkpoint of bullet's in either form; what is read can be quantised or is refused.
pub fn checkpoint(bytes: &[u8]) -> bool {
    let names = ["raw.bin", "weights.bin", "x"];
    names.iter().fold(false, |any, name| match read_bytes(bytes, &TINY, name) {
        Ok(checkpoint) => {
            let _ = quantise(&checkpoint.net);
            true
        }
        Err(_) => any,
    })
}

/// A `.nnue` file that is read is written back byte for byte, and its program is proved or not.
pub fn nnue(bytes: &[u8]) -> bool {
    let Ok(net) = stockfish::read(bytes) else { return false };
    assert_eq!(stockfish::to_bytes(&net), bytes);
    true
}

/// The smallest that there are.
pub fn nnue_files() -> Vec<Vec<u8>> {
    let of = |encoding| {
        let shape = Shape { features: FeatureSet::HalfKaV2Hm, width: 32, head: Head::Pairwise { squares: true } };
        let file = stockfish::to_bytes(&tests::stockfish::made_up(shape, encoding, 7));
        // The whole is megabytes; what lies in front is what says what it is.
        file[..file.len().min(4096)].to_vec()
    };
    vec![of(Encoding::Leb128), of(Encoding::Raw)]
}

/// The description that stands in a container of such a file.
pub fn nnue_description(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_ok_and(|text| stockfish::description::parse(text).is_ok())
}

/// The text of a chain is that chain.
pub fn chain(bytes: &[u8]) -> bool {
    let Ok(Ok(chain)) = std::str::from_utf8(bytes).map(Chain::from_text) else { return false };
    assert_eq!(Chain::from_text(&chain.to_string()).as_ref(), Ok(&chain));
    true
}

pub fn datacode(bytes: &[u8]) -> bool {
    graph(read_datacode(bytes, "x", &Options::default()))
}

pub fn fann(bytes: &[u8]) -> bool {
    graph(read_fann(bytes, "x"))
}

pub fn lattice_json(bytes: &[u8]) -> bool {
    graph(read_network_json(bytes, "x"))
}

pub fn lattice_checkpoint(bytes: &[u8]) -> bool {
    let chain = Chain::from_text("2:relu1:linear1").expect("a chain");
    graph(read_lattice_checkpoint(bytes, "x", &chain))
}

pub fn tflite(bytes: &[u8]) -> bool {
    graph(read_tflite(bytes, "x"))
}

pub fn onnx(bytes: &[u8]) -> bool {
    graph(read_onnx(bytes, None, "x"))
}

/// Integers that are packed as they are: what lowers can be proved.
fn quantised(graph: &QuantisedGraph) -> bool {
    let Ok((program, _)) = graph.lower("x") else { return false };
    if program.nodes.iter().all(|node| node.value.len() <= LONGEST) {
        let _ = prove(&program);
    }
    true
}

pub fn tflite_quantised(bytes: &[u8]) -> bool {
    read_quantised(bytes, "x").is_ok_and(|graph| quantised(&graph))
}

pub fn onnx_quantised(bytes: &[u8]) -> bool {
    let Ok(model) = read_onnx_model(bytes, None, "x") else { return false };
    from_graph(&model.imported.graph, model.given).is_ok_and(|graph| quantised(&graph))
}

/// Files of a few operators.
pub fn tflite_files() -> Vec<Vec<u8>> {
    let step =
        |code, inputs: &[i32], output, options| Step { code, inputs: inputs.to_vec(), outputs: vec![output], options };
    let dense = {
        let weights: Vec<f32> = (0..12).map(|index| index as f32 / 4.0 - 1.0).collect();
        let tensors = vec![value(&[1, 6]), constant(&[2, 6], &weights), constant(&[2], &[0.5, -0.5]), value(&[1, 2])];
        network(tensors, &[0], &[3], vec![step(9, &[0, 1, 2], 3, (8, vec![byte(1)]))])
    };
    let convolution = {
        let tensors = vec![
            value(&[1, 3, 3, 1]),
            constant(&[2, 2, 2, 1], &[0.25; 8]),
            constant(&[2], &[1.0, -1.0]),
            value(&[1, 2, 2, 2]),
            list(&[1, 8]),
            value(&[1, 8]),
        ];
        let options = (1, vec![byte(1), int(1), int(1)]);
        let steps = vec![step(3, &[0, 1, 2], 3, options), step(22, &[3, 4], 5, (0, vec![]))];
        network(tensors, &[0], &[5], steps)
    };
    let pool = {
        let tensors = vec![value(&[1, 4, 4, 2]), value(&[1, 2, 2, 2])];
        let options = (5, vec![byte(1), int(2), int(2), int(2), int(2)]);
        network(tensors, &[0], &[1], vec![step(17, &[0], 1, options)])
    };
    vec![dense, convolution, pool]
}
