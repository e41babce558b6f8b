//! Angel's folders, as bytes.

use std::collections::BTreeMap;
use tamis_quant::import::angel::{Meta, Options, decode, parse_graph_json, read_model};

/// `_meta` with its length, and behind it the bytes that every data file has.
pub fn matrix(bytes: &[u8]) -> bool {
    let Some(len) = bytes.first_chunk().map(|len| u32::from_be_bytes(*len) as usize) else { return false };
    let (meta, data) = bytes.split_at(len.saturating_add(4).min(bytes.len()));
    let Ok(meta) = Meta::parse(meta) else { return false };
    let names = meta.partitions.iter().map(|partition| partition.file.clone());
    let files: BTreeMap<String, Vec<u8>> = names.take(16).map(|name| (name, data.to_vec())).collect();
    let Ok((matrix, _)) = decode(&meta, "x", &files, None) else { return false };
    assert_eq!(matrix.rows, meta.rows);
    true
}

pub fn graph_json(bytes: &[u8]) -> bool {
    parse_graph_json(bytes).is_ok()
}

/// A folder out of its files, one behind the other: a byte with the length of the name, the name, four bytes of length,
/// big endian, the content.
pub fn folder(mut bytes: &[u8]) -> bool {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for _ in 0..8 {
        let Some((name, content, rest)) = file(bytes) else { break };
        bytes = rest;
        let path = folder.path().join(name);
        let parent = path.parent().expect("it is inside of the folder");
        // A file where a folder is meant, or the other way round, is not what is looked for.
        if std::fs::create_dir_all(parent).is_ok() {
            let _ = std::fs::write(path, content);
        }
    }
    crate::networks::graph(read_model(folder.path(), &Options::default()))
}

fn file(bytes: &[u8]) -> Option<(&str, &[u8], &[u8])> {
    let (len, rest) = bytes.split_first()?;
    let (name, rest) = rest.split_at_checked(usize::from(*len))?;
    let (len, rest) = rest.split_first_chunk()?;
    let (content, rest) = rest.split_at_checked(u32::from_be_bytes(*len) as usize)?;
    let name = std::str::from_utf8(name).ok().filter(|name| is_plain(name))?;
    Some((name, content, rest))
}

/// Nothing outside the folder, and not deep.
fn is_plain(name: &str) -> bool {
    let is_part = |part: &str| {
        let is_known = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
        !part.is_empty() && !part.starts_with('.') && part.bytes().all(is_known)
    };
    name.len() < 64 && name.matches('/').count() < 2 && name.split('/').all(is_part)
}
