//! What several subjects share: the harness, the repository's own files, models built in memory.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test helper fails by panicking")]

pub use tests_attribute::test;

use std::path::{Path, PathBuf};
use tamis_quant::arch::Architecture;
use tamis_quant::float::Net;
use tamis_quant::import::importers::dense_graph;
use tamis_quant::import::read_bare;
use tamis_quant::pack::{Provenance, pack};
use tamis_quant::program::{Operation, Program, ProgramNode, Read};
use tamis_quant::proof::prove;
use tamis_quant::quantise::graph::{Options, quantise_graph};
use tamis_quant::quantise::quantise;
use tamis_quant::quantised::QuantNet;
use tamis_quant::run::AlignedBytes;

pub mod angel;
pub mod arrays;
pub mod batches;
pub mod draft;
pub mod exercise;
pub mod generator;
pub mod graphs;
pub mod guarded;
pub mod held;
pub mod integers;
pub mod maps;
pub mod networks;
pub mod npy;
pub mod packed;
pub mod pairs;
pub mod piece_squares;
pub mod related;
pub mod replay;
pub mod sample_models;
pub mod second_reader;
pub mod small_net;
pub mod stockfish;
pub mod synthetic;
pub mod tflite;
pub mod tolerances;
pub mod trained;
pub mod trials;
pub mod windows;
pub mod worked;

/// A file or folder of the `tests` folder.
pub fn own(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// A description of `tests/architectures`.
pub fn architecture(name: &str) -> Architecture {
    Architecture::from_toml(&architecture_text(name), name).unwrap()
}

/// Its text.
pub fn architecture_text(name: &str) -> String {
    std::fs::read_to_string(own("architectures").join(name).with_extension("toml")).unwrap()
}

/// A bare file as a quantised network.
pub fn bare_net(path: &Path, arch: &Architecture) -> QuantNet {
    QuantNet::from_bare(read_bare(&std::fs::read(path).unwrap(), arch).unwrap()).unwrap()
}

/// A network as a container in aligned memory, proved or not.
pub fn packed(net: &QuantNet) -> AlignedBytes {
    packed_program(&net.lower().unwrap())
}

/// The same of a program.
pub fn packed_program(program: &Program) -> AlignedBytes {
    AlignedBytes::copy_of(&pack(program, &prove(program), &Provenance::default()).unwrap())
}

/// A program whose head has sums of 32 bits, in two operations, whether they are proved or not.
pub fn narrow(mut program: Program) -> Program {
    let last = program.nodes.pop().unwrap();
    let Operation::WideHead { weights, bias, clip, max, pre, factor, divisor } = last.op else {
        program.nodes.push(last);
        return program;
    };
    let (op, name) = (Operation::ActivateDot { weights, clip, max }, format!("{}.sums", last.name));
    program.nodes.push(ProgramNode { name, reads: last.reads, op, value: last.value.clone() });
    let reads = vec![Read::whole(program.nodes.len())];
    let op = Operation::Rescale { bias, pre, factor, divisor };
    program.nodes.push(ProgramNode { name: last.name, reads, op, value: last.value });
    program
}

/// A float network of bullet's as the program that `host-tools quantise` makes of it.
pub fn lowered(net: &Net<f32>) -> Program {
    if net.arch.input.is_sparse() {
        return quantise(net).unwrap().lower().unwrap();
    }
    let (graph, ranges) = dense_graph(net).unwrap();
    quantise_graph(&graph, &[], &Options::default().with_ranges(ranges)).unwrap()
}

/// The program in the README compiles.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
pub struct Readme;

/// And those in the guide for engines.
#[cfg(doctest)]
#[doc = include_str!("../../runtime/ENGINE.md")]
pub struct EngineGuide;

/// And those in its page on positions that are copied.
#[cfg(doctest)]
#[doc = include_str!("../../runtime/COPY-MAKE.md")]
pub struct CopyMakeGuide;
