//! Why a call fails: the status that it ends in, and a message with the values that were found.

use crate::status::Status;
use core::ffi::c_char;
use core::fmt::{self, Write};
use tamis_runtime::RunError;
use tamis_runtime::engine::{LoadError, StateError};
use tamis_runtime::format::ParseError;

#[derive(Debug, Clone, Copy)]
pub enum Failure {
    /// Found at the border.
    Status(Status),
    /// Found in a file.
    Load(LoadError),
    /// Found by the runtime in what it was handed.
    Run(RunError),
    /// Found by a state in the pieces that it was handed.
    State(StateError),
}

impl Failure {
    pub const fn status(&self) -> Status {
        match self {
            Self::Status(status) => *status,
            Self::Load(error) => of_load(error),
            Self::Run(error) => of_run(error),
            Self::State(error) => of_state(error),
        }
    }
}

const fn of_load(error: &LoadError) -> Status {
    match error {
        LoadError::Parse(error) => of_parse(error),
        LoadError::NotChess => Status::NotChess,
        LoadError::Differs { .. } => Status::Differs,
        _ => Status::Refused,
    }
}

const fn of_parse(error: &ParseError) -> Status {
    match error {
        ParseError::Misaligned { .. } => Status::Misaligned,
        ParseError::TooShort { .. } | ParseError::Length { .. } => Status::FileLength,
        ParseError::NotAContainer { .. } => Status::NotAContainer,
        ParseError::ByteOrder { .. } | ParseError::Version { .. } | ParseError::RequiredFlags { .. } => {
            Status::FileVersion
        }
        ParseError::Checksum { .. } => Status::FileDamaged,
        _ => Status::FileMalformed,
    }
}

const fn of_run(error: &RunError) -> Status {
    match error {
        RunError::Length { .. } => Status::WrongLength,
        RunError::OtherModel { .. } => Status::OtherNet,
        RunError::Workspace { .. } => Status::MemoryTooShort,
        RunError::WorkspaceAlignment { .. } => Status::Misaligned,
        RunError::Feature { .. } | RunError::Bucket { .. } | RunError::Row { .. } => Status::OutOfRange,
        RunError::InputKind | RunError::NoRows => Status::OtherKind,
        RunError::StackFull { .. } => Status::StateFull,
        RunError::StackEmpty => Status::StateEmpty,
        RunError::TooManyFeatures { .. } => Status::TooMany,
        RunError::FeatureCount { .. } | RunError::FeatureOrder { .. } => Status::FeatureList,
        _ => Status::Refused,
    }
}

const fn of_state(error: &StateError) -> Status {
    match error {
        StateError::Run(error) => of_run(error),
        // A king that comes alone lacks the one that goes.
        StateError::Piece { is_added: false, .. } | StateError::LoneKing { .. } => Status::PieceMissing,
        StateError::Piece { is_added: true, .. } => Status::PiecePresent,
        StateError::TooManyPieces { .. } => Status::TooMany,
        StateError::Ply { .. } => Status::OutOfRange,
        _ => Status::Refused,
    }
}

impl From<Status> for Failure {
    fn from(status: Status) -> Self {
        Self::Status(status)
    }
}

impl From<ParseError> for Failure {
    fn from(error: ParseError) -> Self {
        Self::Load(error.into())
    }
}

impl From<LoadError> for Failure {
    fn from(error: LoadError) -> Self {
        Self::Load(error)
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        Self::Run(error)
    }
}

impl From<StateError> for Failure {
    fn from(error: StateError) -> Self {
        Self::State(error)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Status(status) => f.write_str(status.text().to_str().unwrap_or_default()),
            Self::Load(error) => error.fmt(f),
            Self::Run(error) => error.fmt(f),
            Self::State(error) => error.fmt(f),
        }
    }
}

/// A caller's buffer for a message. What does not fit is left out, at a character's end; a zero byte follows what does.
#[derive(Debug, Clone, Copy)]
pub struct Message {
    start: *mut c_char,
    len: usize,
}

impl Message {
    /// start: NULL, or `len` bytes that stay writable while this value is used.
    pub const fn new(start: *mut c_char, len: usize) -> Self {
        Self { start, len: if start.is_null() { 0 } else { len } }
    }

    /// # Safety
    /// As promised for [`Message::new`].
    pub unsafe fn write(self, text: impl fmt::Display) {
        let Some(room) = self.len.checked_sub(1) else { return };
        let mut cut = Cut { start: self.start.cast(), len: 0, room };
        // An error is text that did not fit.
        let _ = write!(cut, "{text}");
        // SAFETY: `cut.len` is at most `room`, one less than the caller's length.
        unsafe { cut.start.add(cut.len).write(0) }
    }
}

/// Writes at most `room` bytes from `start` on, which its maker has found writable.
struct Cut {
    start: *mut u8,
    len: usize,
    room: usize,
}

impl Write for Cut {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let fits = whole_characters(text, self.room - self.len);
        // SAFETY: `len + fits` is at most `room`; `text` is Rust's, the buffer the caller's, so they do not overlap.
        unsafe { self.start.add(self.len).copy_from_nonoverlapping(text.as_ptr(), fits) };
        self.len += fits;
        if fits == text.len() { Ok(()) } else { Err(fmt::Error) }
    }
}

/// Bytes of the longest beginning of at most `limit` bytes that ends between two characters.
fn whole_characters(text: &str, limit: usize) -> usize {
    (0..=limit.min(text.len())).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::Message;

    #[test]
    fn a_message_ends_in_a_zero_between_two_characters() {
        for (len, expected) in
            [(1, &b"\0"[..]), (2, b"\0"), (3, "é\0".as_bytes()), (4, "éa\0".as_bytes()), (9, "éab\0".as_bytes())]
        {
            let mut buffer = [b'#'; 10];
            // SAFETY: `len` is less than the buffer's.
            unsafe { Message::new(buffer.as_mut_ptr().cast(), len).write("éab") };
            assert_eq!(buffer[..expected.len()], *expected, "{len} bytes");
            assert!(buffer[len..].iter().all(|byte| *byte == b'#'), "{len} bytes");
        }
        // SAFETY: neither has a byte to write.
        unsafe {
            Message::new(core::ptr::null_mut(), 10).write("text");
            Message::new([0u8; 1].as_mut_ptr().cast(), 0).write("text");
        }
    }
}
