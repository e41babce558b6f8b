//! The container: program, places, metadata section, checksum.

use super::error::PackError;
use super::records::{Records, records};
use super::workspace::{Least, plan, plan_within};
use crate::program::Program;
use crate::proof::Proof;
use bytemuck::{bytes_of, cast_slice};
use tamis_runtime::format::{Metadata, Model};
use tamis_runtime::raw::{ALIGNMENT, BYTE_ORDER, Header, MAGIC, MAX_WORKSPACE_LEN_BYTES, VERSION, checksum};

/// Where the numbers came from; nothing that depends on the machine or the time.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Provenance {
    /// What was read: `raw.bin`, `weights.bin`, `quantised.bin`.
    pub source: String,
    /// FNV-1a (64 bits) of its bytes.
    pub source_hash: u64,
}

/// The container's bytes: the same for the same program on every host, and accepted by the runtime's own loader. The
/// proof, which is the program's, decides what the file claims.
///
/// # Errors
/// [`PackError::Unsupported`] for a program that no file can hold, [`PackError::NameTaken`], [`PackError::Contents`] if
/// a tensor is not whole, [`PackError::TooLarge`] beyond 4 GiB.
///
/// # Examples
/// ```
/// use tamis_quant::arch::Architecture;
/// use tamis_quant::import::{fnv1a_64, read_bare};
/// use tamis_quant::pack::{Provenance, pack, to_bare, unpack};
/// use tamis_quant::proof::prove;
/// use tamis_quant::quantised::QuantNet;
/// use tamis_quant::run::AlignedBytes;
/// use tamis_runtime::format::Model;
///
/// let arch = Architecture::from_toml(include_str!("../../../tests/vectors/tiny.toml"), "tiny.toml")?;
/// let bare = include_bytes!("../../../tests/vectors/tiny.bare.bin");
/// let net = QuantNet::from_bare(read_bare(bare, &arch)?)?;
/// let provenance = Provenance { source: "quantised.bin".to_owned(), source_hash: fnv1a_64(bare) };
/// let program = net.lower()?;
/// let container = pack(&program, &prove(&program), &provenance)?;
/// assert_eq!(container, include_bytes!("../../../tests/vectors/tiny.bin"));
///
/// let aligned = AlignedBytes::copy_of(&container);
/// assert_eq!(to_bare(&unpack(&Model::parse(aligned.as_ref())?)?)?, bare);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn pack(program: &Program, proof: &Proof, provenance: &Provenance) -> Result<Vec<u8>, PackError> {
    pack_placed(program, provenance, placed(records(program, proof)?, None)?)
}

/// The same with a workspace of at most `budget` bytes: where a plan of whole values needs more, operations on maps
/// write over what they read, row by row, or hand on a few rows at a time. The bits of every value and the signature
/// are those of [`pack`], and nothing is computed twice; beginning bands of rows takes time, so the plan is the one
/// within the budget that begins the fewest.
///
/// # Errors
/// As [`pack`]; [`PackError::Budget`] if no such plan was found.
pub fn pack_within(
    program: &Program,
    proof: &Proof,
    provenance: &Provenance,
    budget: usize,
) -> Result<Vec<u8>, PackError> {
    pack_placed(program, provenance, placed(records(program, proof)?, Some(budget))?)
}

