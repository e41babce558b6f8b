//! How a call ends.

use crate::abi::TAMIS_ABI_VERSION;
use core::ffi::{CStr, c_char};

/// How a call ends. New numbers may be added; a program treats one that it does not know as a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum Status {
    /// Done.
    Ok = 0,

    /// A pointer is NULL that must not be.
    NullPointer = 1,
    /// Memory or a file is not at a multiple of 64, or numbers are not at a multiple of their size.
    Misaligned = 2,
    /// The memory is shorter than the size function says.
    MemoryTooShort = 3,
    /// The pointer is not one that a load or create function gave.
    NotAHandle = 4,
    /// A colour, a piece, a feature, a bucket, a ply or a count is not one that there is.
    OutOfRange = 5,
    /// No tier of this name runs on this machine; tamis_tier_name lists those that do.
    UnknownTier = 6,
    /// There are more outputs than the array has room for.
    CapacityTooSmall = 7,
    /// The network's input or output is of another kind than this function's.
    OtherKind = 8,
    /// An array, or the accumulators of a state, have another length than the network's.
    WrongLength = 9,
    /// Sparse features are not in ascending order, or not as many as the network takes.
    FeatureList = 10,

    /// The file is no container; a bare quantised.bin must be packed first.
    NotAContainer = 20,
    /// The file is shorter or longer than it says.
    FileLength = 21,
    /// The file is of another version, or needs what this library does not have.
    FileVersion = 22,
    /// The file's checksum is wrong.
    FileDamaged = 23,
    /// The file breaks a rule of its format.
    FileMalformed = 24,
    /// The network takes no chess features.
    NotChess = 25,
    /// The network is not of the shape that the program expects.
    Differs = 26,

    /// The state has no room for another position.
    StateFull = 40,
    /// The state has no position, or only its root: refresh it first, and pop only what was pushed.
    StateEmpty = 41,
    /// The state was refreshed with another network.
    OtherNet = 42,
    /// A piece is to be removed and is not there.
    PieceMissing = 43,
    /// A piece is to be added and is there already.
    PiecePresent = 44,
    /// More pieces than one move changes, or more pieces or features than the network takes.
    TooMany = 45,

    /// The runtime refuses the call for another reason; the message says which.
    Refused = 60,
    /// A fault of this library; please report it.
    Internal = 99,
}

impl Status {
    const ALL: [Self; 26] = [
        Self::Ok,
        Self::NullPointer,
        Self::Misaligned,
        Self::MemoryTooShort,
        Self::NotAHandle,
        Self::OutOfRange,
        Self::UnknownTier,
        Self::CapacityTooSmall,
        Self::OtherKind,
        Self::WrongLength,
        Self::FeatureList,
        Self::NotAContainer,
        Self::FileLength,
        Self::FileVersion,
        Self::FileDamaged,
        Self::FileMalformed,
        Self::NotChess,
        Self::Differs,
        Self::StateFull,
        Self::StateEmpty,
        Self::OtherNet,
        Self::PieceMissing,
        Self::PiecePresent,
        Self::TooMany,
        Self::Refused,
        Self::Internal,
    ];

    /// A short text that never changes while the program runs.
    #[must_use]
    pub const fn text(self) -> &'static CStr {
        match self {
            Self::Ok => c"done",
            Self::NullPointer => c"a pointer is NULL",
            Self::Misaligned => {
                c"a pointer is misaligned: memory and files lie at multiples of 64, numbers at multiples of their size"
            }
            Self::MemoryTooShort => c"the memory is too short: the size function says how long it must be",
            Self::NotAHandle => c"not a handle of this kind: only what a load or create function gave is one",
            Self::OutOfRange => c"a colour, piece, feature, bucket, ply or count is out of its range",
            Self::UnknownTier => c"no tier of this name runs on this machine: tamis_tier_name lists those that do",
            Self::CapacityTooSmall => c"the network has more outputs than the array has room for",
            Self::OtherKind => c"the network's input or output is of another kind than this function's",
            Self::WrongLength => c"an array, or a state, is of another length than the network's",
            Self::FeatureList => c"sparse features are not in ascending order, or not as many as the network takes",
            Self::NotAContainer => c"the file is no container: pack it with host-tools first",
            Self::FileLength => c"the file is truncated or too long",
            Self::FileVersion => c"the file is of a version, or needs a feature, that this library does not have",
            Self::FileDamaged => c"the file is damaged: its checksum is wrong",
            Self::FileMalformed => c"the file breaks a rule of its format",
            Self::NotChess => c"the network takes no chess features",
            Self::Differs => c"the network is of another shape than the program was built for",
            Self::StateFull => c"the state is full: create it for more plies",
            Self::StateEmpty => c"the state has no such position: refresh it first, and pop only what was pushed",
            Self::OtherNet => c"the state was refreshed with another network: refresh it with this one",
            Self::PieceMissing => c"a piece is to be removed and is not there",
            Self::PiecePresent => c"a piece is to be added and is there already",
            Self::TooMany => c"too many pieces or features, in one move or at once",
            Self::Refused => c"the runtime refuses the call",
            Self::Internal => c"a fault of the library",
        }
    }
}

/// The version that the library was built as. It equals TAMIS_ABI_VERSION, unless the program runs with another library
/// than the one that its header belongs to.
#[unsafe(no_mangle)]
pub extern "C" fn tamis_abi_version() -> u32 {
    TAMIS_ABI_VERSION
}

/// A status in words, never NULL; it need not be freed. For a number that is no status, words that say so.
#[unsafe(no_mangle)]
pub extern "C" fn tamis_status_text(status: i32) -> *const c_char {
    let known = Status::ALL.into_iter().find(|known| *known as i32 == status);
    known.map_or(c"not a status of this library", Status::text).as_ptr()
}
