//! The signatures of real networks stay what they are: whatever is written anew between a file and its container, its
//! operations and its integers do not change.
//!
//! `vectors/networks.txt` has a line a network: signature, where the file is and whose scales it has, description,
//! file. `own` and `fixture` have the trainer's, `own-proof` and `fixture-proof` those that `quantise` chooses.

use std::path::Path;
use tamis_quant::import::read_bytes;
use tamis_quant::pack::{Provenance, pack};
use tamis_quant::program::Program;
use tamis_quant::proof::prove;
use tamis_quant::quantise::scales::{Rows, quantise_by_proof};
use tamis_quant::run::{AlignedBytes, Runner};
use tamis_runtime::format::Model;
use tamis_runtime::kernels::best;
use tests::trials::Fixtures;
use tests::{architecture, bare_net, lowered, own};

/// Signature, description, file.
fn list(place: &str) -> Vec<(String, String, String)> {
    let text = std::fs::read_to_string(own("vectors/networks.txt")).unwrap();
    let lines = text.lines().map(|line| line.split(' ').map(str::to_owned).collect::<Vec<_>>());
    let of_place = lines.filter(|words| words[1] == place);
    let found: Vec<_> = of_place.map(|words| (words[0].clone(), words[2].clone(), words[3].clone())).collect();
    assert!(!found.is_empty(), "the list has networks of `{place}`");
    found
}

/// What the default tier computes for a program's container.
fn signature(program: &Program) -> String {
    let bytes = pack(program, &prove(program), &Provenance::default()).unwrap();
    let bytes = AlignedBytes::copy_of(&bytes);
    format!("{:016x}", Runner::new(Model::parse(bytes.as_ref()).unwrap(), best()).signature().unwrap())
}

#[test]
fn own_networks_keep_their_signatures() {
    for (expected, name, file) in list("own") {
        let bytes = std::fs::read(own(&file)).unwrap();
        let checkpoint = read_bytes(&bytes, &architecture(&name), &file).unwrap();
        assert_eq!(signature(&lowered(&checkpoint.net)), expected, "{name}");
    }
}

/// A float checkpoint's signature with the scales that are chosen by proof.
fn chosen(path: &Path, name: &str) -> String {
    let (file, bytes) = (path.file_name().unwrap().to_str().unwrap(), std::fs::read(path).unwrap());
    let checkpoint = read_bytes(&bytes, &architecture(name), file).unwrap();
    signature(&quantise_by_proof(&checkpoint.net, Rows::WhereExact).unwrap().0.lower().unwrap())
}

#[test]
fn own_networks_keep_the_signatures_of_chosen_scales() {
    for (expected, name, file) in list("own-proof") {
        assert_eq!(chosen(&own(&file), &name), expected, "{name}");
    }
}

#[test]
fn engines_networks_keep_the_signatures_of_chosen_scales(folder: Fixtures) {
    for (expected, name, file) in list("fixture-proof") {
        assert_eq!(chosen(&folder.join(&file), &name), expected, "{name}");
    }
}

#[test]
fn engines_networks_keep_their_signatures(folder: Fixtures) {
    for (expected, name, file) in list("fixture") {
        let net = bare_net(&folder.join(&file), &architecture(&name));
        assert_eq!(signature(&net.lower().unwrap()), expected, "{name}");
    }
    for (expected, _, file) in list("nnue") {
        assert_eq!(signature(&nnue(&folder.join(&file))), expected, "{file}");
    }
}

fn nnue(path: &Path) -> Program {
    tamis_quant::stockfish::read(&std::fs::read(path).unwrap()).unwrap().lower()
}
