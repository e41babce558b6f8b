//! What a generated module says its network needs of the runtime's features: with those, and no others, the runtime
//! runs it, and without them it refuses the file.

use super::host_tools;
use crate::outsider::{cargo, try_cargo};
use std::fs;
use std::path::{Path, PathBuf};
use tests::own;

/// Features of builds, and what they imply.
const BUILDS: [(&str, &[&str]); 3] = [
    (r#""convolutions", "reals""#, &["Convolutions", "Reals"]),
    (r#""accumulators", "maps""#, &["Accumulators", "Convolutions", "Maps"]),
    (r#""general""#, &["Accumulators", "Reals", "General"]),
];

/// A line a file: whether it is opened, in the short way with the same bits; or which feature is asked for.
const PROGRAM: &str = r#"
use tamis_runtime::format::{Checked, Model, ParseError};
use tamis_runtime::signature::{Buffers, signature};
use tamis_runtime::{Plan, Workspace, kernels};

static CHECKED: Checked = Checked::new(0, &[]);

fn main() {
    let mut memory = Box::new(Workspace::<{ 1 << 18 }>::new());
    for path in std::env::args().skip(1) {
        let file = std::fs::read(path).unwrap();
        let place = &mut memory.as_mut().as_mut()[..file.len()];
        place.copy_from_slice(&file);
        match Model::parse(place) {
            Ok(model) => {
                let sum = model.header().checksum();
                let again = Model::parse_checked(place, Checked::new(sum, &[])).unwrap();
                assert_eq!(run(model), run(again));
                println!("opened");
                let error = Model::parse_checked(place, CHECKED).unwrap_err();
                assert_eq!(error, ParseError::Checksum { found: sum, expected: 0 });
                for at in [0, 8, 64, file.len() - 1] {
                    place[at] ^= 1;
                    assert!(Model::parse_checked(place, Checked::new(sum, &[])).is_err(), "byte {at}");
                    place[at] ^= 1;
                }
                for len in [0, 63, 64, file.len() - 64, file.len() - 1] {
                    assert!(Model::parse_checked(&place[..len], Checked::new(sum, &[])).is_err(), "{len} bytes");
                }
            }
            Err(ParseError::Feature { feature, .. }) => println!("{feature}"),
            Err(error) => println!("{error:?}"),
        }
    }
}

fn run(model: Model<'_>) -> u64 {
    let input = model.input();
    let [hidden, size, active] = [input.hidden, input.size, input.max_active].map(|len| len as usize);
    // Lists of features for accumulators, vectors, lists for layers.
    let (accumulators, bytes, words) = match input.kind {
        1 => (hidden, 0, 0),
        2 => (0, size, size),
        _ => (active, 0, active),
    };
    let [mut own, mut other, mut spare] = [vec![0; accumulators], vec![0; accumulators], vec![0; accumulators]];
    let mut workspace = Box::new(Workspace::<{ 1 << 18 }>::new());
    let buffers = Buffers {
        own: &mut own,
        other: &mut other,
        spare: &mut spare,
        bytes: &mut vec![0; bytes],
        words: &mut vec![0; words],
        workspace: &mut workspace.as_mut().as_mut()[..model.workspace_len_bytes()],
    };
    signature(&Plan::new(model, kernels::best()), buffers).unwrap()
}
"#;

/// The kept containers, among them one that needs `convolutions` alone, and what their modules say.
fn files(folder: &Path) -> Vec<(PathBuf, Vec<String>)> {
    let kept = fs::read_dir(own("fuzz/corpus/loader")).unwrap().map(|entry| entry.unwrap().path());
    let kept = kept.chain([own("../firmware-examples/programs/src/keywords.quantised.bin")]);
    let place = folder.join("model.bin");
    let module = folder.join("module.rs");
    let mut found: Vec<_> = kept
        .filter(|path| path.extension().is_some_and(|extension| extension == "bin"))
        .map(|path| {
            fs::copy(&path, &place).unwrap();
            host_tools!("codegen", place, "-o", module, "--force").fine();
            let text = fs::read_to_string(&module).unwrap();
            let (_, list) = text.split_once("NEEDS: &[Feature] = &[").unwrap();
            let (list, _) = list.split_once(']').unwrap();
            let names = list.split(", ").filter_map(|name| name.strip_prefix("Feature::")).map(str::to_owned);
            (path, names.collect())
        })
        .collect();
    found.sort();
    found
}

#[test]
fn a_build_runs_the_networks_whose_needs_it_has() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let files = files(folder);
    assert!(files.len() > 40, "{} containers are kept", files.len());
    assert!(files.iter().any(|(_, needs)| needs == &["Convolutions"]));
    fs::create_dir_all(folder.join("src")).unwrap();
    fs::write(folder.join("src/main.rs"), PROGRAM).unwrap();
    fs::copy(own("../Cargo.lock"), folder.join("Cargo.lock")).unwrap();
    let runtime = own("../runtime");
    let mut ran = [0; BUILDS.len()];
    for ((features, held), ran) in BUILDS.iter().zip(&mut ran) {
        let manifest = format!(
            "[package]\nname = \"needs\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[dependencies]\n\
             tamis-runtime = {{ path = {runtime:?}, default-features = false, features = [{features}] }}\n"
        );
        fs::write(folder.join("Cargo.toml"), manifest).unwrap();
        let paths: Vec<_> = files.iter().map(|(path, _)| path.to_str().unwrap()).collect();
        let printed = cargo(folder, &[&["run", "--quiet", "--offline", "--"], paths.as_slice()].concat());
        assert_eq!(printed.lines().count(), files.len());
        for ((path, needs), said) in files.iter().zip(printed.lines()) {
            let is_held = needs.iter().all(|need| held.contains(&need.as_str()));
            // With `general` there is another way to some of what `maps` has.
            let is_right = is_held == (said == "opened") || said == "opened" && held.contains(&"General");
            let says_which = said.bytes().all(|byte| byte.is_ascii_lowercase());
            assert!(is_right && says_which, "{}: needs {needs:?}, with [{features}]: {said}", path.display());
            *ran += usize::from(is_held);
        }
    }
    assert!(ran.iter().all(|count| *count > 0), "{ran:?}");
    refuses_to_compile(folder, &files);
}

/// A module in a program whose runtime lacks what its network needs.
fn refuses_to_compile(folder: &Path, files: &[(PathBuf, Vec<String>)]) {
    let (path, _) = files.iter().find(|(_, needs)| needs.iter().any(|need| need == "Maps")).expect("a network of maps");
    let place = folder.join("src/maps.bin");
    fs::copy(path, &place).unwrap();
    host_tools!("codegen", place, "-o", folder.join("src/main.rs"), "--force").fine();
    let said = try_cargo(folder, &["check", "--quiet", "--offline"]).unwrap_err();
    assert!(said.contains("the network needs tamis-runtime's feature `maps`"), "{said}");
}
