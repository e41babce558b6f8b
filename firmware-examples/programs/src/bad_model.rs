//! What a container that is damaged, and a call that does not fit, say: each in the words of the error's own
//! `defmt::Format`, which are those that the host prints.
//!
//! The digits' container is copied into memory, damaged there in one way after the other, and handed to the loader. A
//! program that embeds its container has no use for most of this; one that takes a network from a radio or a flash chip
//! meets all of it.

use crate::Error;
use crate::digits::model::{FILE, INPUT_LEN, LEN_BYTES, Network, WORKSPACE_LEN_BYTES};
use tamis_runtime::format::Model;
use tamis_runtime::raw::checksum;
use tamis_runtime::{Aligned, Input, Plan, RunError, Workspace};

/// Bytes between places that a container or a workspace may start at.
const ALIGNMENT: usize = 64;

/// Where a container says what: FORMAT.md, header and input record.
mod offset {
    pub const VERSION: usize = 12;
    pub const CHECKSUM: usize = 24;
    pub const BUCKET_COUNT: usize = 64 + 20;
}

/// Memory that a container fits in, with room to shift it.
type Copy = Aligned<[u8; LEN_BYTES + ALIGNMENT]>;

/// Hands the loader and the network one wrong thing after the other, and logs what they say.
///
/// # Errors
/// If one of them is accepted.
pub fn run() -> Result<(), Error> {
    let network = Network::open()?;
    defmt::println!("sound: {}", network.plan().model());
    files()?;
    calls(network.plan())
}

fn files() -> Result<(), Error> {
    let flip = |offset: usize, bits: u8| {
        move |file: &mut [u8]| {
            if let Some(byte) = file.get_mut(offset) {
                *byte ^= bits;
            }
        }
    };
    parse("a bit flipped in the weights", 0..LEN_BYTES, flip(LEN_BYTES / 2, 0x10))?;
    parse("another version", 0..LEN_BYTES, flip(offset::VERSION, 0x08))?;
    parse("no container", 0..LEN_BYTES, flip(0, 0xF6))?;
    parse("truncated", 0..LEN_BYTES - ALIGNMENT, |_| {})?;
    parse("nothing", 0..0, |_| {})?;
    parse("no bucket, and the checksum made anew", 0..LEN_BYTES, |file| {
        flip(offset::BUCKET_COUNT, 0x01)(file);
        let sum = checksum(file);
        if let Some(stored) = file.get_mut(offset::CHECKSUM..).and_then(<[u8]>::first_chunk_mut) {
            *stored = sum.to_le_bytes();
        }
    })?;
    parse("4 bytes past its place", 4..4 + LEN_BYTES, |_| {})
}

/// Copies the container to a place, damages it and parses it, which must be refused.
fn parse(name: &'static str, place: core::ops::Range<usize>, damage: impl FnOnce(&mut [u8])) -> Result<(), Error> {
    let mut memory: Copy = Aligned([0; LEN_BYTES + ALIGNMENT]);
    let file = memory.0.get_mut(place).unwrap_or(&mut []);
    file.iter_mut().zip(FILE).for_each(|(byte, whole)| *byte = *whole);
    damage(file);
    match Model::parse(file) {
        Ok(_) => Err(Error::Because("a damaged container was accepted")),
        Err(error) => {
            defmt::println!("{=str}: {}", name, error);
            Ok(())
        }
    }
}

/// Calls of the plan, which takes slices; most of these would not compile through the generated wrapper.
fn calls(plan: &Plan<'_>) -> Result<(), Error> {
    let mut memory = Workspace::<{ WORKSPACE_LEN_BYTES + ALIGNMENT }>::new();
    let mut call = |name: &'static str, input: Input<'_>, bucket: usize, place: core::ops::Range<usize>| {
        let workspace = memory.as_mut().get_mut(place).unwrap_or(&mut []);
        refused(name, plan.run(input, bucket, workspace).map(drop))
    };
    let image = &[0; INPUT_LEN];
    call("a short workspace", Input::U8(image), 0, 0..WORKSPACE_LEN_BYTES / 2)?;
    call("a workspace 4 bytes past its place", Input::U8(image), 0, 4..4 + WORKSPACE_LEN_BYTES)?;
    call("a short input", Input::U8(&[0; INPUT_LEN - 1]), 0, 0..WORKSPACE_LEN_BYTES)?;
    call("an input of another element", Input::I8(&[0; INPUT_LEN]), 0, 0..WORKSPACE_LEN_BYTES)?;
    call("a bucket that the network does not have", Input::U8(image), 1, 0..WORKSPACE_LEN_BYTES)
}

fn refused(name: &'static str, called: Result<(), RunError>) -> Result<(), Error> {
    match called {
        Ok(()) => Err(Error::Because("a wrong call was accepted")),
        Err(error) => {
            defmt::println!("{=str}: {}", name, error);
            Ok(())
        }
    }
}
