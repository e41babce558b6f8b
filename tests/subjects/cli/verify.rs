//! Reports, pages and gates of `verify`.

use super::{description, host_tools, names, reference, with_model};
use std::fs;
use tests::trials::Fixtures;

#[test]
fn the_reference_network_passes_against_its_framework_and_its_checkpoint() {
    let (folder, model) = with_model();
    let page = folder.path().join("report.html");
    let (checkpoint, arch) = reference();
    let outputs = tests::own("reference/nnue.reference.safetensors");
    let ran = host_tools!("verify", model, "--reference", outputs, "--html", page).fine();
    for words in ["reference: passed, on 4096 examples", "pytorch", "yes: every byte", "proved:", "none found"] {
        assert!(ran.text().contains(words), "{words}: {}", ran.text());
    }
    let first = fs::read(&page).unwrap();
    assert!(first.starts_with(b"<!DOCTYPE html>") && first.windows(4).any(|tag| tag == b"<svg"));
    host_tools!("verify", model, "--reference", outputs, "--html", page, "--force").fine();
    assert!(fs::read(&page).unwrap() == first, "the page's bytes differ from run to run");

    let both = ["--checkpoint".as_ref(), checkpoint.as_os_str(), "--arch".as_ref(), arch.as_os_str()];
    let json = host_tools!(
        "verify",
        model,
        both[0],
        both[1],
        both[2],
        both[3],
        "--reference",
        outputs,
        "--limit",
        "64",
        "--json"
    );
    let json = json.fine().json();
    assert_eq!(json["schema"], "tamis-verify-2");
    assert_eq!((&json["passed"], &json["truth"]["examples"]), (&true.into(), &64.into()));
    assert!(json["accuracy"]["causes"].as_array().unwrap().len() >= 4);
}

#[test]
fn gates_decide_the_exit_status() {
    let (folder, model) = with_model();
    let folder = folder.path();
    let outputs = tests::own("reference/nnue.reference.safetensors");
    let (strict, typo, page) = (folder.join("strict.toml"), folder.join("typo.toml"), folder.join("page.html"));
    fs::write(&strict, "max_error = 0.5\n").unwrap();
    fs::write(&typo, "max_eror = 0.5\n").unwrap();
    let ran = host_tools!("verify", model, "--reference", outputs, "--gates", strict, "--json");
    assert_eq!(ran.status, 1, "{}", ran.stderr);
    assert!(ran.stderr.contains("error: gate max_error"), "{}", ran.stderr);
    assert_eq!(ran.json()["passed"], false);

    let before = names(folder);
    for (ran, status, words) in [
        (host_tools!("verify", model, "--reference", outputs, "--gates", typo, "--html", page), 3, "typo.toml"),
        (host_tools!("verify", model, "--reference", model, "--html", page), 5, "safetensors"),
        (host_tools!("verify", model, "--reference", outputs, "--html", strict), 2, "exists already"),
        (host_tools!("verify", model, "--reference", folder.join("none"), "--html", page), 4, "none"),
        (host_tools!("verify", model, "--html", page), 2, "--checkpoint"),
        (
            host_tools!(
                "verify",
                model,
                "--reference",
                outputs,
                "--html",
                page,
                "--partial",
                folder.join("./page.html")
            ),
            2,
            "is the page's file too",
        ),
        (
            host_tools!("verify", model, "--reference", outputs, "--html", "-", "--partial", "-"),
            2,
            "is the page's file too",
        ),
        (
            host_tools!("verify", model, "--reference", outputs, "--json", "--partial", "-"),
            2,
            "both want standard output",
        ),
        (host_tools!("verify", model, "--checkpoint", model, "--html", page), 2, "--arch"),
        (host_tools!("verify", model, "--checkpoint", model, "--arch", description("reference")), 2, "is a container"),
    ] {
        assert_eq!(ran.status, status, "{words}: {}", ran.stderr);
        assert!(ran.stderr.contains(words), "{words}: {}", ran.stderr);
        assert_eq!(names(folder), before);
    }
    // A part on standard output is all that is there.
    let ran = host_tools!("verify", model, "--reference", outputs, "--partial", "-").fine();
    assert!(ran.stderr.contains("passed"), "{}", ran.stderr);
    let part = folder.join("part");
    fs::write(&part, &ran.stdout).unwrap();
    host_tools!("verify", model, "--merge", part).fine();
    let (checkpoint, arch) = reference();
    let ran = host_tools!("verify", model, "--checkpoint", checkpoint, "--arch", arch);
    assert_eq!(ran.status, 2, "{}", ran.stderr);
    assert!(ran.stderr.contains("--positions"), "{}", ran.stderr);
}

#[test]
fn the_digits_keep_their_accuracy() {
    let folder = tempfile::tempdir().unwrap();
    let (model, gates) = (folder.path().join("digits.bin"), folder.path().join("gates.toml"));
    let (weights, outputs) =
        (tests::own("reference/digits.weights.bin"), tests::own("reference/digits.reference.safetensors"));
    host_tools!("quantise", weights, "--arch", description("digits"), "-o", model).fine();
    fs::write(&gates, "max_accuracy_loss = 0.5\n").unwrap();
    let ran = host_tools!("verify", model, "--reference", outputs, "--gates", gates).fine();
    assert!(ran.text().contains("  right  "), "{}", ran.text());
}

#[test]
fn noggin_prints_its_published_figures(folder: Fixtures) {
    let folder = folder.join("nnue");
    let (raw, batch) = (folder.join("noggin/raw.bin"), folder.join("bullet/batch.bf"));
    let work = tempfile::tempdir().unwrap();
    let model = work.path().join("noggin.bin");
    let arch = description("noggin");
    host_tools!("quantise", raw, "--arch", arch, "--scales", "trainer", "-o", model).fine();
    let ran = host_tools!("verify", model, "--checkpoint", raw, "--arch", arch, "--positions", batch).fine();
    for words in ["on 16273 examples", "mean -5.16, sd 6.02, max 34.2", "0.064"] {
        assert!(ran.text().contains(words), "{words}: {}", ran.text());
    }
    // QB where QA·QB belongs.
    let wrong = work.path().join("wrong.toml");
    let text = fs::read_to_string(&arch).unwrap();
    fs::write(&wrong, text.replace("scale = 16320", "scale = 64")).unwrap();
    let ran =
        host_tools!("verify", model, "--checkpoint", raw, "--arch", wrong, "--positions", batch, "--limit", "500");
    assert_eq!(ran.status, 1, "{}", ran.text());
    assert!(ran.text().contains("WRONG SCALE: ") && ran.text().contains("l1b"), "{}", ran.text());
}
