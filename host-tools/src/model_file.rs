//! Containers in aligned memory, checked.
//!
//! They are read, not mapped: a mapped file can change after its checksum was checked, and a network is small.

use crate::divide::DivideReport;
use crate::error::{CliError, Explain};
use crate::files::refuse_foreign;
use crate::nnue::{NnueFile, is_nnue, refuse_for_container};
use crate::status::Status;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use tamis_quant::import;
use tamis_quant::import::importers::{NetworkForm, quantised_form, read_quantised_network, sniff_network};
use tamis_quant::pack;
use tamis_quant::proof::prove;
use tamis_quant::run::AlignedBytes;
use tamis_quant::stockfish::Division;
use tamis_runtime::format::{Model, ParseError};
use tamis_runtime::raw::{Header, MAGIC};

/// A container in memory.
#[derive(Debug)]
pub struct ModelFile {
    path: PathBuf,
    bytes: AlignedBytes,
    /// Of the file itself.
    len_bytes: usize,
    /// Of a `.nnue` file.
    divide: Option<DivideReport>,
}

impl ModelFile {
    /// Reads a container. What is none is refused on its first bytes, before memory is taken for the rest.
    ///
    /// # Errors
    /// [`CliError`] naming the file.
    pub fn read(path: &Path) -> Result<Self, CliError> {
        let io = |error: io::Error| CliError::io("read", path, &error);
        let metadata = path.metadata().map_err(io)?;
        if !metadata.is_file() {
            return Err(CliError::usage(format!("{}: is not a file", path.display()))
                .help("give the container itself; a checkpoint's folder goes to `host-tools quantise`"));
        }
        if metadata.len() > u64::from(u32::MAX) {
            let message = format!("{}: {} bytes; a container has less than 4 GiB", path.display(), metadata.len());
            return Err(CliError::new(Status::Unsupported, message).help("give the container itself"));
        }
        refuse_for_container(path)?;
        let mut file = File::open(path).map_err(io)?;
        let mut start = Vec::with_capacity(size_of::<Header>());
        Read::by_ref(&mut file).take(size_of::<Header>() as u64).read_to_end(&mut start).map_err(io)?;
        if !start.starts_with(&MAGIC) {
            refuse_for_container_by_form(path)?;
        }
        let len = check_start(&start, metadata.len()).explain_at(path)?;
        let mut bytes = AlignedBytes::zeroed(len);
        let (head, rest) = bytes.as_mut().split_at_mut(start.len().min(len));
        head.copy_from_slice(&start[..head.len()]);
        file.read_exact(rest).map_err(io)?;
        Ok(Self { path: path.to_owned(), bytes, len_bytes: len, divide: None })
    }

    /// A container that was made of a file of `len_bytes`, which holds its integers.
    pub fn made_of(path: &Path, container: &[u8], len_bytes: usize) -> Self {
        Self { path: path.to_owned(), bytes: AlignedBytes::copy_of(container), len_bytes, divide: None }
    }

    /// The same, or of a `.nnue` file the container that `pack --divide` makes of it, proved or not.
    ///
    /// # Errors
    /// [`CliError`] naming the file.
    pub fn read_or_pack(path: &Path, divide: Option<Division>) -> Result<Self, CliError> {
        if !is_nnue(path) {
            return Self::read(path);
        }
        let file = NnueFile::read(path, divide)?;
        let program = file.net.lower();
        let bytes = pack::pack(&program, &prove(&program), &file.provenance()).explain_at(path)?;
        Ok(Self {
            path: path.to_owned(),
            bytes: AlignedBytes::copy_of(&bytes),
            len_bytes: file.bytes.len(),
            divide: Some(file.divide),
        })
    }

