//! What bad input gets: a message that names the file, a fitting exit status, and nothing written.

use super::{Ran, description, host_tools, names, reference, tiny, with_model};
use std::fs;
use std::path::Path;

/// Ended with this status, said these words, and left the folder as it was.
fn refused(ran: &Ran, status: i32, words: &[&str], folder: &Path, before: &[String]) {
    assert_eq!(ran.status, status, "{}", ran.stderr);
    for word in words {
        assert!(ran.stderr.contains(word), "`{word}` is missing: {}", ran.stderr);
    }
    assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
    assert_eq!(names(folder), before, "something was written");
}

#[test]
fn containers_that_are_none() {
    let (folder, model) = with_model();
    let folder = folder.path();
    let whole = fs::read(&model).unwrap();
    let mut flipped = whole.clone();
    flipped[whole.len() / 2] ^= 0x10;
    let mut newer = whole.clone();
    newer[12] = 9;
    let longer = [whole.as_slice(), &[0; 64]].concat();
    let cases: [(&str, &[u8], i32, &[&str]); 8] = [
        ("empty", &[], 3, &["empty: 0 bytes", "empty or truncated", "help:"]),
        ("short", &whole[..20], 3, &["20 bytes", "128"]),
        ("truncated", &whole[..whole.len() - 64], 3, &["truncated", &whole.len().to_string()]),
        ("longer", &longer, 3, &["too long"]),
        ("flipped", &flipped, 3, &["checksum", "damaged"]),
        ("newer", &newer, 5, &["version 9", "version 1"]),
        ("foreign", b"\x7fELF and then something else", 3, &["7f 45 4c 46", "host-tools pack"]),
        ("text", b"# a text, and not a network at all\n", 3, &["starts with"]),
    ];
    for (name, bytes, ..) in cases {
        fs::write(folder.join(name), bytes).unwrap();
    }
    let before = names(folder);
    let out = folder.join("out");
    for (name, _, status, words) in cases {
        let path = folder.join(name);
        let words = [words, &[name]].concat();
        refused(&host_tools!("inspect", path), status, &words, folder, &before);
        refused(&host_tools!("unpack", path, "-o", out), status, &words, folder, &before);
        refused(&host_tools!("eval", path, "--fen", "4k3/8/8/8/8/8/8/4K3 w"), status, &words, folder, &before);
    }
    let missing = folder.join("missing");
    refused(&host_tools!("inspect", missing), 4, &["missing: cannot read", "help:"], folder, &before);
    refused(&host_tools!("inspect", folder), 2, &["not a file"], folder, &before);
}

