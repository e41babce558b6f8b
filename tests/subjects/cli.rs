//! The program as a person or a script meets it: what it prints, what it writes, and how it ends.
//!
//! The binary is the one beside this test's own executable, which `cargo test --workspace` has just built.

#[path = "cli/arrays.rs"]
mod arrays; // arrays of bytes and of maps
#[path = "cli/batches.rs"]
mod batches; // batches of parallel text, and refusals
#[path = "cli/codegen.rs"]
mod codegen; // generated modules in a program outside the repository
#[path = "cli/codegen_refusals.rs"]
mod codegen_refusals; // modules that cannot be written
#[path = "cli/convolutions.rs"]
mod convolutions; // networks over maps, right and mistaken
#[path = "cli/describe.rs"]
mod describe; // descriptions printed and given back
#[path = "cli/engines.rs"]
mod engines; // what engines' networks become on the command line
#[path = "cli/examples.rs"]
mod examples; // checkpoints of all forms on examples, and as safetensors
#[path = "cli/fit.rs"]
mod fit; // integers fitted to positions
#[path = "cli/footprint.rs"]
mod footprint; // flash and memory to expect of a generated module
#[path = "cli/graph_models.rs"]
mod graph_models; // real networks quantised, evaluated, verified
#[path = "cli/graph_refusals.rs"]
mod graph_refusals; // options and files that do not fit a graph
#[path = "cli/graphs.rs"]
mod graphs; // small graphs from a checkpoint to a verdict
#[path = "cli/looks.rs"]
mod looks; // help, completions, terminals
#[path = "cli/needless.rs"]
mod needless; // options that a kind of network has no use for
#[path = "cli/needs.rs"]
mod needs; // features of the runtime that generated modules ask for
#[path = "cli/nnue.rs"]
mod nnue; // .nnue files of the Stockfish family
#[path = "cli/packed.rs"]
mod packed; // files that are quantised already
#[path = "cli/parts.rs"]
mod parts; // verifications in parts
#[path = "cli/paths.rs"]
mod paths; // every command on the repository's own network
#[path = "cli/permute.rs"]
mod permute; // another order of the neurons
#[path = "cli/positions.rs"]
mod positions; // positions as text, lists of features, buckets
#[path = "cli/public_convolutions.rs"]
mod public_convolutions; // public networks over maps, in every form
#[path = "cli/refusals.rs"]
mod refusals; // what bad input gets
#[path = "cli/scales.rs"]
mod scales; // scales that are chosen
#[path = "cli/seeded.rs"]
mod seeded; // mistakes that metadata make, numbered
#[path = "cli/statuses.rs"]
mod statuses; // one status for one fault in every command
#[path = "cli/threads.rs"]
mod threads; // the same bytes for any number of threads
#[path = "cli/verify.rs"]
mod verify; // reports, pages, gates
#[path = "cli/verify_kinds.rs"]
mod verify_kinds; // one report for every kind of network

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// How a run ended and what it said.
struct Ran {
    status: i32,
    stdout: Vec<u8>,
    stderr: String,
}

impl Ran {
    fn text(&self) -> &str {
        std::str::from_utf8(&self.stdout).unwrap()
    }

    fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.stdout).unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }

    /// Ended well.
    fn fine(self) -> Self {
        assert_eq!(self.status, 0, "{}", self.stderr);
        self
    }
}

/// The program.
pub fn binary() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let path = test.ancestors().nth(2).unwrap().join(format!("host-tools{}", std::env::consts::EXE_SUFFIX));
    assert!(path.is_file(), "{} is missing: build it with `cargo test --workspace`", path.display());
    path
}

/// Runs the program.
fn run<I, S>(arguments: I) -> Ran
where
    I: IntoIterator<Item = S>,
    S: AsRef<OsStr>,
{
    let output = Command::new(binary()).args(arguments).stdin(Stdio::null()).output().unwrap();
    Ran {
        status: output.status.code().expect("the program was killed"),
        stdout: output.stdout,
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Runs the program with words and paths.
macro_rules! host_tools {
    ($($argument:expr),+ $(,)?) => {
        $crate::cli::run([$(std::ffi::OsStr::new(&$argument).to_owned()),+])
    };
}
use host_tools;

/// The repository's own network: checkpoint and description.
fn reference() -> (PathBuf, PathBuf) {
    (tests::own("reference/nnue.weights.bin"), description("reference"))
}

/// The path of a description.
fn description(name: &str) -> PathBuf {
    tests::own("architectures").join(name).with_extension("toml")
}

/// A folder that vanishes with the test, with the reference network in it as a container of the trainer's integers.
fn with_model() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let model = folder.path().join("model.bin");
    let (checkpoint, arch) = reference();
    host_tools!("quantise", checkpoint, "--arch", arch, "--scales", "trainer", "-o", model).fine();
    (folder, model)
}

/// A file of the positions that the reference file of layers ends in.
fn reference_positions(folder: &Path) -> PathBuf {
    let positions = folder.join("positions.bf");
    let file = std::fs::read(tests::own("reference/layers.reference.safetensors")).unwrap();
    std::fs::write(&positions, &file[file.len() - 131_072..]).unwrap();
    positions
}

/// `verify` of a container beside a described checkpoint, on positions: its report as JSON.
fn verified(model: &Path, [checkpoint, arch, positions]: [&Path; 3]) -> Ran {
    let options = ["--checkpoint", "--arch", "--positions"].into_iter().zip([checkpoint, arch, positions]);
    let options = options.flat_map(|(option, path)| [OsStr::new(option), path.as_os_str()]);
    let words = [OsStr::new("verify"), model.as_os_str()].into_iter().chain(options);
    run(words.chain([OsStr::new("--json")]))
}

/// A copy of the reference checkpoint with some of its weights exchanged.
fn doctored(folder: &Path) -> PathBuf {
    let mut other = std::fs::read(reference().0).unwrap();
    let (first, second) = other.split_at_mut(200_000);
    first[100_000..104_096].swap_with_slice(&mut second[..4096]);
    let doctored = folder.join("nnue.weights.bin");
    std::fs::write(&doctored, other).unwrap();
    doctored
}

/// Two hidden units and four features; every weight is `weight`, but the first, which is half of it.
fn tiny(folder: &Path, weight: f32) -> (PathBuf, PathBuf) {
    let arch = folder.join("tiny.toml");
    let tensors: String = [("l0w", 255), ("l0b", 255), ("l1w", 64), ("l1b", 16320)]
        .map(|(name, scale)| format!("[[tensor]]\nname = \"{name}\"\ntype = \"i16\"\nscale = {scale}\n"))
        .concat();
    let text = format!(
        "schema = 1\nname = \"tiny\"\n[input]\nkind = \"features\"\nsize = 4\nperspectives = 1\nmax_active = 4\n\
         [[layer]]\nname = \"l0\"\noutputs = 2\nactivation = \"screlu\"\n[[layer]]\nname = \"l1\"\noutputs = \
         1\n{tensors}"
    );
    std::fs::write(&arch, text).unwrap();
    let raw = folder.join("raw.bin");
    // l0w 8, l0b 2, l1w 2, l1b 1
    let values = [[weight / 2.0].as_slice(), &[weight; 7], &[0.25; 5]].concat();
    std::fs::write(&raw, values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>()).unwrap();
    (raw, arch)
}

/// Every name in a folder.
fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}
