//! The network: embedded in the program, or another of its kind from a file (`EvalFile`).

use cozy_chess::Board;
use std::fs::File;
use std::io::Read;
use tamis_runtime::engine::{Colour, Expected, Features, State};
use tamis_runtime::kernels::Tier;

/// Width of an accumulator.
pub const HIDDEN: usize = 128;
/// What the search is built for, beside the width.
const EXPECTED: Expected = Expected { features: Features::CHESS_768, output_buckets: 8, outputs: 1 };

/// The file becomes a part of the program, at a multiple of 64 in memory.
static EMBEDDED: &[u8] = tamis_runtime::include_model!("reference.quantised.bin");

/// Files of this kind are a fifth of a megabyte; a longer one is another kind.
const LONGEST_FILE: u64 = 16 << 20;
/// Where a container must lie in memory.
const ALIGN: usize = 64;

/// A network of this engine's kind. Its bytes live as long as the program, so that threads share it without counting.
pub type Network = tamis_runtime::engine::Network<'static, HIDDEN>;

/// Bytes of a container, at a multiple of 64, for the life of the program.
pub type Bytes = &'static [u8];

/// The bytes that the program was built with.
pub fn embedded() -> Bytes {
    EMBEDDED
}

/// The bytes of a file. They are never freed: a user changes the network a few times in a program's life, and a search
/// may still read the old one.
pub fn read(path: &str) -> Result<Bytes, String> {
    let place = |error| format!("{path}: {error}");
    let mut bytes = vec![0; ALIGN]; // room to move the file up to the next multiple of 64
    File::open(path).map_err(place)?.take(LONGEST_FILE + 1).read_to_end(&mut bytes).map_err(place)?;
    let len = bytes.len() - ALIGN;
    if len as u64 > LONGEST_FILE {
        return Err(format!(
            "{path}: longer than {LONGEST_FILE} bytes; expected a container of about {}",
            EMBEDDED.len()
        ));
    }
    let bytes = bytes.leak();
    let start = bytes.as_ptr().align_offset(ALIGN) % ALIGN;
    bytes.copy_within(ALIGN.., start);
    Ok(&bytes[start..start + len])
}

/// Checks a container and binds it to a tier. What it gives has evaluated a position, so a search will not be refused
/// one.
pub fn load(bytes: Bytes, tier: &'static Tier) -> Result<Network, String> {
    let net = Network::load_on(bytes, &EXPECTED, tier).map_err(|error| error.to_string())?;
    let mut state = State::<HIDDEN, 1>::new();
    state
        .refresh(&net, crate::pieces::all(&Board::default()))
        .and_then(|()| Ok(state.evaluate(&net, Colour::White)?))
        .map_err(|error| error.to_string())?;
    Ok(net)
}
