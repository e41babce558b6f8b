//! Writes networks, some of their inputs and what a board must print of them: what the program `given` of
//! `firmware-examples` is handed.
//!
//!     board_networks FIXTURES OUT
//!
//! OUT gets a folder for each of MLPerf Tiny's networks, one for the largest with a workspace within a budget, and a
//! few for random networks of convolutions, each with `network.bin`, `inputs.bin`, `left_out.txt` and `expected.out`.
//! The outputs are those of the integer model, which works a network out by its definition and has nothing of the
//! runtime in it; what is left out is what `host-tools codegen`, beside this program, writes into a network's module.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a tool of the tests, which stops at whatever is wrong")]

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use tamis_quant::graph::Sample;
use tamis_quant::integer::{Data, IntegerModel};
use tamis_quant::pack::{Provenance, pack, pack_within};
use tamis_quant::program::{GraphInput, Program};
use tamis_quant::proof::prove;
use tamis_quant::quantise::graph::quantise_graph;
use tamis_quant::run::AlignedBytes;
use tamis_runtime::format::Model;
use tests::networks::{NETWORKS, network};
use tests::windows::{Drawn, programs};

/// Inputs of each: an emulator of a small core takes seconds for them.
const INPUTS: usize = 4;
/// The network with the largest maps, and bytes of workspace that it is also given within.
const LARGEST: &str = "vww";
const BUDGET: usize = 30_000;
/// Random networks.
const RANDOM: usize = 300;
/// Bytes of containers, or of their inputs, that a board is given at once: less than it has room for by more than one.
const GIVEN_LEN_BYTES: usize = 256 * 1024;

fn main() {
    let paths: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let [fixtures, out] = paths.as_slice() else { panic!("board_networks FIXTURES OUT") };
    for (name, real, encoding) in NETWORKS {
        let network = network(fixtures, name, real);
        let program = quantise_graph(&network.graph, &network.calibration, &network.options(encoding)).unwrap();
        let mut given = Given::default();
        given.add(&program, &network.inputs, None);
        given.write(&out.join(name));
        if name == LARGEST {
            let mut within = Given::default();
            within.add(&program, &network.inputs, Some(BUDGET));
            within.write(&out.join(format!("{name}-within")));
        }
    }
    let (mut given, mut folder) = (Given::default(), 0);
    for Drawn { program, samples, .. } in programs().take(RANDOM) {
        given.add(&program, &samples, None);
        if given.containers.len().max(given.inputs.len()) > GIVEN_LEN_BYTES {
            std::mem::take(&mut given).write(&out.join(format!("random-{folder}")));
            folder += 1;
        }
    }
    given.write(&out.join(format!("random-{folder}")));
}

/// What a board is given at once: containers, one behind the other, the inputs of each likewise, and its log.
#[derive(Default)]
struct Given {
    containers: Vec<u8>,
    inputs: Vec<u8>,
    /// A line a network: the kernels that its module leaves out.
    left_out: String,
    expected: String,
}

impl Given {
    /// budget: bytes that the workspace may have, if it is to be planned within as many.
    fn add(&mut self, program: &Program, samples: &[Sample], budget: Option<usize>) {
        let (proof, provenance) = (prove(program), Provenance::default());
        let packed = match budget {
            Some(budget) => pack_within(program, &proof, &provenance, budget),
            None => pack(program, &proof, &provenance),
        };
        let container = AlignedBytes::copy_of(&packed.unwrap());
        let workspace = Model::parse(container.as_ref()).unwrap().workspace_len_bytes();
        let len = container.as_ref().len();
        writeln!(self.expected, "{len} bytes, workspace {workspace} bytes").unwrap();
        writeln!(self.left_out, "{}", left_out(container.as_ref())).unwrap();
        self.containers.extend_from_slice(container.as_ref());
        let model = IntegerModel::new(program);
        for sample in &samples[..INPUTS] {
            let input = program.input.quantise(sample).unwrap();
            self.inputs.extend(bytes_of(&input));
            // Reals lie at multiples of their size, wherever the next network's begin.
            self.inputs.resize(self.inputs.len().next_multiple_of(4), 0);
            let outputs = bytes_of_outputs(model.trace_input(&input).last().unwrap());
            writeln!(self.expected, "{} outputs, {:08x}", outputs.len() / 4, fnv(&outputs)).unwrap();
        }
    }

    fn write(self, folder: &Path) {
        std::fs::create_dir_all(folder).unwrap();
        std::fs::write(folder.join("network.bin"), self.containers).unwrap();
        std::fs::write(folder.join("inputs.bin"), self.inputs).unwrap();
        std::fs::write(folder.join("left_out.txt"), self.left_out).unwrap();
        std::fs::write(folder.join("expected.out"), self.expected).unwrap();
    }
}

/// The names of kernels in the module that `host-tools codegen` writes, with spaces between them.
fn left_out(container: &[u8]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let [file, module] = ["network.bin", "network.rs"].map(|name| folder.path().join(name));
    std::fs::write(&file, container).unwrap();
    let mut command = Command::new(std::env::current_exe().unwrap().with_file_name("host-tools"));
    let done = command.arg("codegen").arg(file).arg("-o").arg(&module).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let text = std::fs::read_to_string(module).unwrap();
    let (_, list) = text.split_once("without(&[").unwrap();
    let (list, _) = list.split_once("])").unwrap();
    list.split('"').skip(1).step_by(2).collect::<Vec<_>>().join(" ")
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
