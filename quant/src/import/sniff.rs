//! Which of bullet's forms a file has. None has a magic number, so: names first, then lengths, then the file's name.

use super::error::ImportError;
use super::explain::{is_near, length_error};
use super::foreign::foreign;
use super::{Checkpoint, bare, fnv1a_64, raw_bin, weights_bin};
use crate::arch::{Architecture, FileForm, Tail};

/// A form of checkpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SourceKind {
    /// Named f32 tensors.
    WeightsBin,
    /// Nameless f32 tensors.
    RawBin,
    /// The trainer's quantised file.
    Bare,
}

impl SourceKind {
    /// What reports call it.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::WeightsBin => "weights.bin",
            Self::RawBin => "raw.bin",
            Self::Bare => "quantised.bin (dequantised)",
        }
    }
}

/// Decides which form some bytes have. `file_name` (without folders) settles what lengths cannot.
///
/// A file that can be taken apart as `weights.bin`, or begins with a known tensor's name, is one. Else the length
/// decides; and if neither form has this length, the nearer one, whose reader then explains what does not fit.
///
/// # Errors
/// [`ImportError::Empty`], [`ImportError::Ambiguous`], [`ImportError::NotRecognised`] for a length far from both.
pub fn sniff(bytes: &[u8], arch: &Architecture, file_name: &str) -> Result<SourceKind, ImportError> {
    if bytes.is_empty() {
        return Err(ImportError::Empty);
    }
    if begins_with_a_name(bytes, arch) || weights_bin::entries(bytes).is_ok() {
        return Ok(SourceKind::WeightsBin);
    }
    by_length(bytes.len() as u64, arch, file_name)
}

/// Which nameless form a file of this length and name has.
fn by_length(len: u64, arch: &Architecture, file_name: &str) -> Result<SourceKind, ImportError> {
    let (raw, bare) = (arch.raw_len_bytes(), arch.bare_len_bytes());
    match (len == raw, len == bare, file_name) {
        (true, false, _) => Ok(SourceKind::RawBin),
        (false, true, _) => Ok(SourceKind::Bare),
        (_, _, "raw.bin") => Ok(SourceKind::RawBin),
        (_, _, "quantised.bin") => Ok(SourceKind::Bare),
        (true, true, _) if is_the_same(arch) => Ok(SourceKind::RawBin),
        (true, true, _) => Err(ImportError::Ambiguous { len_bytes: len }),
        (false, false, _) => {
            let (near_raw, near_bare) = (is_near(arch, FileForm::Raw, len), is_near(arch, FileForm::Bare, len));
            match (near_raw, near_bare) {
                (false, false) => Err(ImportError::NotRecognised { found: len, raw, bare }),
                (true, false) => Ok(SourceKind::RawBin),
                (true, true) if len.abs_diff(raw) < len.abs_diff(bare) => Ok(SourceKind::RawBin),
                _ => Ok(SourceKind::Bare),
            }
        }
    }
}

/// Refuses what no reader takes, by length and first bytes alone, so that the rest need not be read.
pub(super) fn check_start(start: &[u8], len: u64, arch: &Architecture, file_name: &str) -> Result<(), ImportError> {
    if len == 0 || weights_bin::begins_with_any_name(start) {
        return Ok(());
    }
    refuse_foreign(start, len, arch)?;
    match by_length(len, arch, file_name)? {
        SourceKind::RawBin => raw_bin::check_len(len, arch),
        _ if len == arch.bare_len_bytes() => Ok(()),
        _ => Err(length_error(arch, FileForm::Bare, len)),
    }
}

/// Names a file of another system; one of the right length may begin with anything.
fn refuse_foreign(start: &[u8], len: u64, arch: &Architecture) -> Result<(), ImportError> {
    match foreign(start) {
        Some(other) if len != arch.raw_len_bytes() && len != arch.bare_len_bytes() => Err(ImportError::Foreign(other)),
        _ => Ok(()),
    }
}

/// The same where only a bare file is taken.
pub(super) fn check_bare_start(
    start: &[u8],
    len: u64,
    arch: &Architecture,
    file_name: &str,
) -> Result<(), ImportError> {
    let (raw, bare) = (arch.raw_len_bytes(), arch.bare_len_bytes());
    if len == 0 || len == bare {
        return Ok(());
    }
    if begins_with_a_name(start, arch) {
        return Err(ImportError::FloatCheckpoint { form: "weights.bin", len_bytes: len });
    }
    refuse_foreign(start, len, arch)?;
    if len == raw {
        return Err(ImportError::FloatCheckpoint { form: "raw.bin", len_bytes: len });
    }
    if file_name != "quantised.bin" && !is_near(arch, FileForm::Bare, len) {
        return Err(ImportError::NotRecognised { found: len, raw, bare });
    }
    Err(length_error(arch, FileForm::Bare, len))
}

