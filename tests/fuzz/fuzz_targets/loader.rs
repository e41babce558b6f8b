//! The loader refuses a file, or the model runs on every tier to the same bits.
//!
//! Length and checksum are repaired first: libFuzzer cannot guess a checksum, and behind it lies all that is worth
//! reaching.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tamis_quant::pack::unpack_nnue;
use tamis_quant::run::{AlignedBytes, Runner};
use tamis_runtime::format::Model;
use tamis_runtime::kernels::tiers;
use tamis_runtime::raw::{BYTE_ORDER, MAGIC, VERSION, checksum};

/// Vectors beyond this are legal and only slow.
const LONGEST: u32 = 1 << 10;

fuzz_target!(|data: &[u8]| {
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
    let Ok(model) = Model::parse(bytes.as_ref()) else { return };
    let _ = model.metadata();
    let _ = unpack_nnue(&model);
    let input = model.input();
    if input.size.max(input.hidden) > LONGEST || model.values().iter().any(|value| value.len > LONGEST) {
        return;
    }
    // The signature hashes every value of 64 evaluations, so equal signatures are equal runs.
    let mut signatures = tiers().map(|tier| Runner::new(model, tier).signature());
    let first = signatures.next();
    assert!(matches!(first, Some(Ok(_))), "an accepted model runs: {first:?}");
    signatures.for_each(|signature| assert_eq!(Some(signature), first));
});