/// Files of other systems are named, wherever a network is read, with the way to one that is read.
#[test]
fn files_of_other_systems_are_named() {
    let (folder, model) = with_model();
    let folder = folder.path();
    let zip = |name: &str| {
        let len = u16::try_from(name.len()).unwrap().to_le_bytes();
        [b"PK\x03\x04".as_slice(), &[0; 22], &len, &[0; 2], name.as_bytes(), &[0; 64]].concat()
    };
    let filled = |start: &[u8]| [start, &[1; 200]].concat();
    let (torch, keras) = (zip("net/data.pkl"), zip("metadata.json"));
    for (name, bytes, words) in [
        ("net.h5", filled(b"\x89HDF\r\n\x1a\n"), ["an HDF5 file", "keras.models.load_model"]),
        ("net.keras", keras, ["a Keras model", "keras.models.load_model"]),
        ("net.pt", torch, ["a PyTorch checkpoint", "save_file"]),
        ("net.pkl", filled(b"\x80\x04\x95"), ["a Python pickle", "save_file"]),
        ("net.gz", filled(b"\x1f\x8b\x08"), ["compressed with gzip", "gzip -d"]),
        ("net.zst", filled(b"\x28\xb5\x2f\xfd"), ["compressed with zstd", "zstd -d"]),
        ("net.gguf", filled(b"GGUF\x03"), ["a GGUF model", "dense or sparse"]),
        ("net.xz", filled(b"\xFD7zXZ\0"), ["compressed with xz", "xz -d"]),
        ("net.bz2", filled(b"BZh91AY&SY"), ["compressed with bzip2", "bzip2 -d"]),
        ("net.lz4", filled(b"\x04\x22\x4D\x18"), ["compressed with lz4", "lz4 -d"]),
        ("cat.png", filled(b"\x89PNG\r\n\x1a\n"), ["a PNG picture", "numpy.stack"]),
        ("cat.jpg", filled(b"\xff\xd8\xff\xe0"), ["a JPEG picture", "numpy.stack"]),
        ("cat.gif", filled(b"GIF89a"), ["a GIF picture", "numpy.stack"]),
        ("yes.wav", filled(b"RIFF\x24\x7d\x00\x00WAVE"), ["a sound file", "numpy.savez"]),
        ("rows.parquet", filled(b"PAR1"), ["a Parquet table", "read_parquet"]),
    ] {
        let path = folder.join(name);
        fs::write(&path, bytes).unwrap();
        let (before, out) = (names(folder), folder.join("out"));
        let words = [name, words[0], words[1]];
        let arch = description("reference");
        refused(&host_tools!("quantise", path, "-o", out), 5, &words, folder, &before);
        refused(&host_tools!("quantise", path, "--arch", arch, "-o", out), 5, &words, folder, &before);
        refused(&host_tools!("pack", path, "--arch", arch, "-o", out), 5, &words, folder, &before);
        refused(&host_tools!("inspect", path), 5, &words, folder, &before);
        refused(&host_tools!("eval", path, "--fen", "4k3/8/8/8/8/8/8/4K3 w"), 5, &words, folder, &before);
        refused(&host_tools!("verify", model, "--checkpoint", path, "--arch", arch), 5, &words, folder, &before);
        // And wherever something else than a network is.
        refused(&host_tools!("eval", model, "--positions", path), 5, &words, folder, &before);
        refused(&host_tools!("eval", model, "--fens", path), 5, &words, folder, &before);
        let (checkpoint, graph) = (reference().0, tests::own("reference/digits.safetensors"));
        refused(&host_tools!("quantise", checkpoint, "--arch", path, "-o", out), 5, &words, folder, &before);
        let arch = tests::own("reference/digits.toml");
        if words[2].contains("numpy") || words[2].contains("parquet") {
            let ran = host_tools!("quantise", graph, "--arch", arch, "--calibrate", path, "-o", out);
            refused(&ran, 5, &words, folder, &before);
        }
    }
}

/// A table as text is no file of examples, and one line makes one of it.
#[test]
fn a_table_of_commas_says_how_it_becomes_an_array() {
    let folder = tempfile::tempdir().unwrap();
    let (table, out) = (folder.path().join("rows.csv"), folder.path().join("out"));
    let [graph, arch] = ["digits.safetensors", "digits.toml"].map(|name| tests::own("reference").join(name));
    for text in ["a,b\n1,2\n", "0.5,1.5\n0.25,1\n"] {
        fs::write(&table, text).unwrap();
        let before = names(folder.path());
        let ran = host_tools!("quantise", graph, "--arch", arch, "--calibrate", table, "-o", out);
        refused(&ran, 3, &["rows.csv", "none of idx, npy", "numpy.loadtxt"], folder.path(), &before);
    }
}

/// An operation that exists elsewhere is no misspelling.
#[test]
fn other_activations_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let (raw, arch) = tiny(folder, 0.5);
    let text = fs::read_to_string(&arch).unwrap();
    let start = text.find("activation = \"").unwrap() + "activation = \"".len();
    let end = start + text[start..].find('"').unwrap();
    fs::write(&arch, format!("{}gelu{}", &text[..start], &text[end..])).unwrap();
    let before = names(folder);
    let ran = host_tools!("quantise", raw, "--arch", arch, "-o", folder.join("out"));
    refused(&ran, 5, &["`gelu` is not supported; there are", "`screlu`"], folder, &before);
    assert!(!ran.stderr.contains("did you mean"), "{}", ran.stderr);
}

#[test]
#[cfg(unix)]
fn what_is_overwritten_keeps_its_mode_and_links_in_a_circle_are_refused() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let (raw, arch) = tiny(folder, 0.5);
    let out = folder.join("out");
    host_tools!("quantise", raw, "--arch", arch, "-o", out).fine();
    fs::set_permissions(&out, fs::Permissions::from_mode(0o600)).unwrap();
    host_tools!("quantise", raw, "--arch", arch, "-o", out, "--force").fine();
    assert_eq!(fs::metadata(&out).unwrap().permissions().mode() & 0o777, 0o600);
    symlink(folder.join("b"), folder.join("a")).unwrap();
    symlink(folder.join("a"), folder.join("b")).unwrap();
    let before = names(folder);
    let ran = host_tools!("quantise", raw, "--arch", arch, "-o", folder.join("a"), "--force");
    refused(&ran, 4, &["a: cannot write"], folder, &before);
}