    /// The rule by which a network of the Stockfish family makes its values, and why; none of other networks. The
    /// option may not contradict a container, nor be given for other networks.
    ///
    /// # Errors
    /// [`CliError`] naming the file.
    pub fn divide(&self, model: &Model<'_>, option: Option<Division>) -> Result<Option<DivideReport>, CliError> {
        match &self.divide {
            Some(facts) => Ok(Some(facts.clone())),
            None => DivideReport::of_container(model, option, &self.path),
        }
    }

    /// The length of the file that was read, which a `.nnue` file's container does not share.
    pub const fn len_bytes(&self) -> usize {
        self.len_bytes
    }

    /// The model in it, checked.
    ///
    /// # Errors
    /// [`CliError`] naming the file and what is wrong with it.
    pub fn model(&self) -> Result<Model<'_>, CliError> {
        Model::parse(self.bytes.as_ref()).explain_at(&self.path)
    }
}

/// Refuses another system's file, and a checkpoint of any form that says what it is.
fn refuse_for_container_by_form(path: &Path) -> Result<(), CliError> {
    const START_LEN_BYTES: u64 = 512;
    let (start, _) = import::read_file_start(path, START_LEN_BYTES).explain()?;
    refuse_foreign(path, &start, "a container")?;
    // What is none of them is left to the container's own reader.
    let Ok(form) = sniff_network(path) else { return Ok(()) };
    let shown = path.display();
    let is_quantised = || {
        let form = quantised_form(path)?;
        read_quantised_network(path, form).ok()
    };
    let command = match form {
        NetworkForm::Bullet => format!("quantise {shown} --arch A.toml"),
        _ if is_quantised().is_some() => format!("pack {shown}"),
        form => {
            let arch = if form.needs_arch() { " --arch ARCH" } else { "" };
            format!("quantise {shown}{arch} --calibrate EXAMPLES")
        }
    };
    Err(CliError::new(Status::Unsupported, format!("{shown}: is {}, expected a container", form.is_what()))
        .help(format!("make one of it: `host-tools {command} -o OUT`")))
}

/// The length of a container by its first bytes, which must be that of the file.
fn check_start(start: &[u8], file_len: u64) -> Result<usize, ParseError> {
    const LEN_OFFSET_BYTES: usize = 20;
    let found = usize::try_from(file_len).unwrap_or(usize::MAX);
    match start.first_chunk::<8>() {
        Some(magic) if *magic != MAGIC => return Err(ParseError::NotAContainer { found: *magic }),
        Some(_) if start.len() == size_of::<Header>() => {}
        _ => return Err(ParseError::TooShort { found, expected: 2 * size_of::<Header>() }),
    }
    let len = start.get(LEN_OFFSET_BYTES..).and_then(<[u8]>::first_chunk).map(|bytes| u32::from_le_bytes(*bytes));
    let len = len.unwrap_or_else(|| unreachable!("a header has its length"));
    if u64::from(len) != file_len {
        return Err(ParseError::Length { found, expected: len as usize });
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::{ModelFile, check_start};
    use crate::status::Status;
    use tamis_runtime::format::ParseError;
    use tamis_runtime::raw::MAGIC;

    #[test]
    fn a_start_that_lies_costs_no_memory() {
        let mut start = [0; 64];
        assert!(matches!(check_start(&start, 1 << 40), Err(ParseError::NotAContainer { .. })));
        start[..8].copy_from_slice(&MAGIC);
        start[20..24].copy_from_slice(&u32::MAX.to_le_bytes());
        assert!(matches!(check_start(&start, 128), Err(ParseError::Length { found: 128, .. })));
        assert!(matches!(check_start(&start[..10], 10), Err(ParseError::TooShort { found: 10, .. })));
        assert!(matches!(check_start(&[], 0), Err(ParseError::TooShort { found: 0, .. })));
        assert_eq!(check_start(&start, u64::from(u32::MAX)), Ok(u32::MAX as usize));
    }

    #[test]
    fn a_folder_is_no_container() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(ModelFile::read(folder.path()).unwrap_err().status(), Status::Usage);
    }
}
