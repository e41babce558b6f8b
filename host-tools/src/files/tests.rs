use super::{Sink, is_one_file, refuse_one_file};
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

/// What a model reads beside its own file is read, too: data that it names, and what says matrices and layers in the
/// folder of one.
#[test]
fn what_a_model_reads_beside_itself_is_not_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name);
    fs::create_dir(file("matrix")).unwrap();
    fs::write(file("net.onnx"), b"\x08\x08\x12\x04test\x3a\x10location=data.bin").unwrap();
    fs::create_dir(file("outputs")).unwrap();
    for name in ["data.bin", "other.bin", "graph.json", "matrix/0", "matrix/_meta", "outputs/0"] {
        fs::write(file(name), b"x").unwrap();
    }
    let check = |input: &str, name: &str| Sink::check_path(&file(name), true, &[&file(input)]).is_ok();
    assert!(!check("net.onnx", "data.bin") && check("net.onnx", "other.bin") && check("net.onnx", "matrix/0"));
    assert!(!check(".", "matrix/0") && !check(".", "matrix/_meta") && !check(".", "graph.json"));
    assert!(check(".", "outputs/0") && check(".", "other.bin"));
}

/// Names are compared by where they lead, whether the file is there or not.
#[test]
fn one_file_has_many_names() {
    let folder = tempfile::tempdir().unwrap();
    let (plain, round) = (folder.path().join("out"), folder.path().join(".").join("out"));
    assert!(is_one_file(&plain, &round) && !is_one_file(&plain, &folder.path().join("in")));
    fs::write(&plain, b"x").unwrap();
    assert!(is_one_file(&plain, &round));
    assert!(refuse_one_file(&plain, &round, "the page").unwrap_err().to_string().contains("is the page too"));
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
