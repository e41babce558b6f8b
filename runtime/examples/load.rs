//! A network from a file that is named when the program runs: the bytes have to lie at a multiple of 64.
//!
//! `cargo run --release -p tamis-runtime --example load -- tests/vectors/tiny.bin`
//!
//! A `Vec<u8>` lies anywhere, so this takes up to 63 bytes more than the file has and starts where it may. A memory map
//! needs nothing of the kind: it starts at a page. The same goes for the scratch memory, which [`Workspace`] aligns
//! where its length is known when the program is built.
//!
//! [`Workspace`]: tamis_runtime::Workspace

use std::fs::File;
use std::io::Read;
use tamis_runtime::{Plan, format::Model, kernels};

/// Where a network and its scratch memory start.
const ALIGNMENT: usize = 64;

/// Memory of which some part of `len` bytes is aligned.
fn room(len: usize) -> Vec<u8> {
    vec![0; len + ALIGNMENT - 1]
}

/// That part. The memory must not be moved to another place afterwards, as `Vec::push` might.
fn aligned(memory: &mut [u8], len: usize) -> &mut [u8] {
    let start = memory.as_ptr().align_offset(ALIGNMENT);
    &mut memory[start..][..len]
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("usage: load FILE")?;
    let mut file = File::open(&path)?;
    let len = usize::try_from(file.metadata()?.len())?;
    let mut memory = room(len);
    let bytes = aligned(&mut memory, len);
    file.read_exact(bytes)?;

    let model = Model::parse(bytes)?; // every byte is checked; it borrows them
    let plan = Plan::new(model, kernels::best());
    let scratch_len = model.workspace_len_bytes();
    let mut scratch = room(scratch_len);
    let scratch = aligned(&mut scratch, scratch_len); // what `Plan::run` takes
    println!("{path}: {len} bytes, checksum {:016x}", model.header().checksum());
    println!("{} inputs, {} bytes of scratch memory", model.input().size, scratch.len());
    println!("tier {}", plan.kernels().name);
    Ok(())
}