/// The container of records whose values have their places.
fn pack_placed(
    program: &Program,
    provenance: &Provenance,
    (records, workspace): (Records<'_>, u32),
) -> Result<Vec<u8>, PackError> {
    let names: Vec<&str> = records.tensors.iter().map(|tensor| tensor.name.as_str()).collect();
    let tensor_names = names.join("\n");
    let metadata = Metadata {
        name: &program.name,
        description: &program.description,
        tensor_names: &tensor_names,
        source: &provenance.source,
        source_hash: provenance.source_hash,
        bare_header: &program.header,
    };
    let metadata = postcard_bytes(&metadata)?;
    assemble(records, workspace, &metadata)
}

fn postcard_bytes(metadata: &Metadata<'_>) -> Result<Vec<u8>, PackError> {
    // Strings at their own length, and at most ten bytes for each of seven varints.
    let text = metadata.name.len() + metadata.description.len() + metadata.tensor_names.len() + metadata.source.len();
    let mut buffer = vec![0; text + metadata.bare_header.len() + 70];
    let len = postcard::to_slice(metadata, &mut buffer).map(|used| used.len());
    let len = len.map_err(|_| PackError::TooLarge { len_bytes: buffer.len() })?;
    buffer.truncate(len);
    Ok(buffer)
}

fn assemble(mut records: Records<'_>, workspace: u32, metadata: &[u8]) -> Result<Vec<u8>, PackError> {
    let tables = 128
        + size_of_val(records.blocks.as_slice())
        + records.tensors.len() * 32
        + size_of_val(records.values.as_slice())
        + size_of_val(records.ops.as_slice());
    let mut end = tables;
    for tensor in &mut records.tensors {
        let start = end.next_multiple_of(ALIGNMENT);
        tensor.record.offset_bytes = u32::try_from(start).map_err(|_| PackError::TooLarge { len_bytes: start })?;
        end = start + tensor.record.len_bytes as usize;
    }
    let metadata_start = end.next_multiple_of(ALIGNMENT);
    let len = (metadata_start + metadata.len()).next_multiple_of(ALIGNMENT);
    let fits = |value: usize| u32::try_from(value).map_err(|_| PackError::TooLarge { len_bytes: len });
    let mut header = Header {
        magic: MAGIC,
        byte_order: BYTE_ORDER,
        version: VERSION,
        required_flags: 0,
        len_bytes: fits(len)?,
        checksum: [0; 2],
        block_count: fits(records.blocks.len())?,
        tensor_count: fits(records.tensors.len())?,
        value_count: fits(records.values.len())?,
        op_count: fits(records.ops.len())?,
        metadata_offset_bytes: fits(metadata_start)?,
        metadata_len_bytes: fits(metadata.len())?,
        workspace_len_bytes: workspace,
        reserved: 0,
    };
    // Zeros from the start, so that only what is not zero has to be written.
    let mut file = vec![0; len];
    let mut tables = Vec::with_capacity(tables);
    tables.extend_from_slice(bytes_of(&header));
    tables.extend_from_slice(bytes_of(&records.input));
    tables.extend_from_slice(cast_slice(&records.blocks));
    for tensor in &records.tensors {
        tables.extend_from_slice(bytes_of(&tensor.record));
    }
    tables.extend_from_slice(cast_slice(&records.values));
    tables.extend_from_slice(cast_slice(&records.ops));
    place(&mut file, 0, tables.len()).copy_from_slice(&tables);
    for tensor in &records.tensors {
        tensor.write(place(&mut file, tensor.record.offset_bytes as usize, tensor.record.len_bytes as usize));
    }
    place(&mut file, metadata_start, metadata.len()).copy_from_slice(metadata);
    let sum = checksum(&file);
    header.checksum = [sum as u32, (sum >> 32) as u32];
    place(&mut file, 0, size_of::<Header>()).copy_from_slice(bytes_of(&header));
    Ok(file)
}

/// Gives the values of records their places, within a budget if there is one; with the workspace's length.
fn placed(mut records: Records<'_>, budget: Option<usize>) -> Result<(Records<'_>, u32), PackError> {
    let too_large = |len_bytes| PackError::TooLarge { len_bytes };
    let whole = plan(&mut records.values, &records.ops).ok_or(too_large(usize::MAX))?;
    let workspace = match budget {
        None => whole,
        Some(budget) => {
            let most = u32::try_from(budget).unwrap_or(u32::MAX);
            let found = plan_within(&mut records.values, &records.ops, most).ok_or(too_large(usize::MAX))?;
            found.map_err(|Least { len_bytes }| PackError::Budget {
                budget,
                least: len_bytes as usize,
                whole: whole as usize,
            })?
        }
    };
    if workspace > MAX_WORKSPACE_LEN_BYTES {
        return Err(too_large(workspace as usize));
    }
    Ok((records, workspace))
}

/// The bytes of workspace that a program needs as a container.
///
/// # Errors
/// [`PackError::Unsupported`] and [`PackError::TooLarge`], as [`pack`] has them.
pub fn workspace_len_bytes(program: &Program, proof: &Proof) -> Result<usize, PackError> {
    Ok(placed(records(program, proof)?, None)?.1 as usize)
}

/// The bytes of workspace that a container's network needs where every value lies whole and apart.
///
/// # Errors
/// [`PackError::TooLarge`] as [`pack`] has it.
pub fn whole_workspace_len_bytes(model: &Model<'_>) -> Result<usize, PackError> {
    let whole = plan(&mut model.values().to_vec(), model.ops());
    whole.map(|len_bytes| len_bytes as usize).ok_or(PackError::TooLarge { len_bytes: usize::MAX })
}

/// A part of the file, which is as long as its parts.
fn place(file: &mut [u8], start: usize, len: usize) -> &mut [u8] {
    &mut file[start..start + len]
}
