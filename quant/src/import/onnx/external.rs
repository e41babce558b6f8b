//! Data in files beside the model, only inside the model's own folder.

use super::error::OnnxError;
use super::types::TensorProto;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Component, Path, PathBuf};

/// Where a tensor begins whose offset is left out.
const FILE_START: u64 = 0;

/// The bytes of a tensor of `len_bytes`.
pub(super) fn read(tensor: &TensorProto<'_>, folder: Option<&Path>, len_bytes: usize) -> Result<Vec<u8>, OnnxError> {
    let key = |key: &str| tensor.external.iter().find(|(name, _)| *name == key).map(|(_, value)| *value);
    let location = key("location").unwrap_or("");
    let fault = |what: String| OnnxError::External {
        tensor: tensor.name.to_owned(),
        location: location.escape_debug().to_string(),
        what,
    };
    if location.is_empty() {
        return Err(fault("no location is given".to_owned()));
    }
    let number = |name: &str| match key(name) {
        None => Ok(None),
        Some(text) => text.parse::<u64>().map(Some).map_err(|_| fault(format!("{name} is no number of bytes"))),
    };
    let (offset, len) = (number("offset")?.unwrap_or(FILE_START), number("length")?);
    let expected = len_bytes as u64;
    if let Some(len) = len.filter(|len| *len != expected) {
        return Err(fault(format!("{len} bytes, expected {expected}")));
    }
    let end = offset.checked_add(expected).ok_or_else(|| fault("offset and length are beyond 2^64".to_owned()))?;
    let folder = folder.ok_or_else(|| fault("the model was read without its folder".to_owned()))?;
    let path = inside(folder, location).map_err(fault)?;
    let open = || -> std::io::Result<Result<Vec<u8>, u64>> {
        let mut file = File::open(&path)?;
        let found = file.metadata()?.len();
        // Before anything of that length is allocated.
        if found < end {
            return Ok(Err(found));
        }
        file.seek(SeekFrom::Start(offset))?;
        let mut bytes = vec![0; len_bytes];
        file.read_exact(&mut bytes)?;
        Ok(Ok(bytes))
    };
    match open() {
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(found)) => Err(fault(format!("the file has {found} bytes, the tensor ends at {end}"))),
        Err(error) => Err(fault(error.to_string())),
    }
}

/// The file of a location; neither it nor a folder on the way is a link.
fn inside(folder: &Path, location: &str) -> Result<PathBuf, String> {
    let mut path = folder.to_owned();
    // What is a path on one system only is refused on all.
    if location.contains(['\\', ':', '\0']) {
        return Err("expected a relative path of plain names".to_owned());
    }
    for component in Path::new(location).components() {
        match component {
            Component::Normal(name) => path.push(name),
            Component::CurDir => continue,
            _ => return Err("outside the model's folder, which is not read".to_owned()),
        }
        let metadata = path.symlink_metadata().map_err(|error| error.to_string())?;
        if metadata.is_symlink() {
            return Err("a link, which is not followed".to_owned());
        }
    }
    let is_file = path.symlink_metadata().is_ok_and(|metadata| metadata.is_file());
    if is_file { Ok(path) } else { Err("not a file".to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_files_of_the_folder_are_opened() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("inner")).unwrap();
        std::fs::write(folder.path().join("inner/w.bin"), [1, 2, 3, 4]).unwrap();
        assert!(inside(folder.path(), "./inner/w.bin").is_ok());
        for location in ["../w.bin", "/etc/passwd", "inner", "inner/../inner/w.bin", "absent", "c:\\w.bin"] {
            assert!(inside(folder.path(), location).is_err(), "{location}");
        }
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(folder.path().join("inner"), folder.path().join("link")).unwrap();
            assert!(inside(folder.path(), "link/w.bin").is_err());
        }
        let tensor = |external: Vec<(&'static str, &'static str)>| TensorProto { external, ..TensorProto::default() };
        let read = |external| read(&tensor(external), Some(folder.path()), 2);
        assert_eq!(read(vec![("location", "inner/w.bin"), ("offset", "1"), ("length", "2")]).unwrap(), [2, 3]);
        for (offset, length) in [("3", "2"), ("18446744073709551615", "2"), ("0", "3"), ("-1", "2")] {
            assert!(read(vec![("location", "inner/w.bin"), ("offset", offset), ("length", length)]).is_err());
        }
    }
}
