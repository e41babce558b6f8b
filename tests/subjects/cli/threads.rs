//! `--threads`: what comes out, reports, pages and containers, is the same bytes for any number of threads.

use super::{Ran, description, doctored, reference, reference_positions, run};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::Path;
use tests::own;
use tests::trials::Fixtures;

/// One, as many as there are processors somewhere, and more than there is work in a block's rest.
const COUNTS: [&str; 3] = ["1", "2", "9"];

/// Names and contents.
type Files = Vec<(String, Vec<u8>)>;

/// What a command prints and writes for every number of threads. `@` in an argument is a folder of the run's own.
fn alike<S: AsRef<OsStr>>(arguments: &[S]) -> Ran {
    let mut first: Option<(Ran, Files)> = None;
    for count in COUNTS {
        let folder = tempfile::tempdir().unwrap();
        let within = |argument: &S| match argument.as_ref().to_str().and_then(|text| text.strip_prefix('@')) {
            Some(name) => folder.path().join(name).into_os_string(),
            None => argument.as_ref().to_owned(),
        };
        let words = arguments.iter().map(within).chain(["--threads", count, "--json"].map(OsString::from));
        let words: Vec<OsString> = words.collect();
        let mut ran = run(&words);
        // A report names the file that it is about.
        let place = folder.path().to_str().unwrap();
        ran.stdout = ran.text().replace(place, "").into_bytes();
        ran.stderr = ran.stderr.replace(place, "");
        let files = contents(folder.path());
        match &first {
            None => first = Some((ran, files)),
            Some((wanted, written)) => {
                assert_eq!(ran.status, wanted.status, "{words:?}: {}", ran.stderr);
                assert_eq!(ran.text(), wanted.text(), "{words:?}");
                assert_eq!(ran.stderr, wanted.stderr, "{words:?}");
                assert!(files == *written, "{words:?}: files differ");
            }
        }
    }
    first.unwrap().0
}

fn contents(folder: &Path) -> Files {
    let read = |name: String| {
        let content = fs::read(folder.join(&name)).unwrap();
        (name, content)
    };
    super::names(folder).into_iter().map(read).collect()
}

/// Words and paths of one command.
macro_rules! words {
    ($($argument:expr),+ $(,)?) => { &[$(OsStr::new(&$argument).to_owned()),+] };
}

#[test]
fn networks_of_accumulators_come_out_alike() {
    let folder = tempfile::tempdir().unwrap();
    let (checkpoint, arch) = reference();
    let positions = reference_positions(folder.path());
    let model = folder.path().join("model.bin");
    run(words!("quantise", checkpoint, "--arch", arch, "-o", model)).fine();

    alike(words!("quantise", checkpoint, "--arch", arch, "--fit", positions, "-o", "@fitted.bin")).fine();
    // Not a whole number of blocks.
    for limit in ["1", "7", "1025", "2500"] {
        alike(words!("eval", model, "--positions", positions, "--limit", limit)).fine();
    }
    alike(words!("eval", model, "--positions", positions, "--limit", "300", "--buckets")).fine();
    alike(words!("eval", checkpoint, "--float", "--arch", arch, "--positions", positions, "--limit", "2000")).fine();
    let verify = words!(
        "verify",
        model,
        "--checkpoint",
        checkpoint,
        "--arch",
        arch,
        "--positions",
        positions,
        "--html",
        "@page.html"
    );
    let ran = alike(verify).fine();
    assert_eq!(ran.json()["truth"]["examples"], 4096);

    // Mistakes are looked for on all threads, too, and found the same.
    let other = doctored(folder.path());
    let ran = alike(words!("verify", model, "--checkpoint", other, "--arch", arch, "--positions", positions));
    assert_eq!(ran.status, 1, "{}", ran.stderr);
    let layers = (own("reference/layers.weights.bin"), description("reference-layers"));
    let quantise =
        words!("quantise", layers.0, "--arch", layers.1, "--fit", positions, "--fit-sweeps", "1", "-o", "@l");
    alike(quantise).fine();
}

#[test]
fn graphs_come_out_alike() {
    let folder = tempfile::tempdir().unwrap();
    // The inputs of keywords are bytes, which count sixteenths.
    for (name, unit) in [("digits", &[][..]), ("keywords", &["--input-unit", "0.0625"])] {
        let [checkpoint, arch, data] = ["safetensors", "toml", "reference.safetensors"]
            .map(|extension| own("reference").join(format!("{name}.{extension}")));
        let model = folder.path().join(name);
        let quantise = words!("quantise", checkpoint, "--arch", arch, "--calibrate", data, "--calibrate-limit", "40");
        let with_unit =
            |words: Vec<OsString>| words.into_iter().chain(unit.iter().map(OsString::from)).collect::<Vec<_>>();
        let quantise = with_unit(quantise.to_vec());
        for options in [&[][..], &["--activations", "i16"], &["--method", "percentile"], &["--no-bias-correction"]] {
            let more = options.iter().copied().chain(["-o", "@model.bin"]).map(OsString::from);
            alike(&quantise.iter().cloned().chain(more).collect::<Vec<_>>()).fine();
        }
        run(quantise.iter().chain(words!("-o", model)).cloned().collect::<Vec<_>>()).fine();
        alike(words!("eval", model, "--inputs", data, "--array", "inputs", "--limit", "70")).fine();
        alike(words!("eval", checkpoint, "--arch", arch, "--inputs", data, "--array", "inputs", "--limit", "70"))
            .fine();
        let verify = words!(
            "verify",
            model,
            "--checkpoint",
            checkpoint,
            "--arch",
            arch,
            "--inputs",
            data,
            "--array",
            "inputs",
            "--html",
            "@page.html"
        );
        alike(&with_unit(verify.to_vec())).fine();
    }
}

#[test]
fn what_cannot_be_read_is_named_alike() {
    let folder = tempfile::tempdir().unwrap();
    let (checkpoint, arch) = reference();
    let (model, lines) = (folder.path().join("model.bin"), folder.path().join("lines.txt"));
    run(words!("quantise", checkpoint, "--arch", arch, "-o", model)).fine();
    let good = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1\n";
    fs::write(&lines, format!("{}no position\n{good}nor this\n", good.repeat(1500))).unwrap();
    let ran = alike(words!("eval", model, "--fens", lines));
    assert!(ran.status != 0 && ran.stderr.contains("1501"), "{}", ran.stderr);
    let ran = run(words!("eval", model, "--fens", lines, "--threads", "0"));
    assert!(ran.status == 2 && ran.stderr.contains("--threads"), "{}", ran.stderr);
}

#[test]
fn noggin_and_mnist_come_out_alike(fixtures: Fixtures) {
    let folder = tempfile::tempdir().unwrap();
    let (raw, arch) = (fixtures.join("nnue/noggin/raw.bin"), description("noggin"));
    let (positions, model) = (fixtures.join("nnue/bullet/batch.bf"), folder.path().join("noggin.bin"));
    run(words!("quantise", raw, "--arch", arch, "-o", model)).fine();
    let ran = alike(words!("verify", model, "--checkpoint", raw, "--arch", arch, "--positions", positions)).fine();
    assert_eq!(ran.json()["truth"]["examples"], 16_273);

    let (net, images) = (fixtures.join("datacode/model_mnist.nn"), fixtures.join("mnist/t10k-images-idx3-ubyte.gz"));
    let unit = "0.00392156862745098";
    let quantise = words!(
        "quantise",
        net,
        "--calibrate",
        images,
        "--input-unit",
        unit,
        "--calibrate-limit",
        "2000",
        "-o",
        "@mnist.bin"
    );
    alike(quantise).fine();
}