#[test]
fn checkpoints_and_descriptions_that_do_not_fit() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let (raw, arch) = tiny(folder, 0.5);
    let whole = fs::read(&raw).unwrap();
    let with = |index: usize, value: f32| {
        let mut bytes = whole.clone();
        bytes[4 * index..][..4].copy_from_slice(&value.to_le_bytes());
        bytes
    };
    for (name, bytes) in [
        ("empty", Vec::new()),
        ("cut", whole[..30].to_vec()),
        ("nan", with(3, f32::NAN)),
        ("large", with(3, 1000.0)),
        ("garbage", vec![0xAA; 4096]),
    ] {
        fs::write(folder.join(name), bytes).unwrap();
    }
    fs::create_dir(folder.join("folder")).unwrap();
    // Costs no disk, and would not fit a container's lengths.
    fs::File::create(folder.join("huge")).unwrap().set_len(5 << 30).unwrap();
    let text = fs::read_to_string(&arch).unwrap();
    fs::write(folder.join("key.toml"), text.replace("max_active", "max_actve")).unwrap();
    fs::write(folder.join("schema.toml"), text.replace("schema = 1", "schema = 2")).unwrap();
    fs::write(folder.join("binary.toml"), [0xFF, 0xFE, 0]).unwrap();
    let before = names(folder);
    let out = folder.join("out");
    let quantise = |checkpoint: &str, arch: &str| {
        host_tools!("quantise", folder.join(checkpoint), "--arch", folder.join(arch), "-o", out)
    };
    for (checkpoint, status, words) in [
        ("empty", 3, ["empty"].as_slice()),
        ("cut", 3, &["30 bytes", "l0w", "the file ends at byte"]),
        ("nan", 3, &["`l0w`, index 3", "output 1, input 1", "NaN is not a finite number"]),
        ("large", 3, &["`l0w`", "index 3", "1000 · 255 = 255000", "-32768 to 32767"]),
        ("garbage", 3, &["4096 bytes"]),
        ("huge", 5, &["5368709120 bytes"]),
        ("missing", 4, &["missing", "cannot read"]),
        ("folder", 2, &["holds neither"]),
    ] {
        refused(&quantise(checkpoint, "tiny.toml"), status, words, folder, &before);
    }
    for (arch, status, words) in [
        ("key.toml", 3, ["key.toml:7", "unknown key `max_actve`", "did you mean `max_active`?"].as_slice()),
        ("schema.toml", 5, &["schema 2"]),
        ("binary.toml", 3, &["UTF-8"]),
        ("missing.toml", 4, &["missing.toml"]),
    ] {
        refused(&quantise("raw.bin", arch), status, words, folder, &before);
    }
    let wrong = host_tools!("pack", raw, "--arch", arch, "-o", out);
    refused(&wrong, 5, &["raw.bin", "host-tools quantise"], folder, &before);
}

#[test]
fn a_network_without_a_proof_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    // 255 · 100 = 25500: two of four features leave i16.
    let (raw, arch) = tiny(folder, 100.0);
    let before = names(folder);
    let out = folder.join("out");
    let words = ["`tiny`", "tensor `l0w`, row 1", "can reach", "32767", "witness: features", "--unproved"];
    for form in ["container", "bare"] {
        let ran = host_tools!("quantise", raw, "--arch", arch, "--scales", "trainer", "--form", form, "-o", out);
        refused(&ran, 1, &words, folder, &before);
    }
    let ran = host_tools!("quantise", raw, "--arch", arch, "--scales", "trainer", "-o", out, "--unproved", "--json");
    assert_eq!(ran.fine().json()["proof"]["holds"], false);
    // Scales that are chosen are smaller, and proved.
    let json = host_tools!("quantise", raw, "--arch", arch, "-o", out, "--force", "--json").fine().json();
    assert_eq!(
        (&json["proof"]["holds"], &json["scales"]["chosen"]["form"]),
        (&true.into(), &"rounded".into()),
        "{json}"
    );
    assert!(json["scales"]["chosen"]["scales"][0].as_u64().unwrap() < 255, "{json}");
}

