//! Containers: any bytes, valid ones, and what they are unpacked into.

use tamis_quant::pack::{Provenance, pack, unpack_nnue, unpack_program};
use tamis_quant::proof::prove;
use tamis_quant::run::{AlignedBytes, Runner};
use tamis_runtime::format::Model;
use tamis_runtime::kernels::tiers;
use tamis_runtime::raw::{BYTE_ORDER, MAGIC, VERSION, checksum};
use tests::generator::{Choices, container};
use tests::held::{hold, hold_briefly};

/// Vectors beyond this are legal and only slow.
const LONGEST: u32 = 1 << 10;

/// One of every kind of network.
pub fn models() -> Vec<Vec<u8>> {
    tests::sample_models::small().into_iter().map(|sample| sample.bytes.as_ref().to_vec()).collect()
}

/// Magic, version, length and checksum are repaired: nobody guesses a checksum, and behind it lies all that is worth
/// reaching.
fn repaired(data: &[u8]) -> AlignedBytes {
    let mut bytes = AlignedBytes::zeroed(data.len().next_multiple_of(64));
    let file = bytes.as_mut();
    file[..data.len()].copy_from_slice(data);
    let len = file.len() as u32;
    if let Some(header) = file.first_chunk_mut::<64>() {
        header[..8].copy_from_slice(&MAGIC);
        header[8..12].copy_from_slice(&BYTE_ORDER.to_le_bytes());
        header[12..16].copy_from_slice(&VERSION.to_le_bytes());
        header[20..24].copy_from_slice(&len.to_le_bytes());
    }
    let sum = checksum(file).to_le_bytes();
    if let Some(field) = file.get_mut(24..32) {
        field.copy_from_slice(&sum);
    }
    bytes
}

fn is_long(model: &Model<'_>) -> bool {
    let input = model.input();
    input.size.max(input.hidden) > LONGEST || model.values().iter().any(|value| value.len > LONGEST)
}

/// The loader refuses a file, or the second reader accepts it too and every tier's signature is the second reader's.
pub fn loader(data: &[u8]) -> bool {
    let bytes = repaired(data);
    let Ok(model) = Model::parse(bytes.as_ref()) else { return false };
    let _ = model.metadata();
    let _ = unpack_nnue(&model);
    if is_long(&model) {
        return true;
    }
    // The signature hashes every value of 64 evaluations, so equal signatures are equal runs.
    let mut signatures = tiers().map(|tier| Runner::new(model, tier).signature());
    let first = signatures.next();
    assert!(matches!(first, Some(Ok(_))), "an accepted model runs: {first:?}");
    signatures.for_each(|signature| assert_eq!(Some(signature), first));
    true
}

/// Valid containers, every decision about them a byte of the input: both readers accept them, and every way of running
/// them, on every tier, gives what the second reader gives.
pub fn containers(data: &[u8]) -> bool {
    let bytes = container(&mut Choices::of_bytes(data)).bytes();
    hold(bytes.as_ref(), data.len() as u64);
    true
}

/// The same with one input in place of a signature's 64: more containers in the same time.
pub fn briefly(data: &[u8]) -> bool {
    let bytes = container(&mut Choices::of_bytes(data)).bytes();
    hold_briefly(bytes.as_ref(), tamis_runtime::raw::fnv1a(tamis_runtime::raw::FNV_OFFSET, data));
    true
}

/// What is unpacked is packed again to a file that every tier runs alike, and that is unpacked to the same. A file's
/// records may say something else than its description, which is what an unpacked bullet network goes by; so the first
/// file's signature says nothing.
pub fn unpack(data: &[u8]) -> bool {
    let bytes = repaired(data);
    let Ok(model) = Model::parse(bytes.as_ref()) else { return false };
    if is_long(&model) {
        return false;
    }
    let Ok(program) = unpack_program(&model) else { return false };
    let Ok(again) = pack(&program, &prove(&program), &Provenance::default()) else { return false };
    let bytes = AlignedBytes::copy_of(&again);
    let model = Model::parse(bytes.as_ref()).expect("what is packed is accepted");
    let mut signatures = tiers().map(|tier| Runner::new(model, tier).signature());
    let first = signatures.next().expect("a tier");
    assert!(first.is_ok() && signatures.all(|signature| signature == first), "packed again: {first:?}");
    let program = unpack_program(&model).expect("what is packed is unpacked");
    let thrice = pack(&program, &prove(&program), &Provenance::default());
    assert!(thrice == Ok(again), "unpacked and packed twice");
    true
}
