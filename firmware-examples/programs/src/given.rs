//! Whatever network the host gives: a container and inputs that it puts beside the emulator, for networks that are not
//! kept here. `firmware-examples/run` gives MLPerf Tiny's, and holds what this prints to the integers that the host
//! worked out by the network's definition, without the runtime.
//!
//! The container is copied to RAM, so this says nothing of flash; and nothing is counted.

use crate::Error;
use crate::hash::fnv1a;
use core::ffi::CStr;
use tamis_runtime::format::Model;
use tamis_runtime::kernels::of_target;
use tamis_runtime::raw::{element, input_kind};
use tamis_runtime::{Input, Output, Plan};

/// The container's file, in the folder in which the emulator was started.
const NETWORK: &CStr = c"network.bin";
/// The inputs' file there: vectors or maps of the network's own integers or reals, one after the other.
const INPUTS: &CStr = c"inputs.bin";

/// Room for a container and for its inputs.
const FILE_LEN_BYTES: usize = 384 * 1024;
/// Room for what is worked out.
const WORKSPACE_LEN_BYTES: usize = 64 * 1024;

/// Memory as a container and a workspace need it.
#[repr(C, align(64))]
struct Aligned<const LEN_BYTES: usize>([u8; LEN_BYTES]);

/// Reads a file of the host's into the front of a buffer and says how long it is; `None` if there is no such file, or
/// if it does not fit.
pub type Read = fn(&CStr, &mut [u8]) -> Option<usize>;

/// Runs every input, and prints a hash of its outputs.
///
/// # Errors
/// What the runtime refuses, and files that are missing, or too large.
pub fn run(read: Read) -> Result<(), Error> {
    let (mut network, mut inputs) = (Aligned([0; FILE_LEN_BYTES]), Aligned([0; FILE_LEN_BYTES]));
    let network = contents(read, NETWORK, &mut network).ok_or(Error::Because("no network.bin that fits"))?;
    let inputs = contents(read, INPUTS, &mut inputs).ok_or(Error::Because("no inputs.bin that fits"))?;
    let plan = Plan::new(Model::parse(network)?, of_target());
    let record = plan.model().input();
    let mut scratch = Aligned([0; WORKSPACE_LEN_BYTES]);
    let workspace = plan.model().workspace_len_bytes();
    let scratch = scratch.0.get_mut(..workspace).ok_or(Error::Because("a workspace that does not fit"))?;
    let element_len_bytes = if record.element == element::F32 { size_of::<f32>() } else { 1 };
    let input_len_bytes = record.size as usize * element_len_bytes;
    if record.kind != input_kind::DENSE || !inputs.len().is_multiple_of(input_len_bytes) {
        return Err(Error::Because("inputs.bin is no whole number of the network's inputs"));
    }
    defmt::println!("{=usize} bytes, workspace {=usize} bytes", network.len(), workspace);
    for input in inputs.chunks_exact(input_len_bytes) {
        let input = match record.element {
            element::F32 => Input::F32(bytemuck::try_cast_slice(input).map_err(|_| Error::Because("odd reals"))?),
            element::I8 => Input::I8(bytemuck::cast_slice(input)),
            _ => Input::U8(input),
        };
        match plan.run(input, 0, scratch)? {
            Output::I32(outputs) => print(outputs.len(), outputs.iter().map(|output| output.to_le_bytes())),
            Output::F32(outputs) => print(outputs.len(), outputs.iter().map(|output| output.to_le_bytes())),
            _ => return Err(Error::Because("outputs of a kind that this program does not know")),
        }
    }
    Ok(())
}

/// A file as it lies in memory.
fn contents<'m>(read: Read, name: &CStr, memory: &'m mut Aligned<FILE_LEN_BYTES>) -> Option<&'m [u8]> {
    let len = read(name, &mut memory.0)?;
    memory.0.get(..len)
}

/// Of the outputs' bytes, little endian.
fn print(len: usize, outputs: impl Iterator<Item = [u8; 4]>) {
    defmt::println!("{=usize} outputs, {=u32:08x}", len, fnv1a(outputs.flatten()));
}
