//! Whatever networks the host gives: containers and inputs that it puts beside the emulator, for networks that are not
//! kept here. `firmware-examples/run` gives MLPerf Tiny's and random ones, and holds what this prints to the integers
//! that the host worked out by the networks' definition, without the runtime.
//!
//! Each runs on the tier without the kernels that `host-tools codegen` leaves out of its module, and with no kinds of
//! operations but its own. The containers are copied to RAM, so this says nothing of flash. Every inference is counted.

use crate::Error;
use crate::hash::fnv1a;
use crate::mark::counted;
use core::ffi::CStr;
use tamis_runtime::format::Model;
use tamis_runtime::kernels::{Tier, of_target};
use tamis_runtime::raw::{Header, element, input_kind, op};
use tamis_runtime::{Input, Operations, Output, Plan};

/// The containers' file, in the folder in which the emulator was started: one behind the other.
const NETWORKS: &CStr = c"network.bin";
/// The inputs' file there: for each container [`COUNT`] vectors or maps of its own integers or reals, one behind the
/// other, each at a multiple of 4.
const INPUTS: &CStr = c"inputs.bin";
/// There, too: for each container a line with the names of the kernels that its network does not call.
const LEFT_OUT: &CStr = c"left_out.txt";
/// Inputs of a network.
const COUNT: usize = 4;

/// Room for containers and for their inputs.
const FILE_LEN_BYTES: usize = 384 * 1024;
/// Room for their names, and for those of one network.
const LEFT_OUT_LEN_BYTES: usize = 16 * 1024;
const NAMES: usize = 32;
/// Room for the words of a network's operations.
const KINDS: usize = 64;
/// Room for what is worked out.
const WORKSPACE_LEN_BYTES: usize = 64 * 1024;

/// Memory as a container and a workspace need it.
#[repr(C, align(64))]
struct Aligned<const LEN_BYTES: usize>([u8; LEN_BYTES]);

/// Reads a file of the host's into the front of a buffer and says how long it is; `None` if there is no such file, or
/// if it does not fit.
pub type Read = fn(&CStr, &mut [u8]) -> Option<usize>;

/// Runs every network on its inputs, and prints a hash of the outputs of each.
///
/// # Errors
/// What the runtime refuses, and files that are missing, too short or too large.
pub fn run(read: Read) -> Result<(), Error> {
    let (mut networks, mut inputs) = (Aligned([0; FILE_LEN_BYTES]), Aligned([0; FILE_LEN_BYTES]));
    let mut networks = contents(read, NETWORKS, &mut networks).ok_or(Error::Because("no network.bin that fits"))?;
    let mut inputs = contents(read, INPUTS, &mut inputs).ok_or(Error::Because("no inputs.bin that fits"))?;
    let mut left_out = [0; LEFT_OUT_LEN_BYTES];
    let len = read(LEFT_OUT, &mut left_out).ok_or(Error::Because("no left_out.txt that fits"))?;
    let text = left_out.get(..len).and_then(|text| core::str::from_utf8(text).ok());
    let mut left_out = text.ok_or(Error::Because("no text in left_out.txt"))?.lines();
    let mut scratch = Aligned([0; WORKSPACE_LEN_BYTES]);
    while !networks.is_empty() {
        let (network, rest) = first(networks).ok_or(Error::Because("network.bin ends within a container"))?;
        let left_out = left_out.next().ok_or(Error::Because("left_out.txt has fewer lines than there are networks"))?;
        let names: heapless::Vec<_, NAMES> = left_out.split_ascii_whitespace().collect();
        inputs = run_one(network, &of_target().without(&names), inputs, &mut scratch.0)?;
        networks = rest;
    }
    if inputs.is_empty() { Ok(()) } else { Err(Error::Because("inputs.bin has more than the networks take")) }
}

/// The first of some containers, as long as its header says, and the rest.
fn first(networks: &[u8]) -> Option<(&[u8], &[u8])> {
    let header: &Header = bytemuck::try_from_bytes(networks.get(..size_of::<Header>())?).ok()?;
    networks.split_at_checked(header.len_bytes as usize)
}

/// Runs a network on the first inputs, and gives the rest of them.
fn run_one<'i>(network: &[u8], kernels: &Tier, mut inputs: &'i [u8], scratch: &mut [u8]) -> Result<&'i [u8], Error> {
    let model = Model::parse(network)?;
    let words: heapless::Vec<_, KINDS> = model.ops().iter().filter_map(|record| op::word(record.kind)).collect();
    let operations = Operations::of(&words);
    let plan = Plan::of(model, kernels, &operations);
    let record = plan.model().input();
    let workspace = plan.model().workspace_len_bytes();
    let scratch = scratch.get_mut(..workspace).ok_or(Error::Because("a workspace that does not fit"))?;
    if record.kind != input_kind::DENSE {
        return Err(Error::Because("a network that takes no vector and no map"));
    }
    let element_len_bytes = if record.element == element::F32 { size_of::<f32>() } else { 1 };
    let len_bytes = record.size as usize * element_len_bytes;
    defmt::println!("{=usize} bytes, workspace {=usize} bytes", network.len(), workspace);
    for _ in 0..COUNT {
        let (whole, rest) = inputs
            .split_at_checked(len_bytes.next_multiple_of(4))
            .ok_or(Error::Because("inputs.bin has fewer than the networks take"))?;
        let (input, _) = whole.split_at(len_bytes);
        let input = match record.element {
            element::F32 => Input::F32(bytemuck::try_cast_slice(input).map_err(|_| Error::Because("odd reals"))?),
            element::I8 => Input::I8(bytemuck::cast_slice(input)),
            _ => Input::U8(input),
        };
        match counted(|| plan.run(input, 0, scratch))? {
            Output::I32(outputs) => print(outputs.len(), outputs.iter().map(|output| output.to_le_bytes())),
            Output::F32(outputs) => print(outputs.len(), outputs.iter().map(|output| output.to_le_bytes())),
            _ => return Err(Error::Because("outputs of a kind that this program does not know")),
        }
        inputs = rest;
    }
    Ok(inputs)
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
