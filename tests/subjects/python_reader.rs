//! The reader in Python, `tests/reader.py`, which shares nothing with the runtime but FORMAT.md: it gives every
//! container the signature that the runtime gives it, and refuses the damaged ones that the loader refuses.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use tamis_quant::import::importers::{NetworkForm, QuantisedNetwork, read_quantised_network};
use tamis_quant::import::read_bytes;
use tamis_quant::program::Program;
use tamis_quant::quantise::graph::quantise_graph;
use tamis_quant::run::{AlignedBytes, Runner};
use tamis_runtime::format::Model;
use tamis_runtime::kernels::best;
use tests::draft::set_checksum;
use tests::generator::{Choices, container};
use tests::networks::{NETWORKS, network};
use tests::sample_models::{self, Random};
use tests::trials::{Fixtures, Need};
use tests::{architecture, bare_net, lowered, note, own, packed_program};

/// Generated containers of an ordinary run.
const SEEDS: u64 = 200;
/// Damaged containers of an ordinary run.
const DAMAGED: u64 = 1000;
/// How many containers of either sort a longer run takes, if at all.
const CONTAINERS: &str = "TAMIS_READER_CONTAINERS";

/// Pythons that may have what the reader imports: the user's, and Debian's, for which a package brings it.
const PYTHONS: [&str; 2] = ["python3", "/usr/bin/python3"];

/// A Python with what the reader imports.
#[derive(Clone, Copy)]
struct Python(&'static str);

impl Need for Python {
    fn find(_: &'static str) -> Result<Self, String> {
        let imports = |python: &&str| {
            let output = Command::new(python).args(["-c", "import numpy"]).output();
            output.is_ok_and(|output| output.status.success())
        };
        PYTHONS.into_iter().find(imports).map(Self).ok_or_else(|| "numpy is not installed".to_owned())
    }
}

/// Containers that were asked for.
struct Longer(u64);

impl Need for Longer {
    fn find(_: &'static str) -> Result<Self, String> {
        let containers =
            std::env::var(CONTAINERS).map_err(|_| format!("{CONTAINERS} is not set, for a nightly run"))?;
        Ok(Self(containers.parse().unwrap()))
    }
}

/// Containers in a folder, each with what the runtime makes of it.
struct Zoo {
    folder: tempfile::TempDir,
    containers: Vec<(String, Verdict)>,
}

/// The signature; `None` for a container that is refused.
type Verdict = Option<String>;

impl Zoo {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), containers: Vec::new() }
    }

    fn add(&mut self, name: &str, bytes: &AlignedBytes) {
        let verdict = Model::parse(bytes.as_ref()).ok().map(|model| {
            let signature = Runner::new(model, best()).signature();
            format!("{:016x}", signature.unwrap_or_else(|error| panic!("{name}: {error}")))
        });
        let file = format!("{:05}.bin", self.containers.len());
        std::fs::write(self.folder.path().join(file), bytes.as_ref()).unwrap();
        self.containers.push((name.to_owned(), verdict));
    }

    /// Runs the reader once, on all of them; the number of those that it and the runtime accept.
    #[track_caller]
    fn hold(&self, python: Python) -> usize {
        let (found, complaints) = read(python, self.folder.path(), self.containers.len());
        let found: BTreeMap<&str, &str> = found.iter().filter_map(|line| line.split_once(' ')).collect();
        let complaints: BTreeMap<&str, &str> = complaints.iter().filter_map(|line| line.split_once(": ")).collect();
        for (index, (name, verdict)) in self.containers.iter().enumerate() {
            let file = format!("{index:05}.bin");
            let (signature, complaint) = (found.get(file.as_str()).copied(), complaints.get(file.as_str()));
            assert_eq!(signature, verdict.as_deref(), "{name}: the reader in Python, and the runtime ({complaint:?})");
            assert_eq!(signature.is_none(), complaint.is_some(), "{name}: a signature or a complaint");
        }
        self.containers.iter().filter(|(_, verdict)| verdict.is_some()).count()
    }
}

