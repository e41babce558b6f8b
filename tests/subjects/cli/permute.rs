//! `--permute` on the command line: the same evaluations, the trainer's bytes back, and a line about what it brings.

use super::{host_tools, names, reference, verified};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use tests::draft::Draft;
use tests::pairs;

const PAIRS: usize = 32;

/// A checkpoint, its description and positions.
struct Trained {
    checkpoint: PathBuf,
    arch: PathBuf,
    positions: PathBuf,
}

fn trained(folder: &Path) -> Trained {
    let [checkpoint, arch, positions] = ["raw.bin", "pairs.toml", "positions.bf"].map(|name| folder.join(name));
    fs::write(&checkpoint, pairs::raw(PAIRS)).unwrap();
    fs::write(&arch, pairs::description(PAIRS)).unwrap();
    let records: Vec<u8> = pairs::positions(300).iter().flat_map(|position| position.to_record()).collect();
    fs::write(&positions, records).unwrap();
    Trained { checkpoint, arch, positions }
}

#[test]
fn a_permuted_container_is_the_same_network() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let Trained { checkpoint, arch, positions } = trained(folder);
    let [bare, plain, packed, again, quantised, back, chosen, moved] =
        ["bare", "plain", "packed", "again", "quantised", "back", "chosen", "moved"].map(|name| folder.join(name));
    host_tools!("quantise", checkpoint, "--arch", arch, "--form", "bare", "-o", bare).fine();
    host_tools!("quantise", checkpoint, "--arch", arch, "--scales", "trainer", "-o", plain).fine();

    let ran = host_tools!("pack", bare, "--arch", arch, "--permute", positions, "-o", packed).fine();
    let line = "neurons permuted: non-zero four-blocks 100.0 % -> 25.0 % on 150 positions, chosen on 150 others";
    assert!(ran.text().contains(line), "{}", ran.text());
    host_tools!("pack", bare, "--arch", arch, "--permute", positions, "-o", again).fine();
    assert!(fs::read(&packed).unwrap() == fs::read(&again).unwrap(), "not the same bytes twice");
    host_tools!("unpack", packed, "-o", back).fine();
    assert!(fs::read(&back).unwrap() == fs::read(&bare).unwrap(), "the bare file does not come back");

    let arguments = ["--permute-limit", "100", "--scales", "trainer", "--json"].map(OsStr::new);
    let command = [OsStr::new("quantise"), checkpoint.as_os_str(), OsStr::new("--arch"), arch.as_os_str()];
    let permute = [OsStr::new("--permute"), positions.as_os_str(), OsStr::new("-o"), quantised.as_os_str()];
    let json = super::run(command.into_iter().chain(permute).chain(arguments)).fine().json();
    assert_eq!(json["permutation"]["nonzero_blocks_before"], 1.0);
    assert_eq!(json["permutation"]["nonzero_blocks_after"], 0.25);
    for (key, value) in [("chosen_on", 50), ("measured_on", 50), ("pairs", PAIRS)] {
        assert_eq!(json["permutation"][key], value, "{key}");
    }

    let evaluations = |model: &Path| host_tools!("eval", model, "--positions", positions).fine().stdout;
    // The same with scales that are chosen.
    host_tools!("quantise", checkpoint, "--arch", arch, "-o", chosen).fine();
    host_tools!("quantise", checkpoint, "--arch", arch, "--permute", positions, "-o", moved).fine();
    for (model, plain) in [(&packed, &plain), (&quantised, &plain), (&moved, &chosen)] {
        assert_eq!(evaluations(model), evaluations(plain));
        let ran = verified(model, [&checkpoint, &arch, &positions]);
        let report = ran.json();
        assert_eq!(report["runtime"]["equal"], true, "{}", ran.stderr);
        assert_eq!(report["proof"]["claims_hold"], true);
    }
    let inspected = host_tools!("inspect", packed).fine();
    assert!(inspected.text().contains("neurons    permuted: "), "{}", inspected.text());
    assert!(inspected.text().contains("l0w.permutation"), "{}", inspected.text());
    let plainly = host_tools!("inspect", plain, "--json").fine().json();
    assert!(plainly["permutation"].is_null());
}

