//! The file system's part: find the file, bound it, read it, put its path before every error.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;

use super::error::ImportError;
use super::{Checkpoint, fnv1a_64, raw_bin, sniff, weights_bin};
use crate::arch::Architecture;

/// The longest file that is read, in bytes: the largest network of a checked description in f32, and names.
pub const MAX_FILE_LEN_BYTES: u64 = 1 << 32;

/// What a checkpoint's directory may hold, best first: `weights.bin` has everything, `raw.bin` no factorisers.
pub const IN_DIRECTORY: [&str; 3] = ["optimiser_state/weights.bin", "weights.bin", "raw.bin"];

/// Reads a checkpoint: a directory that bullet wrote, or a `weights.bin`, `raw.bin` or bare `quantised.bin`, told
/// apart by content. [`Checkpoint::source`] says what it was.
///
/// # Errors
/// [`ImportError::In`] with the path of the file and the reason.
pub fn read_checkpoint(path: &Path, arch: &Architecture) -> Result<Checkpoint, ImportError> {
    if path.is_dir() {
        return read_directory(path, arch);
    }
    let name = file_name(path);
    let (start, len) = start_and_len(path).map_err(at(path))?;
    sniff::check_start(&start, len, arch, name).map_err(at(path))?;
    let bytes = read_file(path)?;
    sniff::read_bytes(&bytes, arch, name).map_err(at(path))
}

/// Reads a whole file of at most [`MAX_FILE_LEN_BYTES`].
///
/// # Errors
/// [`ImportError::In`] with the path and [`ImportError::Io`], [`ImportError::NotAFile`], [`ImportError::TooLarge`],
/// [`ImportError::OutOfMemory`] or [`ImportError::Changed`].
pub fn read_file(path: &Path) -> Result<Vec<u8>, ImportError> {
    read_file_at_most(path, MAX_FILE_LEN_BYTES)
}

/// The same with another limit.
///
/// # Errors
/// As [`read_file`].
pub fn read_file_at_most(path: &Path, limit_bytes: u64) -> Result<Vec<u8>, ImportError> {
    read_file_below(path, limit_bytes).map_err(at(path))
}

/// Reads the first `len_bytes` of a file, or all of a shorter one; also gives the whole file's length.
///
/// # Errors
/// As [`read_file`], [`ImportError::TooLarge`] for what is to be read, not for the file.
pub fn read_file_start(path: &Path, len_bytes: u64) -> Result<(Vec<u8>, u64), ImportError> {
    let read = || {
        let len = regular_file_len(path)?;
        Ok((read_prefix(path, len.min(len_bytes), false)?, len))
    };
    read().map_err(at(path))
}

/// Reads a file that has to be a bare `quantised.bin`; what cannot be one is refused before the whole is read.
///
/// # Errors
/// As [`read_file`], and [`ImportError::FloatCheckpoint`], [`ImportError::NotRecognised`] or [`ImportError::Length`].
pub fn read_bare_file(path: &Path, arch: &Architecture) -> Result<Vec<u8>, ImportError> {
    let (start, len) = start_and_len(path).map_err(at(path))?;
    sniff::check_bare_start(&start, len, arch, file_name(path)).map_err(at(path))?;
    read_file(path)
}

fn file_name(path: &Path) -> &str {
    path.file_name().and_then(|name| name.to_str()).unwrap_or_default()
}

/// What decides whether the rest is worth reading.
fn start_and_len(path: &Path) -> Result<(Vec<u8>, u64), ImportError> {
    let len = regular_file_len(path)?;
    if len > MAX_FILE_LEN_BYTES {
        return Err(ImportError::TooLarge { len_bytes: len, limit_bytes: MAX_FILE_LEN_BYTES });
    }
    let start = read_prefix(path, len.min(weights_bin::START_LEN_BYTES as u64), false)?;
    Ok((start, len))
}

fn at(path: &Path) -> impl FnOnce(ImportError) -> ImportError {
    move |cause| ImportError::In { path: path.to_owned(), cause: Box::new(cause) }
}

fn read_directory(directory: &Path, arch: &Architecture) -> Result<Checkpoint, ImportError> {
    for name in IN_DIRECTORY {
        let path = directory.join(name);
        match path.metadata() {
            Ok(_) => {}
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => continue,
            Err(error) => return Err(at(&path)(error.into())),
        }
        let (start, len) = start_and_len(&path).map_err(at(&path))?;
        if name == "raw.bin" || !weights_bin::begins_with_any_name(&start) {
            // The length, or the first bytes, are enough to refuse it.
            let refused = match name {
                "raw.bin" => raw_bin::check_len(len, arch),
                _ => weights_bin::entries(&start).map(drop),
            };
            refused.map_err(at(&path))?;
        }
        let bytes = read_file(&path)?;
        let read = if name == "raw.bin" { raw_bin::read_raw } else { weights_bin::read_weights };
        let net = read(&bytes, arch).map_err(at(&path))?;
        let factoriser =
            if name == "raw.bin" { None } else { weights_bin::read_factoriser(&bytes, arch).map_err(at(&path))? };
        return Ok(Checkpoint { net, factoriser, source: name.to_owned(), bytes_hash: fnv1a_64(&bytes) });
    }
    Err(at(directory)(ImportError::NothingThere))
}

