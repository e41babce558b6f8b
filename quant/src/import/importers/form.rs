//! Which form a checkpoint has.

use super::NetworkError;
use crate::import::angel::is_angel_folder;
use crate::import::datacode::is_datacode;
use crate::import::lattice::{is_fann, is_lattice_checkpoint, is_network_json};
use crate::import::onnx::is_onnx;
use crate::import::tensors::{is_npz, is_safetensors};
use crate::import::tflite::is_tflite;
use crate::import::{IN_DIRECTORY, ImportError, MAX_FILE_LEN_BYTES, foreign, read_file_start, weights_bin};
use crate::stockfish;
use std::path::Path;
use tamis_runtime::raw::MAGIC;

/// What is looked at of a file.
pub(super) const START_LEN_BYTES: u64 = 4096;

/// A form of checkpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NetworkForm {
    /// A folder or file of the bullet trainer: layers, by their own description.
    Bullet,
    /// DataCode's `.nn`.
    DataCode,
    /// A checkpoint of lattice-tune.
    Lattice,
    /// A folder of matrices of Angel, or of such folders.
    Angel,
    /// Named tensors, with a description in the metadata or apart.
    Safetensors,
    /// NumPy's named arrays, with a description.
    Npz,
    /// lattice-fann's binary form.
    Fann,
    /// lattice-fann's JSON.
    NetworkJson,
    /// TensorFlow Lite's files.
    Tflite,
    /// An ONNX model.
    Onnx,
}

impl NetworkForm {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::Bullet,
        Self::DataCode,
        Self::Lattice,
        Self::Angel,
        Self::Safetensors,
        Self::Npz,
        Self::Fann,
        Self::NetworkJson,
        Self::Tflite,
        Self::Onnx,
    ];

    /// What `--from` calls it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Bullet => "bullet",
            Self::DataCode => "datacode",
            Self::Lattice => "lattice",
            Self::Angel => "angel",
            Self::Safetensors => "safetensors",
            Self::Npz => "npz",
            Self::Fann => "fann",
            Self::NetworkJson => "network-json",
            Self::Tflite => "tflite",
            Self::Onnx => "onnx",
        }
    }

    /// What a file of the form is: `an ONNX model`.
    #[must_use]
    pub const fn is_what(self) -> &'static str {
        match self {
            Self::Bullet => "a checkpoint of bullet",
            Self::DataCode => "a network of DataCode",
            Self::Lattice => "a checkpoint of lattice-tune",
            Self::Angel => "a folder of Angel's matrices",
            Self::Safetensors => "a file of tensors, safetensors",
            Self::Npz => "a file of arrays, npz",
            Self::Fann => "a network of lattice-fann",
            Self::NetworkJson => "a network of lattice-fann, JSON",
            Self::Tflite => "a TFLite model",
            Self::Onnx => "an ONNX model",
        }
    }

    /// Whether the form needs `--arch` beside it.
    #[must_use]
    pub const fn needs_arch(self) -> bool {
        matches!(self, Self::Bullet | Self::Lattice | Self::Safetensors | Self::Npz)
    }
}

/// Decides by content.
///
/// # Errors
/// [`NetworkError`] naming the path: what is none of the forms, or a model that is quantised already.
pub fn sniff_network(path: &Path) -> Result<NetworkForm, NetworkError> {
    if path.is_dir() {
        return sniff_folder(path).ok_or_else(|| NetworkError::UnknownFolder.at(path));
    }
    let (start, len_bytes) = read_file_start(path, START_LEN_BYTES)?;
    if len_bytes > MAX_FILE_LEN_BYTES {
        let too_large = ImportError::TooLarge { len_bytes, limit_bytes: MAX_FILE_LEN_BYTES };
        return Err(NetworkError::from(too_large).at(path));
    }
    sniff_start(&start).map_err(|cause| cause.at(path))
}

fn sniff_folder(path: &Path) -> Option<NetworkForm> {
    if IN_DIRECTORY.iter().any(|name| path.join(name).is_file()) {
        return Some(NetworkForm::Bullet);
    }
    is_angel_folder(path).then_some(NetworkForm::Angel)
}