/// Reads a checkpoint from bytes, whatever its form.
///
/// # Errors
/// Those of [`sniff`] and of the form's reader.
pub fn read_bytes(bytes: &[u8], arch: &Architecture, file_name: &str) -> Result<Checkpoint, ImportError> {
    let kind = sniff(bytes, arch, file_name)?;
    let net = match kind {
        SourceKind::WeightsBin => weights_bin::read_weights(bytes, arch)?,
        SourceKind::RawBin => raw_bin::read_raw(bytes, arch)?,
        SourceKind::Bare => bare::read_bare(bytes, arch)?.dequantise()?,
    };
    let factoriser = match kind {
        SourceKind::WeightsBin => weights_bin::read_factoriser(bytes, arch)?,
        SourceKind::RawBin | SourceKind::Bare => None,
    };
    Ok(Checkpoint { net, factoriser, source: kind.words().to_owned(), bytes_hash: fnv1a_64(bytes) })
}

fn begins_with_a_name(bytes: &[u8], arch: &Architecture) -> bool {
    let names = arch.tensors.iter().map(|tensor| tensor.name.as_str()).chain(arch.factoriser());
    names.into_iter().any(|name| bytes.strip_prefix(name.as_bytes()).is_some_and(|rest| rest.first() == Some(&b'\n')))
}

/// Whether `raw.bin` and the bare file of one network are the same bytes.
fn is_the_same(arch: &Architecture) -> bool {
    let same_order = arch.tensors.iter().all(|tensor| !tensor.transposed);
    let same_types = arch.spans(FileForm::Bare) == arch.spans(FileForm::Raw);
    same_order && same_types && arch.file.tail == Tail::None && arch.factoriser().is_none()
}

#[cfg(test)]
mod tests {
    use super::{SourceKind, read_bytes, sniff};
    use crate::arch::Architecture;
    use crate::import::ImportError;

    fn small() -> Architecture {
        Architecture::from_toml(include_str!("small.toml"), "x").unwrap()
    }

    #[test]
    fn names_then_lengths_then_the_files_name() {
        let arch = small();
        for (bytes, name, expected) in [
            (b"l0w\n".to_vec(), "", SourceKind::WeightsBin),
            (b"other\n\0\0\0\0\0\0\0\0".to_vec(), "raw.bin", SourceKind::WeightsBin),
            (vec![0; 197_380], "quantised.bin", SourceKind::RawBin),
            (vec![0; 98_752], "raw.bin", SourceKind::Bare),
            (vec![0; 98_753], "", SourceKind::Bare),
            (vec![0; 197_379], "", SourceKind::RawBin),
            (vec![0; 197_379], "quantised.bin", SourceKind::Bare),
            (vec![0; 1], "raw.bin", SourceKind::RawBin),
        ] {
            assert_eq!(sniff(&bytes, &arch, name).unwrap(), expected, "{} bytes, {name}", bytes.len());
        }
        assert!(matches!(sniff(&[], &arch, "raw.bin"), Err(ImportError::Empty)));
        let error = sniff(&vec![0; 367], &arch, "small.toml").unwrap_err();
        assert!(matches!(error, ImportError::NotRecognised { found: 367, raw: 197_380, bare: 98_752 }), "{error}");
    }

    #[test]
    fn a_float_network_is_ambiguous_only_if_the_orders_differ() {
        let mut arch = small();
        arch.file.tail = crate::arch::Tail::None;
        for tensor in &mut arch.tensors {
            (tensor.r#type, tensor.scale) = (crate::arch::ElementType::F32, None);
        }
        arch.validate().unwrap();
        let bytes = vec![0; 197_380];
        assert_eq!(sniff(&bytes, &arch, "net").unwrap(), SourceKind::RawBin);
        arch.tensors[2].transposed = true;
        assert!(matches!(sniff(&bytes, &arch, "net"), Err(ImportError::Ambiguous { .. })));
        assert_eq!(sniff(&bytes, &arch, "quantised.bin").unwrap(), SourceKind::Bare);
    }

    #[test]
    fn what_was_read_is_said_and_named() {
        let mut bytes = vec![0; 98_690];
        bytes.extend(b"bullet".iter().cycle().take(62));
        let checkpoint = read_bytes(&bytes, &small(), "net").unwrap();
        assert_eq!(checkpoint.source, "quantised.bin (dequantised)");
        assert_eq!(checkpoint.bytes_hash, crate::import::fnv1a_64(&bytes));
    }
}
