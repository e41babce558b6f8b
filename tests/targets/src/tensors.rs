//! Files of tensors.

use std::sync::LazyLock;
use tamis_quant::graph::description::Description;
use tamis_quant::import::chain::Chain;
use tamis_quant::import::tensors::{
    TensorForm, drafted, gunzip, import, import_chain, is_gzip, read_npy, read_npz, read_safetensors,
};

use crate::networks::graph;

/// What a packed file may become here.
const UNPACKED_BYTES: u64 = 1 << 20;

/// Lengths agree with shapes.
fn check(tensors: &tamis_quant::graph::description::Tensors) {
    for (name, tensor) in tensors {
        assert_eq!(tensor.values.len(), tensor.shape.iter().product::<usize>(), "{name}");
    }
}

/// What is accepted the format's own crate accepts, with as many tensors.
pub fn safetensors(bytes: &[u8]) -> bool {
    let Ok((tensors, _)) = read_safetensors(bytes) else { return false };
    check(&tensors);
    let other = safetensors::SafeTensors::deserialize(bytes).expect("the format's own crate accepts it");
    assert_eq!(other.len(), tensors.len());
    true
}

pub fn npy(bytes: &[u8]) -> bool {
    let Ok(tensor) = read_npy(bytes) else { return false };
    assert_eq!(tensor.values.len(), tensor.shape.iter().product::<usize>());
    true
}

pub fn npz(bytes: &[u8]) -> bool {
    let Ok(tensors) = read_npz(bytes) else { return false };
    check(&tensors);
    true
}

/// What is unpacked keeps the limit, and is what another reader unpacks.
pub fn gz(bytes: &[u8]) -> bool {
    use std::io::Read;
    let Ok(unpacked) = gunzip(bytes, UNPACKED_BYTES) else { return false };
    assert!(is_gzip(bytes) && unpacked.len() as u64 <= UNPACKED_BYTES);
    let mut expected = Vec::new();
    let whole = flate2::read::MultiGzDecoder::new(bytes).read_to_end(&mut expected);
    assert!(whole.is_err() || expected == unpacked, "two ways of unpacking");
    true
}

static DESCRIPTION: LazyLock<Description> = LazyLock::new(|| {
    let text = include_str!("../../fuzz/corpus/graph-description/small.toml");
    Description::from_toml(text, "small.toml").expect("the description is right")
});

/// A network of what a file holds: by its own description, by a given one, by a chain, by a guess.
pub fn network(bytes: &[u8]) -> bool {
    let form = if bytes.starts_with(b"PK") { TensorForm::Npz } else { TensorForm::Safetensors };
    let chain = Chain::from_text("2:relu1:linear1").expect("a chain");
    let own = graph(import(bytes, form, None));
    let given = graph(import(bytes, form, Some(&DESCRIPTION)));
    let chained = graph(import_chain(bytes, form, "x", &chain, None));
    let guessed = match drafted(bytes, form, "x", None, None) {
        Ok(Some((_, imported))) => graph(Ok::<_, ()>(imported)),
        _ => false,
    };
    own || given || chained || guessed
}