#[test]
fn requests_that_do_not_fit_together() {
    let (folder, model) = with_model();
    let folder = folder.path();
    let (checkpoint, arch) = reference();
    let bare = folder.join("bare.bin");
    host_tools!("unpack", model, "-o", bare).fine();
    let before = names(folder);
    let out = folder.join("out");
    let kings = "4k3/8/8/8/8/8/8/4K3 w";
    let check = |ran: Ran, status: i32, words: &[&str]| refused(&ran, status, words, folder, &before);

    check(host_tools!("eval", model, "--fen", kings, "--tier", "abacus"), 2, &["abacus", "scalar", "wide"]);
    check(host_tools!("inspect", model, "--tier", "abacus"), 2, &["abacus", "scalar"]);
    check(host_tools!("quantise", checkpoint, "--arch", arch, "-o", model), 2, &["exists already", "--force"]);
    check(host_tools!("quantise", checkpoint, "--arch", arch, "-o", folder, "--force"), 2, &["not a file"]);
    check(host_tools!("quantise", bare, "--arch", arch, "-o", out), 2, &["host-tools pack"]);
    check(host_tools!("quantise", model, "--arch", arch, "-o", out), 2, &["is a container already"]);
    check(host_tools!("pack", model, "--arch", arch, "-o", out), 2, &["is a container already"]);
    check(host_tools!("quantise", checkpoint, "--arch", arch, "-o", "-", "--json"), 2, &["standard output"]);
    check(host_tools!("eval", bare, "--fen", kings), 3, &["host-tools pack"]);
    check(host_tools!("eval", model), 2, &["--fen"]);
    check(host_tools!("eval", model, "--fen", kings, "--float"), 2, &["--arch"]);
    check(host_tools!("eval", model, "--fen", "8/8/8/8/8/8/8/8 w"), 3, &["0 kings"]);
    check(host_tools!("nonsense"), 2, &["nonsense"]);
    check(host_tools!("pack", bare, "--arch", arch, "-o", folder.join("no/such/out")), 4, &["cannot write"]);
    check(host_tools!("pack", bare, "--arch", description("digits"), "-o", out), 3, &["bytes"]);

    host_tools!("quantise", checkpoint, "--arch", arch, "-o", model, "--force").fine();
}

#[test]
fn positions_that_are_none_are_named_by_line_and_record() {
    let (folder, model) = with_model();
    let folder = folder.path();
    let (fens, records, partial) = (folder.join("fens"), folder.join("records"), folder.join("partial"));
    fs::write(&fens, "4k3/8/8/8/8/8/8/4K3 w\nnonsense\n").unwrap();
    fs::write(&records, [[0xFF; 16], [0; 16]].concat()).unwrap();
    fs::write(&partial, [0; 33]).unwrap();
    let before = names(folder);
    refused(&host_tools!("eval", model, "--fens", fens), 3, &["fens: line 2"], folder, &before);
    refused(&host_tools!("eval", model, "--positions", records), 3, &["records: record 0"], folder, &before);
    refused(&host_tools!("eval", model, "--positions", partial), 3, &["33 bytes"], folder, &before);
    host_tools!("eval", model, "--fens", fens, "--limit", "1").fine();

    let digits = folder.join("digits.bin");
    let weights = tests::own("reference/digits.weights.bin");
    host_tools!("quantise", weights, "--arch", description("digits"), "-o", digits).fine();
    let ran = host_tools!("eval", digits, "--fen", "4k3/8/8/8/8/8/8/4K3 w");
    assert_eq!(ran.status, 2, "{}", ran.stderr);
    assert!(ran.stderr.contains("a graph takes examples, not positions") && ran.stdout.is_empty(), "{}", ran.stderr);
}

