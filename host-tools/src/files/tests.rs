use super::{ModelFile, Sink, check_start};
use crate::status::Status;
use std::fs;
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
fn nothing_is_overwritten_without_force() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out");
    let early = Sink::check_path(&path, false, &[]).unwrap();
    Sink::check_path(&path, false, &[]).unwrap().write(b"first").unwrap();
    assert_eq!(Sink::check_path(&path, false, &[]).unwrap_err().status(), Status::Usage);
    // Somebody else was faster.
    assert_eq!(early.write(b"second").unwrap_err().status(), Status::Usage);
    assert_eq!(fs::read(&path).unwrap(), b"first");
    Sink::check_path(&path, true, &[]).unwrap().write(b"third").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"third");
    // What is read is not overwritten.
    assert_eq!(Sink::check_path(&path, true, &[&path]).unwrap_err().status(), Status::Usage);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "a temporary file was left");
}

#[test]
fn only_files_are_written() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(Sink::check_path(folder.path(), true, &[]).unwrap_err().status(), Status::Usage);
    // Told before any work, and again if the folder goes away meanwhile.
    let error = Sink::check_path(&folder.path().join("no/such/out"), false, &[]).unwrap_err();
    assert_eq!(error.status(), Status::Io);
    let gone = folder.path().join("gone");
    fs::create_dir(&gone).unwrap();
    let sink = Sink::check_path(&gone.join("out"), false, &[]).unwrap();
    fs::remove_dir(&gone).unwrap();
    let error = sink.write(b"x").unwrap_err();
    assert_eq!(error.status(), Status::Io);
    assert!(!error.to_string().contains(".host-tools-"), "{error}");
    assert_eq!(ModelFile::read(folder.path()).unwrap_err().status(), Status::Usage);
}

#[cfg(unix)]
#[test]
fn a_link_stays_a_link() {
    let folder = tempfile::tempdir().unwrap();
    let (file, link) = (folder.path().join("file"), folder.path().join("link"));
    fs::write(&file, b"old").unwrap();
    std::os::unix::fs::symlink(&file, &link).unwrap();
    Sink::check_path(&link, true, &[]).unwrap().write(b"new").unwrap();
    assert_eq!(fs::read(&file).unwrap(), b"new");
    assert!(link.symlink_metadata().unwrap().is_symlink());
}