/// The length is checked before memory is taken, and no more than that length is read.
fn read_file_below(path: &Path, limit_bytes: u64) -> Result<Vec<u8>, ImportError> {
    let len_bytes = regular_file_len(path)?;
    if len_bytes > limit_bytes {
        return Err(ImportError::TooLarge { len_bytes, limit_bytes });
    }
    read_prefix(path, len_bytes, true)
}

/// Asked before opening: opening a pipe waits for a writer.
fn regular_file_len(path: &Path) -> Result<u64, ImportError> {
    let metadata = path.metadata()?;
    if metadata.is_dir() {
        return Err(ImportError::IsADirectory);
    }
    if metadata.is_file() { Ok(metadata.len()) } else { Err(ImportError::NotAFile) }
}

/// The first `expected` bytes; if they are to be the whole file, one byte more is an error.
fn read_prefix(path: &Path, expected: u64, whole: bool) -> Result<Vec<u8>, ImportError> {
    if expected > MAX_FILE_LEN_BYTES {
        return Err(ImportError::TooLarge { len_bytes: expected, limit_bytes: MAX_FILE_LEN_BYTES });
    }
    let out_of_memory = || ImportError::OutOfMemory { len_bytes: expected };
    // One byte more, so that the read which finds the end needs no larger buffer.
    let capacity = usize::try_from(expected + 1).map_err(|_| out_of_memory())?;
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(capacity).map_err(|_| out_of_memory())?;
    File::open(path)?.take(expected + u64::from(whole)).read_to_end(&mut bytes)?;
    let found = bytes.len() as u64;
    if found == expected { Ok(bytes) } else { Err(ImportError::Changed { found, expected }) }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{read_checkpoint, read_file, read_file_below, read_file_start};
    use crate::arch::Architecture;
    use crate::error_kind::ErrorKind;
    use crate::import::ImportError;

    fn small() -> Architecture {
        Architecture::from_toml(include_str!("small.toml"), "x").unwrap()
    }

    #[test]
    fn a_directory_gives_the_best_it_has() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path();
        let error = read_checkpoint(path, &small()).unwrap_err();
        assert!(error.to_string().contains("holds neither optimiser_state/weights.bin"), "{error}");
        assert_eq!(error.class(), ErrorKind::Usage);

        fs::write(path.join("raw.bin"), vec![0; 197_380]).unwrap();
        assert_eq!(read_checkpoint(path, &small()).unwrap().source, "raw.bin");

        fs::create_dir(path.join("optimiser_state")).unwrap();
        fs::write(path.join("optimiser_state/weights.bin"), "l0w\n").unwrap();
        let error = read_checkpoint(path, &small()).unwrap_err();
        assert!(error.to_string().contains("optimiser_state/weights.bin: weights.bin: byte 0"), "{error}");
        assert_eq!(error.class(), ErrorKind::Malformed);
    }

    #[test]
    fn files_are_bounded() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("net");
        assert_eq!(read_file(&path).unwrap_err().class(), ErrorKind::Io);
        fs::write(&path, [1, 2, 3]).unwrap();
        assert_eq!(read_file_below(&path, 3).unwrap(), [1, 2, 3]);
        let error = read_file_below(&path, 2).unwrap_err();
        assert!(matches!(error, ImportError::TooLarge { len_bytes: 3, limit_bytes: 2 }));
        assert!(matches!(read_file_below(directory.path(), 9).unwrap_err(), ImportError::IsADirectory));
        #[cfg(unix)]
        assert!(matches!(read_file_below("/dev/zero".as_ref(), 9).unwrap_err(), ImportError::NotAFile));
        assert_eq!(read_file_start(&path, 2).unwrap(), (vec![1, 2], 3));
        assert_eq!(read_file_start(&path, 9).unwrap(), (vec![1, 2, 3], 3));
        // A sparse file costs nothing and is too large.
        let sparse = fs::File::create(directory.path().join("sparse")).unwrap();
        sparse.set_len(super::MAX_FILE_LEN_BYTES + 1).unwrap();
        let error = read_file(&directory.path().join("sparse")).unwrap_err();
        assert_eq!(error.class(), ErrorKind::Unsupported);
    }
}
