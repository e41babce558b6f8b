//! Every test across the crates: one binary, a module a subject.
//!
//! They run the kernel tiers that this machine has; `emulation/run` runs the others, each where it can run.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

#[macro_use]
extern crate tests; // its #[test], in every module: see support/trials.rs

#[path = "subjects/angel.rs"]
mod angel; // matrix folders and models of Angel, against their truth

#[path = "subjects/angel_models.rs"]
mod angel_models; // models of Angel that no fixture has, against plain loops

#[path = "subjects/batches.rs"]
mod batches; // batches of parallel text against OpenNMT-tf's

#[path = "subjects/shuffles.rs"]
mod shuffles; // the order of shuffled lines, beside OpenNMT-tf's

#[path = "subjects/batch_rules.rs"]
mod batch_rules; // the same against a page of obvious code, and what is refused

#[path = "subjects/threats.rs"]
mod threats; // networks whose features are relations between pieces

#[path = "subjects/threats_reach.rs"]
mod threats_reach; // how far legal positions drive sums that are not proved

#[path = "subjects/threats_live.rs"]
mod threats_live; // the same held to engines that run beside the test

#[path = "subjects/borders.rs"]
mod borders; // what kernels read and write without asking, at the end of a page

#[path = "subjects/contradictions.rs"]
mod contradictions; // what a container says twice and differently

#[path = "subjects/cli.rs"]
mod cli; // the program as a person or a script meets it

#[path = "subjects/engines.rs"]
mod engines; // what real engines' networks evaluate to

#[path = "subjects/float.rs"]
mod float; // the float reference on real networks

#[path = "subjects/links.rs"]
mod links; // the pages' links lead to files and headings that are there

#[path = "subjects/uci.rs"]
mod uci; // the example engine: games, conversation, bench

#[path = "subjects/examples.rs"]
mod examples; // the runtime's examples, each run

#[path = "subjects/outsider.rs"]
mod outsider; // the engine guide's program in a new directory

#[path = "subjects/verification.rs"]
mod verification; // the three questions on real networks

#[path = "subjects/mistakes.rs"]
mod mistakes; // mistakes of a description, named

#[path = "subjects/alarms.rs"]
mod alarms; // no mistake in a right description, on few positions and on many

#[path = "subjects/counted_buckets.rs"]
mod counted_buckets; // output buckets by other counts than that of all pieces

#[path = "subjects/engine_forms.rs"]
mod engine_forms; // heads and tails of integers as engines write them, in plain arithmetic

#[path = "subjects/own_features.rs"]
mod own_features; // features that an engine numbers itself, in plain arithmetic

#[path = "subjects/real_tails.rs"]
mod real_tails; // forms of the layers on reals, in plain arithmetic

#[path = "subjects/proof_table.rs"]
mod proof_table; // which bound proves each real network, as VERIFICATION.md has it

#[path = "subjects/firmware.rs"]
mod firmware; // logs of the firmware examples

#[path = "subjects/logging.rs"]
mod logging; // what firmware links and logs

#[path = "subjects/format.rs"]
mod format; // FORMAT.md and the runtime say the same

#[path = "subjects/loader.rs"]
mod loader; // what the loader refuses, and that what it accepts runs

#[path = "subjects/generated.rs"]
mod generated; // containers out of the generator: every way of running them

#[path = "subjects/python_reader.rs"]
mod python_reader; // the reader in Python gives the same signatures, and refuses the same files

#[path = "subjects/general.rs"]
mod general; // the operations of general networks: refusals, and values at the ends

#[path = "subjects/signature_list.rs"]
mod signature_list; // signatures of real networks, which stay what they are

#[path = "subjects/claims.rs"]
mod claims; // the claim that every reader checks

#[path = "subjects/quantising.rs"]
mod quantising; // from checkpoints to integers

#[path = "subjects/proof.rs"]
mod proof; // the overflow proof and its witnesses

#[path = "subjects/permutation.rs"]
mod permutation; // another order of the neurons

#[path = "subjects/engine.rs"]
mod engine; // the engine interface against filling anew

#[path = "subjects/plies.rs"]
mod plies; // a ply stack and its refresh cache against filling anew

#[path = "subjects/piece_squares.rs"]
mod piece_squares; // piece-square values beside layers, in plain arithmetic

#[path = "subjects/policy_heads.rs"]
mod policy_heads; // chosen rows of large outputs, in plain arithmetic

#[path = "subjects/gated.rs"]
mod gated; // gated activations of reals and of integers, in plain arithmetic

#[path = "subjects/pipeline.rs"]
mod pipeline; // the whole way through on random networks

#[path = "subjects/nnue.rs"]
mod nnue; // networks of the Stockfish family on the runtime

#[path = "subjects/nnue_lines.rs"]
mod nnue_lines; // their accumulators along lines of play

#[path = "subjects/own_networks.rs"]
mod own_networks; // the repository's own networks against their framework

#[path = "subjects/signatures.rs"]
mod signatures; // a tier with one wrong kernel prints another signature

#[path = "subjects/chains.rs"]
mod chains; // files of DataCode and lattice-tune against their recorded outputs

#[path = "subjects/inputs.rs"]
mod inputs; // descriptions of graphs, files of tensors, readers of examples

#[path = "subjects/memory.rs"]
mod memory; // networks of maps within a budget of memory: the same bits in less

#[path = "subjects/maps.rs"]
mod maps; // networks over maps: their descriptions, and what other programs answer

#[path = "subjects/convolutions.rs"]
mod convolutions; // networks with convolutions in integers

#[path = "subjects/read_twice.rs"]
mod read_twice; // layers that are read in two ways, and maps that are read twice

#[path = "subjects/random_convolutions.rs"]
mod random_convolutions; // networks of convolutions of every window, on every tier

#[path = "subjects/forms.rs"]
mod forms; // MLPerf Tiny's networks in every form of their float weights

#[path = "subjects/fit.rs"]
mod fit; // integers that are fitted to positions

#[path = "subjects/scales.rs"]
mod scales; // scales that are chosen by proof

#[path = "subjects/removal.rs"]
mod removal; // channels without an effect, taken out

#[path = "subjects/graphs.rs"]
mod graphs; // graphs to integers and what that costs

#[path = "subjects/scores.rs"]
mod scores; // which values are a graph's scores, and scores that are no numbers

#[path = "subjects/onnx.rs"]
mod onnx; // ONNX models against ONNX Runtime and against their checkpoints

#[path = "subjects/nnue_files.rs"]
mod nnue_files; // files of the Stockfish family, read and written

#[path = "subjects/stockfish.rs"]
mod stockfish; // networks of the Stockfish family against their engines

#[path = "subjects/tflite.rs"]
mod tflite; // TFLite's files against their recorded outputs, and damaged ones

#[path = "subjects/packed_files.rs"]
mod packed_files; // TFLite files that are quantised already, packed as they are

#[path = "subjects/packed_ends.rs"]
mod packed_ends; // those of them that end in uint8

#[path = "subjects/packed_onnx.rs"]
mod packed_onnx; // the same of ONNX

#[path = "subjects/stored_integers.rs"]
mod stored_integers; // what is done with integers themselves between roundings

#[path = "subjects/tflite_int8.rs"]
mod tflite_int8; // TFLite's int8 files against what XNNPACK computed of them

#[path = "subjects/tflite_written.rs"]
mod tflite_written; // TFLite's float operators in files written for it

#[path = "subjects/tokens.rs"]
mod tokens; // the token network from text to a verdict

fn main() -> std::process::ExitCode {
    tests::trials::run()
}