fn sniff_start(start: &[u8]) -> Result<NetworkForm, NetworkError> {
    // A description reads like JSON to nobody; JSON before safetensors, whose length could be spaces.
    let form = [
        (NetworkForm::DataCode, is_datacode(start)),
        (NetworkForm::Fann, is_fann(start)),
        (NetworkForm::Npz, is_npz(start)),
        (NetworkForm::Tflite, is_tflite(start)),
        (NetworkForm::NetworkJson, is_network_json(start)),
        (NetworkForm::Lattice, is_lattice_checkpoint(start)),
        (NetworkForm::Safetensors, is_safetensors(start)),
        (NetworkForm::Onnx, is_onnx(start)),
        (NetworkForm::Bullet, is_weights_bin(start)),
    ];
    if start.starts_with(&MAGIC) {
        return Err(NetworkError::Container);
    }
    if let Some(other) = foreign(start) {
        return Err(ImportError::Foreign(other).into());
    }
    let found = form.iter().find(|(_, is_it)| *is_it).map(|(form, _)| *form);
    if start.is_empty() {
        return Err(NetworkError::Empty);
    }
    found.ok_or_else(|| NetworkError::NotRecognised { start: start[..start.len().min(16)].escape_ascii().to_string() })
}

/// What [`network_in_place`] calls a file of the Stockfish family.
pub const NNUE_FILE: &str = "a .nnue file of the Stockfish family";

/// What the bytes of a network are, by their beginning, where no network is wanted: `a TFLite model`. Named arrays may
/// be anything's, so that files of them are none.
#[must_use]
pub fn network_in_place(start: &[u8]) -> Option<&'static str> {
    let by_form = || match sniff_start(start) {
        Err(NetworkError::Container) => Some("a container"),
        Err(_) | Ok(NetworkForm::Safetensors | NetworkForm::Npz) => None,
        Ok(form) => Some(form.is_what()),
    };
    stockfish::is_nnue(start).then_some(NNUE_FILE).or_else(by_form)
}

/// A name, and a count of values that no text behind a line of one word makes.
fn is_weights_bin(start: &[u8]) -> bool {
    const MOST_VALUES: u64 = 1 << 32;
    let end = start.iter().position(|byte| *byte == b'\n').unwrap_or(start.len());
    let count = start.get(end + 1..).and_then(<[u8]>::first_chunk).map(|count| u64::from_le_bytes(*count));
    weights_bin::begins_with_any_name(start) && count.is_some_and(|count| count <= MOST_VALUES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_told_by_their_beginnings() {
        for (start, expected) in [
            (&b"DATACODE\x01\0\0\0"[..], NetworkForm::DataCode),
            (b"FANN\x01\0\0\0", NetworkForm::Fann),
            (b"PK\x03\x04", NetworkForm::Npz),
            (b"\x1c\0\0\0TFL3\x14\0", NetworkForm::Tflite),
            (b"  {\"layers\": [", NetworkForm::NetworkJson),
            (b"{ \"weights\": \"", NetworkForm::Lattice),
            (b"\x40\0\0\0\0\0\0\0{\"__metadata__\"", NetworkForm::Safetensors),
            (b"\x08\x07\x12\x07pytorch", NetworkForm::Onnx),
            (b"l0w\n\x04\0\0\0\0\0\0\0", NetworkForm::Bullet),
        ] {
            assert_eq!(sniff_start(start).unwrap(), expected);
        }
        assert!(matches!(sniff_start(&MAGIC), Err(NetworkError::Container)));
        assert!(matches!(sniff_start(b""), Err(NetworkError::Empty)));
        for start in [&b"graph = 1"[..], b"word\nanother word\n", b"\x93NUMPY\x01\0", b"{}"] {
            assert!(matches!(sniff_start(start), Err(NetworkError::NotRecognised { .. })), "{start:?}");
        }
    }

    #[test]
    fn folders_are_told_by_their_files() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        assert!(sniff_network(path).unwrap_err().to_string().contains("neither"));
        std::fs::create_dir(path.join("matrix")).unwrap();
        std::fs::write(path.join("matrix/_meta"), "").unwrap();
        assert_eq!(sniff_network(path).unwrap(), NetworkForm::Angel);
        assert_eq!(sniff_network(&path.join("matrix")).unwrap(), NetworkForm::Angel);
        std::fs::write(path.join("raw.bin"), "").unwrap();
        assert_eq!(sniff_network(path).unwrap(), NetworkForm::Bullet);
    }

    #[test]
    fn words_are_unique() {
        for (index, form) in NetworkForm::ALL.iter().enumerate() {
            assert!(NetworkForm::ALL[..index].iter().all(|other| other.word() != form.word()));
        }
    }
}
