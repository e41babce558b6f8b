//! Temporary files, which take their names when they are whole. A run that is killed leaves one behind; the next run in
//! the same folder removes it.

use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::time::Duration;
use tempfile::NamedTempFile;

const PREFIX: &str = ".host-tools-";
/// A younger one may be another run's that has not locked it yet.
const LEFT_BEHIND: Duration = Duration::from_secs(60);

/// A temporary file that ends up with the permissions of any new file, locked as long as it is written.
pub fn temporary(folder: &Path) -> io::Result<NamedTempFile> {
    remove_left_behind(folder);
    let mut builder = tempfile::Builder::new();
    builder.prefix(PREFIX);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    let file = builder.tempfile_in(folder)?;
    // Where there are no locks there is nothing to tell by whose it is.
    let _ = file.as_file().try_lock();
    Ok(file)
}

/// Removes what nobody writes any more: an old file whose lock is free. What cannot be removed stays.
fn remove_left_behind(folder: &Path) {
    let Ok(entries) = folder.read_dir() else { return };
    let is_ours = |entry: &fs::DirEntry| {
        entry.file_name().to_str().is_some_and(|name| name.starts_with(PREFIX))
            && entry.file_type().is_ok_and(|kind| kind.is_file())
    };
    for entry in entries.flatten().filter(is_ours) {
        let is_old = entry
            .metadata()
            .and_then(|metadata| metadata.modified())
            .is_ok_and(|modified| modified.elapsed().is_ok_and(|age| age >= LEFT_BEHIND));
        let path = entry.path();
        if is_old && File::open(&path).is_ok_and(|file| file.try_lock().is_ok()) {
            let _ = fs::remove_file(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{LEFT_BEHIND, PREFIX, temporary};
    use std::fs::File;
    use std::time::SystemTime;

    #[test]
    fn a_killed_runs_file_goes_and_a_living_ones_stays() {
        let folder = tempfile::tempdir().unwrap();
        let long_ago = SystemTime::now() - 2 * LEFT_BEHIND;
        let old = |name: &str| {
            let path = folder.path().join(name);
            let file = File::create(&path).unwrap();
            file.set_modified(long_ago).unwrap();
            (path, file)
        };
        let (left, _) = old(&format!("{PREFIX}left"));
        let (other, _) = old("others-file");
        let (young, _file) = (folder.path().join(format!("{PREFIX}young")), ());
        File::create(&young).unwrap();
        let writing = temporary(folder.path()).unwrap();
        writing.as_file().set_modified(long_ago).unwrap();
        assert!(!left.exists() && other.exists() && young.exists());
        drop(temporary(folder.path()).unwrap());
        assert!(writing.path().exists(), "one that is being written was removed");
    }
}