/// What the reader says of `count` files of a folder, line by line: signatures, and complaints.
fn read(Python(python): Python, folder: &Path, count: usize) -> (Vec<String>, Vec<String>) {
    let mut command = Command::new(python);
    command.arg(own("reader.py")).arg("-").current_dir(folder);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // The reader takes all names before it says a word.
    let names: Vec<String> = (0..count).map(|index| format!("{index:05}.bin")).collect();
    child.stdin.take().unwrap().write_all(names.join("\n").as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let lines = |bytes: &[u8]| String::from_utf8_lossy(bytes).lines().map(str::to_owned).collect::<Vec<_>>();
    let (found, complaints) = (lines(&output.stdout), lines(&output.stderr));
    assert_eq!(found.len() + complaints.len(), count, "a line a file: {complaints:?}");
    (found, complaints)
}

fn generated(seed: u64) -> AlignedBytes {
    container(&mut Choices::seeded(seed)).bytes()
}

#[test]
fn sample_models_and_own_networks_have_their_signatures(python: Python) {
    let mut zoo = Zoo::new();
    sample_models::all().iter().for_each(|sample| zoo.add(sample.name, &sample.bytes));
    for (name, file) in [
        ("reference", "reference/nnue.weights.bin"),
        ("reference-layers", "reference/layers.weights.bin"),
        ("minimal", "reference/minimal.weights.bin"),
    ] {
        let checkpoint = read_bytes(&std::fs::read(own(file)).unwrap(), &architecture(name), file).unwrap();
        zoo.add(name, &packed_program(&lowered(&checkpoint.net)));
    }
    for name in ["digits", "keywords", "minimal"] {
        let file = own("../firmware-examples/programs/src").join(name).with_extension("quantised.bin");
        zoo.add(name, &AlignedBytes::copy_of(&std::fs::read(file).unwrap()));
    }
    assert_eq!(zoo.hold(python), zoo.containers.len());
}

fn holds_generated(python: Python, seeds: impl Iterator<Item = u64>) {
    let mut zoo = Zoo::new();
    seeds.for_each(|seed| zoo.add(&format!("seed {seed}"), &generated(seed)));
    assert_eq!(zoo.hold(python), zoo.containers.len());
}

#[test]
fn generated_containers_have_their_signatures(python: Python) {
    holds_generated(python, 0..SEEDS);
}

#[test]
fn as_many_generated_containers_as_are_asked_for_have_their_signatures(python: Python, Longer(count): Longer) {
    holds_generated(python, 1 << 33..(1 << 33) + count);
}

/// A container whose checksum is right and one word of whose header or records is another.
fn damaged(seed: u64) -> AlignedBytes {
    let mut bytes = generated(seed);
    let model = Model::parse(bytes.as_ref()).unwrap();
    let records = 32 + 64 * model.ops().len() + 16 * model.values().len() + 32 * model.tensors().len();
    let end = 96 + records + 32 * model.blocks().len();
    let mut random = Random(seed);
    let start = random.draw() as usize % (end / 4) * 4;
    let word: &mut [u8; 4] = (&mut bytes.as_mut()[start..start + 4]).try_into().unwrap();
    let before = u32::from_le_bytes(*word);
    let after = match random.draw() % 8 {
        0 => before.wrapping_add(1),
        1 => before.wrapping_sub(1),
        2 => 0,
        3 => u32::MAX,
        4 => random.draw() as u32 % 40,
        _ => before ^ (1 << (random.draw() % 32)),
    };
    *word = after.to_le_bytes();
    set_checksum(bytes.as_mut());
    bytes
}

/// Both readers have the same opinion of what is a container, and of what one with another word computes.
fn agree_on_damaged(python: Python, seeds: impl Iterator<Item = u64>) {
    let mut zoo = Zoo::new();
    seeds.for_each(|seed| zoo.add(&format!("seed {seed}, damaged"), &damaged(seed)));
    let accepted = zoo.hold(python);
    note!("{accepted} of {} damaged containers are containers", zoo.containers.len());
    assert!(accepted > 0 && accepted < zoo.containers.len(), "{accepted}");
}

#[test]
fn damaged_containers_are_refused_as_the_loader_refuses_them(python: Python) {
    agree_on_damaged(python, 0..DAMAGED);
}

#[test]
fn as_many_damaged_containers_as_are_asked_for_are_refused(python: Python, Longer(count): Longer) {
    agree_on_damaged(python, 1 << 33..(1 << 33) + count);
}

#[test]
fn networks_of_others_have_their_signatures(python: Python, fixtures: Fixtures) {
    let mut zoo = Zoo::new();
    for (name, file) in [
        ("noggin", "noggin/quantised.bin"),
        ("cwtch", "cwtch/quantised.bin"),
        ("matthriscu", "matthriscu/nnue.bin"),
        ("akimbo-buckets", "akimbo/net-27.12.23.bin"),
        ("akimbo-mirrored", "akimbo/net-12.01.24-epoch17.bin"),
        ("stormphrax", "stormphrax/net013.nnue"),
        ("akimbo-layers", "akimbo/morelayers-8-crelu-16-crelu-epoch17.bin"),
    ] {
        let net = bare_net(&fixtures.join("nnue").join(file), &architecture(name));
        zoo.add(name, &packed_program(&net.lower().unwrap()));
    }
    let small = std::fs::read(fixtures.join("nnue/sf16.1-smallnet/nn-baff1ede1f90.nnue")).unwrap();
    zoo.add("sf16.1-smallnet", &packed_program(&tamis_quant::stockfish::read(&small).unwrap().lower()));
    for (name, real, encoding) in NETWORKS {
        let network = network(&fixtures, name, real);
        let options = network.options(encoding);
        zoo.add(name, &packed_program(&quantise_graph(&network.graph, &network.calibration, &options).unwrap()));
    }
    let folder = fixtures.join("mlperf");
    for name in ["ad", "ic", "kws", "kws_ckpt", "vww"] {
        let file = folder.join(format!("{name}/{name}_int8.tflite"));
        zoo.add(&format!("{name}, quantised already"), &packed_program(&quantised_already(&file)));
    }
    assert_eq!(zoo.hold(python), zoo.containers.len());
}

fn quantised_already(file: &Path) -> Program {
    let QuantisedNetwork { integers, .. } = read_quantised_network(file, NetworkForm::Tflite).unwrap();
    integers.lower("").unwrap().0
}
