//! The network: embedded in the program, or another from a file (`EvalFile`), of the embedded one's kind or of any.

use std::fs::File;
use std::io::Read;
use tamis_runtime::engine::AnyNetwork;

/// Width of an accumulator of this engine's own network.
pub const HIDDEN: usize = 128;

/// The file becomes a part of the program, at a multiple of 64 in memory.
static EMBEDDED: &[u8] = tamis_runtime::include_model!("reference.quantised.bin");

/// The widest networks of the Stockfish family, with threats, have some 150 million bytes; a longer file is no network.
const LONGEST_FILE: u64 = 256 << 20;
/// Where a container must lie in memory.
const ALIGN: usize = 64;

/// A network of this engine's own kind, whose width the compiler knows.
pub type Own = tamis_runtime::engine::Network<'static, HIDDEN>;

/// A network. Its bytes live as long as the program, so that threads share it without counting.
#[derive(Debug, Clone)]
pub enum Network {
    Own(Own),
    /// Of another width, other features or other buckets, threats among them: what it is stands in its file.
    Any(AnyNetwork<'static>),
}

impl Network {
    /// The network, whatever its kind.
    pub const fn any(&self) -> &AnyNetwork<'static> {
        match self {
            Self::Own(net) => net.any(),
            Self::Any(net) => net,
        }
    }
}

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
