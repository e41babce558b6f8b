//! A target under libFuzzer: `TAMIS_TARGET` names it, so that all of them are one program and are linked once.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;
use tamis_targets::{Target, by_name};

static TARGET: LazyLock<&'static Target> = LazyLock::new(|| {
    let name = std::env::var("TAMIS_TARGET").expect("TAMIS_TARGET names a target");
    by_name(&name).expect("TAMIS_TARGET is one of `targets --list`")
});

fuzz_target!(|data: &[u8]| {
    (TARGET.run)(data);
});
