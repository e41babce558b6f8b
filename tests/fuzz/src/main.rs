//! A target under libFuzzer: `TAMIS_TARGET` names it, so that all of them are one program and are linked once; `list`
//! prints their names.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;
use tamis_targets::{TARGETS, Target, by_name};

static TARGET: LazyLock<&'static Target> = LazyLock::new(|| {
    let name = std::env::var("TAMIS_TARGET").expect("TAMIS_TARGET names a target");
    if name == "list" {
        TARGETS.iter().for_each(|target| println!("{}", target.name));
        std::process::exit(0);
    }
    by_name(&name).expect("TAMIS_TARGET is one of `list`")
});

fuzz_target!(
    init: {
        LazyLock::force(&TARGET);
    },
    |data: &[u8]| {
        (TARGET.run)(data);
    }
);
