//! Importers refuse bytes with an error, and what they accept is written back as it was.
//!
//! Every input is tried as a description, as a bare file and as a checkpoint of the example network, and as each of the
//! other trainers' files; a graph that comes out of one can be evaluated.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;
use tamis_quant::arch::Architecture;
use tamis_quant::graph::{Input, Sample};
use tamis_quant::import::chain::Chain;
use tamis_quant::import::datacode::{Options, read_datacode};
use tamis_quant::import::lattice::{read_fann, read_lattice_checkpoint, read_network_json};
use tamis_quant::import::onnx::read_onnx;
use tamis_quant::import::tflite::read_tflite;
use tamis_quant::import::{Imported, read_bare, read_bytes};
use tamis_quant::pack::to_bare;
use tamis_quant::quantise::quantise;
use tamis_quant::quantised::QuantNet;
use tamis_quant::stockfish;

static TINY: LazyLock<Option<Architecture>> =
    LazyLock::new(|| Architecture::from_toml(include_str!("../../vectors/tiny.toml"), "tiny.toml").ok());

fuzz_target!(|bytes: &[u8]| {
    description(bytes);
    let arch = TINY.as_ref().expect("the example's description is right");
    if let Ok(bare) = read_bare(bytes, arch) {
        let again = QuantNet::from_bare(bare).ok().and_then(|net| to_bare(&net).ok());
        assert_eq!(again.as_deref(), Some(bytes), "a bare file that is read is written back byte for byte");
    }
    if let Ok(checkpoint) = read_bytes(bytes, arch, "raw.bin") {
        let _ = quantise(&checkpoint.net);
    }
    if let Ok(net) = stockfish::read(bytes) {
        assert_eq!(stockfish::to_bytes(&net), bytes, "a .nnue file that is read is written back byte for byte");
    }
    graph(read_datacode(bytes, "x", &Options::default()).ok());
    graph(read_fann(bytes, "x").ok());
    graph(read_network_json(bytes, "x").ok());
    // A few bytes can ask for a large map, which takes long and shows nothing.
    let is_small = |imported: &Imported| imported.graph.lengths().iter().all(|len| *len < 10_000);
    graph(read_tflite(bytes, "x").ok().filter(is_small));
    graph(read_onnx(bytes, None, "x").ok().filter(is_small));
    let chain = Chain::from_text("2:relu1:linear1").expect("a chain");
    graph(read_lattice_checkpoint(bytes, "x", &chain).ok());
    if let Ok(chain) = std::str::from_utf8(bytes).map_err(drop).and_then(|text| Chain::from_text(text).map_err(drop)) {
        assert_eq!(Chain::from_text(&chain.to_string()).as_ref(), Ok(&chain), "the text of a chain is that chain");
    }
});

fn graph(imported: Option<Imported>) {
    let Some(Imported { graph, .. }) = imported else { return };
    if let Input::Dense { shape } = graph.input {
        graph.evaluate(&Sample::Dense(vec![1.0; shape.len()])).expect("a checked graph takes a vector of its length");
    }
}

fn description(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(arch) = Architecture::from_toml(text, "x") else { return };
    let canonical = arch.to_toml();
    let again = Architecture::from_toml(&canonical, "y").expect("the canonical text is a right description");
    assert_eq!(again, arch);
    assert_eq!(again.to_toml(), canonical, "and the canonical text of itself");
}
