//! Valid containers, every decision about them a byte of the input: both readers accept them, and every tier's every
//! way of running them gives what the second reader gives.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tests::generator::{Choices, container};
use tests::held::hold;

fuzz_target!(|data: &[u8]| {
    let bytes = container(&mut Choices::of_bytes(data)).bytes();
    hold(bytes.as_ref(), data.len() as u64);
});