#[test]
fn what_cannot_be_permuted_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let Trained { checkpoint, arch, positions } = trained(folder);
    let [one, cut, bad] = ["one.bf", "cut.bf", "bad.bf"].map(|name| folder.join(name));
    let mut records = fs::read(&positions).unwrap();
    fs::write(&one, &records[..32]).unwrap();
    fs::write(&cut, &records[..40]).unwrap();
    records[7 * 32 + 26] = 9;
    fs::write(&bad, &records[..16 * 32]).unwrap();
    let before = names(folder);
    let out = folder.join("out");
    let (other, other_arch) = reference();
    let missing = folder.join("missing.bf");
    let cases = [
        (host_tools!("quantise", checkpoint, "--arch", arch, "--permute", one, "-o", out), 2, "at least 2"),
        (host_tools!("quantise", checkpoint, "--arch", arch, "--permute", cut, "-o", out), 3, "cut.bf: 40 bytes"),
        (host_tools!("quantise", checkpoint, "--arch", arch, "--permute", bad, "-o", out), 3, "bad.bf: record 7"),
        (host_tools!("quantise", checkpoint, "--arch", arch, "--permute", missing, "-o", out), 4, "missing.bf"),
        (
            host_tools!("quantise", checkpoint, "--arch", arch, "--form", "bare", "--permute", positions, "-o", out),
            2,
            "trainer's order",
        ),
        (
            host_tools!("quantise", other, "--arch", other_arch, "--permute", positions, "-o", out),
            5,
            "`l1w` holds i16 weights behind screlu",
        ),
        (host_tools!("quantise", checkpoint, "--arch", arch, "--permute-limit", "9", "-o", out), 2, "--permute"),
        (
            host_tools!(
                "quantise",
                checkpoint,
                "--arch",
                arch,
                "--permute",
                positions,
                "--permute-limit",
                "1",
                "-o",
                out
            ),
            2,
            "2..=16384",
        ),
        (
            host_tools!("quantise", checkpoint, "--arch", arch, "--permute", positions, "--force", "-o", positions),
            2,
            "is an input",
        ),
    ];
    for (ran, status, words) in cases {
        assert_eq!(ran.status, status, "{}", ran.stderr);
        assert!(ran.stderr.contains(words) && !ran.stderr.contains("panicked"), "`{words}`: {}", ran.stderr);
    }
    assert_eq!(names(folder), before, "something was written");
}

#[test]
fn a_file_whose_order_is_none_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let Trained { checkpoint, arch, positions } = trained(folder);
    let [model, lying, out] = ["model", "lying", "out"].map(|name| folder.join(name));
    host_tools!("quantise", checkpoint, "--arch", arch, "--permute", positions, "-o", model).fine();
    let mut draft = Draft::read(tamis_quant::run::AlignedBytes::copy_of(&fs::read(&model).unwrap()).as_ref());
    let (_, order) = draft.tensors.last_mut().unwrap();
    order[..4].copy_from_slice(&99i32.to_le_bytes());
    fs::write(&lying, draft.bytes().as_ref()).unwrap();
    for ran in [
        host_tools!("inspect", lying),
        host_tools!("unpack", lying, "-o", out),
        host_tools!("verify", lying, "--checkpoint", checkpoint, "--arch", arch, "--positions", positions),
    ] {
        assert_eq!(ran.status, 3, "{}", ran.stderr);
        let words = "lying: tensor `l0w.permutation`: entry 0 is 99; each of 0 to 31 must occur once";
        assert!(ran.stderr.contains(words), "{}", ran.stderr);
    }
    assert!(!out.exists());
}
