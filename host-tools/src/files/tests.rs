use super::Sink;
use crate::status::Status;
use std::fs;

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