#[test]
fn long_files_are_refused_before_they_are_read() {
    let (folder, model) = with_model();
    let folder = folder.path();
    let (checkpoint, arch) = reference();
    // Sparse: 3 GiB that cost no disk, and would cost the memory if they were read.
    let sparse = |name: &str| {
        let path = folder.join(name);
        fs::File::create(&path).unwrap().set_len(3 << 30).unwrap();
        path
    };
    let (long, positions, line) = (sparse("long"), sparse("raw.bin"), folder.join("line.toml"));
    fs::write(&line, format!("{} = 1\n", "x".repeat(500_000))).unwrap();
    let key = folder.join("key.toml");
    fs::write(
        &key,
        fs::read_to_string(&arch).unwrap().replace("schema = 1", &format!("schema = 1\n{} = 1", "x".repeat(500_000))),
    )
    .unwrap();
    let before = names(folder);
    let out = folder.join("out");
    let check = |ran: Ran, status: i32, words: &[&str]| {
        assert!(ran.stderr.len() < 4000, "{} bytes", ran.stderr.len());
        refused(&ran, status, words, folder, &before);
    };
    let outputs = tests::own("reference/nnue.reference.safetensors");
    let limit = ["3221225472 bytes", "at most 1048576 are read"];
    check(host_tools!("verify", model, "--reference", outputs, "--gates", long), 5, &limit);
    check(host_tools!("quantise", checkpoint, "--arch", long, "-o", out), 5, &limit);
    check(host_tools!("eval", model, "--fens", long), 5, &["at most 268435456 are read"]);
    check(host_tools!("verify", model, "--reference", long), 5, &["at most 1073741824 are read"]);
    check(host_tools!("verify", model, "--reference", outputs, "--gates", line), 3, &["line.toml", "xxx … xxx"]);
    check(host_tools!("quantise", checkpoint, "--arch", key, "-o", out), 3, &["key.toml", "xxx…"]);
    check(host_tools!("quantise", long, "--arch", arch, "-o", out), 3, &["not recognised as", "3221225472 bytes"]);
    check(host_tools!("quantise", positions, "--arch", arch, "-o", out), 3, &["raw.bin: 3221225472 bytes"]);
    check(host_tools!("pack", long, "--arch", arch, "-o", out), 3, &["not recognised as", "quantised.bin 201024"]);
    check(host_tools!("pack", arch, "--arch", arch, "-o", out), 3, &["not recognised as"]);
    check(host_tools!("pack", checkpoint, "--arch", arch, "-o", out), 5, &["weights.bin", "host-tools quantise"]);
    check(host_tools!("pack", folder, "--arch", arch, "-o", out), 2, &["is a directory, expected a file"]);
    check(host_tools!("quantise", checkpoint, "--arch", folder, "-o", out), 2, &["is a directory, expected a file"]);

    // Five GiB of positions, of which one is read.
    let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
    let record = tamis_quant::positions::Position::from_fen(start).unwrap().to_record();
    fs::write(&long, record).unwrap();
    fs::OpenOptions::new().write(true).open(&long).unwrap().set_len(5 << 30).unwrap();
    let one = host_tools!("eval", model, "--positions", long, "--limit", "1").fine();
    assert_eq!(one.text(), host_tools!("eval", model, "--fen", start).fine().text());
    check(host_tools!("eval", model, "--positions", long), 5, &["--limit"]);
    check(host_tools!("eval", model, "--positions", long, "--limit", "2"), 3, &["record 1"]);
}

#[test]
fn an_input_is_never_the_output() {
    let (folder, model) = with_model();
    let folder = folder.path();
    let (raw, arch) = tiny(folder, 0.5);
    let page = folder.join("page.toml");
    fs::write(&page, "max_error = -1.0\n").unwrap();
    let (model_bytes, raw_bytes) = (fs::read(&model).unwrap(), fs::read(&raw).unwrap());
    let before = names(folder);
    let check = |ran: Ran, status: i32, words: &[&str]| refused(&ran, status, words, folder, &before);
    let words = ["is an input"];
    check(host_tools!("unpack", model, "-o", folder.join("./model.bin"), "--force"), 2, &words);
    check(host_tools!("quantise", raw, "--arch", arch, "-o", arch, "--force"), 2, &words);
    check(host_tools!("quantise", folder, "--arch", arch, "-o", raw, "--force"), 2, &words);
    check(host_tools!("pack", raw, "--arch", arch, "-o", raw, "--force"), 2, &words);
    let outputs = tests::own("reference/nnue.reference.safetensors");
    check(host_tools!("verify", model, "--reference", outputs, "--gates", page, "--html", page, "--force"), 2, &words);
    check(host_tools!("verify", model, "--reference", outputs, "--gates", page), 3, &["page.toml", "max_error = -1"]);
    let nothing = host_tools!("verify", model, "--reference", outputs, "--limit", "0");
    assert!(!nothing.stderr.contains("model.bin"), "{}", nothing.stderr);
    check(nothing, 2, &["--limit 0"]);
    let missing = host_tools!("unpack", model, "-o", folder.join("no/out"));
    assert!(!missing.stderr.contains(".host-tools-"), "{}", missing.stderr);
    check(missing, 4, &["no/out: cannot write: No such file"]);
    assert!(fs::read(&model).unwrap() == model_bytes && fs::read(&raw).unwrap() == raw_bytes);
}

#[test]
fn errors_are_json_too() {
    for (ran, status) in
        [(host_tools!("inspect", "/no/such/file", "--json"), 4), (host_tools!("--json", "nonsense"), 2)]
    {
        assert_eq!(ran.status, status);
        let json = ran.json();
        assert_eq!(json["schema"], "tamis-error-1");
        assert_eq!(json["status"], status);
        assert!(!json["message"].as_str().unwrap().is_empty() && !ran.stderr.is_empty());
    }
}
