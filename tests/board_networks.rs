//! Writes MLPerf Tiny's networks, some of their inputs and what a board must print of them: what the program `given` of
//! `firmware-examples` is handed.
//!
//!     board_networks FIXTURES OUT
//!
//! OUT gets a folder a network with `network.bin`, `inputs.bin` and `expected.out`. The outputs are those of the
//! integer model, which works a network out by its definition and has nothing of the runtime in it.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a tool of the tests, which stops at whatever is wrong")]

use std::fmt::Write;
use std::path::{Path, PathBuf};
use tamis_quant::integer::{Data, IntegerModel};
use tamis_quant::pack::{Provenance, pack};
use tamis_quant::program::GraphInput;
use tamis_quant::proof::prove;
use tamis_quant::quantise::graph::quantise_graph;
use tamis_quant::run::AlignedBytes;
use tamis_runtime::format::Model;
use tests::networks::{NETWORKS, network};

/// Inputs of each: an emulator of a small core takes seconds for them.
const INPUTS: usize = 4;

fn main() {
    let paths: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let [fixtures, out] = paths.as_slice() else { panic!("board_networks FIXTURES OUT") };
    for (name, real, encoding) in NETWORKS {
        let network = network(fixtures, name, real);
        let program = quantise_graph(&network.graph, &network.calibration, &network.options(encoding)).unwrap();
        let container = AlignedBytes::copy_of(&pack(&program, &prove(&program), &Provenance::default()).unwrap());
        let workspace = Model::parse(container.as_ref()).unwrap().workspace_len_bytes();
        let model = IntegerModel::new(&program);
        let len = container.as_ref().len();
        let (mut inputs, mut expected) = (Vec::new(), format!("{len} bytes, workspace {workspace} bytes\n"));
        for sample in &network.inputs[..INPUTS] {
            let input = program.input.quantise(sample).unwrap();
            inputs.extend(bytes_of(&input));
            let outputs = bytes_of_outputs(model.trace_input(&input).last().unwrap());
            writeln!(expected, "{} outputs, {:08x}", outputs.len() / 4, fnv(&outputs)).unwrap();
        }
        let write = |file: &str, bytes: &[u8]| put(&out.join(name), file, bytes);
        write("network.bin", container.as_ref());
        write("inputs.bin", &inputs);
        write("expected.out", expected.as_bytes());
    }
}

fn put(folder: &Path, file: &str, bytes: &[u8]) {
    std::fs::create_dir_all(folder).unwrap();
    std::fs::write(folder.join(file), bytes).unwrap();
}

fn bytes_of(input: &GraphInput) -> Vec<u8> {
    match input {
        GraphInput::U8(bytes) => bytes.clone(),
        GraphInput::I8(bytes) => bytes.iter().map(|byte| byte.cast_unsigned()).collect(),
        GraphInput::F32(reals) => reals.iter().flat_map(|real| real.to_le_bytes()).collect(),
        other => panic!("no vector and no map: {other:?}"),
    }
}

fn bytes_of_outputs(outputs: &Data) -> Vec<u8> {
    match outputs {
        Data::Int(values) => values.iter().flat_map(|value| value.to_le_bytes()).collect(),
        Data::Real(values) => values.iter().flat_map(|value| value.to_le_bytes()).collect(),
        Data::Sparse(_) => panic!("no outputs"),
    }
}

/// FNV-1a in 32 bits.
fn fnv(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811C_9DC5, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
}
