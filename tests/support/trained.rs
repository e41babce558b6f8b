//! Trained networks for chess: those of the fixtures, which engines and trainers made, and the repository's own.

use crate::{architecture, bare_net, own};
use std::path::{Path, PathBuf};
use tamis_quant::quantised::QuantNet;

/// Description and file under `nnue` of the fixtures, quantised by an engine.
pub const BARE: [(&str, &str); 8] = [
    ("noggin", "noggin/quantised.bin"),
    ("akimbo-buckets", "akimbo/net-27.12.23.bin"),
    ("akimbo-mirrored", "akimbo/net-12.01.24-epoch17.bin"),
    ("akimbo-layers", "akimbo/morelayers-8-crelu-16-crelu-epoch17.bin"),
    ("matthriscu", "matthriscu/nnue.bin"),
    ("stormphrax", "stormphrax/net013.nnue"),
    ("cwtch", "cwtch/quantised.bin"),
    ("alexandria", "alexandria/nn-72900856.net"),
];

/// Description and checkpoint, for [`checkpoint_path`].
pub const FLOAT: [(&str, &str); 5] = [
    ("bullet-test1", "nnue/bullet/test1.wgts"),
    ("bullet-test2", "nnue/bullet/test2.wgts"),
    ("bullet-test3", "nnue/bullet/test3.wgts"),
    ("reference", "reference/nnue.weights.bin"),
    ("reference-layers", "reference/layers.weights.bin"),
];

/// The checkpoint that the first of [`BARE`] was made from.
pub const NOGGIN_RAW: (&str, &str) = ("noggin", "nnue/noggin/raw.bin");

/// Where a file of [`BARE`] lies.
#[must_use]
pub fn bare_path(fixtures: &Path, name: &str) -> PathBuf {
    let (_, file) = BARE.into_iter().find(|(other, _)| *other == name).unwrap_or_else(|| panic!("no network {name}"));
    fixtures.join("nnue").join(file)
}

/// A network of [`BARE`] under its description.
#[must_use]
pub fn bare(fixtures: &Path, name: &str) -> QuantNet {
    bare_net(&bare_path(fixtures, name), &architecture(name))
}

/// Where a checkpoint lies: in the fixtures, or in the repository.
#[must_use]
pub fn checkpoint_path(fixtures: &Path, file: &str) -> PathBuf {
    if file.starts_with("nnue/") { fixtures.join(file) } else { own(file) }
}
