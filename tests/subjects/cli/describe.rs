//! Descriptions printed, written, changed and given back.

use super::{description, host_tools, names};
use std::fs;
use tamis_quant::graph::description::Description;
use tamis_quant::import::importers::{NetworkArch, NetworkOptions, read_network};
use tests::graphs::Random;
use tests::maps::random_maps;
use tests::trials::Fixtures;

#[test]
fn a_description_and_its_tensors_are_the_network() {
    let mut random = Random(21);
    for _ in 0..5 {
        let graph = random_maps(&mut random);
        let folder = tempfile::tempdir().unwrap();
        let [net, text, tensors] =
            ["net.safetensors", "net.toml", "again.safetensors"].map(|name| folder.path().join(name));
        fs::write(&net, tamis_quant::import::tensors::export(&graph).unwrap()).unwrap();
        let printed = host_tools!("describe", net).fine();
        assert_eq!(printed.text(), Description::of(&graph).unwrap().0.to_toml());
        let ran = host_tools!("describe", net, "-o", text, "--tensors", tensors).fine();
        assert!(ran.text().contains("net.toml (description)"), "{}", ran.text());
        assert_eq!(fs::read_to_string(&text).unwrap(), printed.text());
        let arch = Some(NetworkArch::read(text.as_os_str()).unwrap());
        let options = NetworkOptions { arch, ..NetworkOptions::default() };
        assert_eq!(read_network(&tensors, &options).unwrap().graph, graph);
        let json = host_tools!("describe", net, "--json").fine().json();
        assert_eq!((&json["schema"], &json["description"]), (&"tamis-describe-1".into(), &printed.text().into()));
    }
}

#[test]
fn a_chain_is_described_and_files_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let (checkpoint, arch) = (tests::own("reference/digits.weights.bin"), description("digits"));
    let printed = host_tools!("describe", checkpoint, "--arch", arch).fine();
    assert!(printed.text().starts_with("graph = 1\nname = \"digits\"\n\n[input]\nkind = \"dense\"\nsize = 64\n"));
    let out = folder.path().join("digits.toml");
    host_tools!("describe", checkpoint, "--arch", arch, "-o", out).fine();
    let before = names(folder.path());
    let again = host_tools!("describe", checkpoint, "--arch", arch, "-o", out);
    assert!(again.status == 2 && again.stderr.contains("--force"), "{}", again.stderr);
    let same = host_tools!("describe", checkpoint, "--arch", arch, "-o", out, "--tensors", out);
    assert!(same.status == 2 && same.stderr.contains("is the description's file too"), "{}", same.stderr);
    let own = host_tools!("describe", checkpoint, "--arch", arch, "-o", arch, "--force");
    assert!(own.status == 2 && own.stderr.contains("is an input"), "{}", own.stderr);
    let nothing = host_tools!("describe", folder.path().join("none"));
    assert_eq!(nothing.status, 4, "{}", nothing.stderr);
    assert_eq!(names(folder.path()), before);
    let text = host_tools!("describe", "--help").fine();
    assert!(text.text().starts_with("Example: host-tools describe "), "{}", text.text());
}

/// Without `--tensors` a description belongs to the file that it was read from: its names, orders and normalizations
/// are as that has them, and given back it reads the same network.
#[test]
fn what_is_described_reads_its_own_file_again() {
    let folder = tempfile::tempdir().unwrap();
    let [square, text, again] = ["net.safetensors", "net.toml", "again.toml"].map(|name| folder.path().join(name));
    let mut random = Random(5);
    let values: Vec<f32> = (0..20).map(|_| random.real() as f32).collect();
    let header = r#"{"w": {"dtype": "F32", "shape": [4, 4], "data_offsets": [0, 64]},
                     "b": {"dtype": "F32", "shape": [4], "data_offsets": [64, 80]}}"#;
    let len = (header.len() as u64).to_le_bytes();
    let values: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    fs::write(&square, [&len[..], header.as_bytes(), &values].concat()).unwrap();
    let described = "graph = 1\nname = \"square\"\n[input]\nkind = \"dense\"\nsize = 4\n[[node]]\nname = \"fc\"\nop = \
                     \"linear\"\noutputs = 4\nweights = \"w\"\nbias = \"b\"\norder = \"in-out\"\n";
    fs::write(&text, described).unwrap();
    let keywords = tests::own("reference/keywords.safetensors");
    for (checkpoint, arch) in [(&square, text.clone()), (&keywords, tests::own("reference/keywords.toml"))] {
        host_tools!("describe", checkpoint, "--arch", arch, "-o", again, "--force").fine();
        let graph = |arch: &std::path::Path| {
            let arch = Some(NetworkArch::read(arch.as_os_str()).unwrap());
            read_network(checkpoint, &NetworkOptions { arch, ..NetworkOptions::default() }).unwrap().graph
        };
        assert_eq!(graph(&again), graph(&arch), "{}", fs::read_to_string(&again).unwrap());
    }
    // A network of accumulators is none of graphs.
    let (accumulators, arch) = super::reference();
    let ran = host_tools!("describe", accumulators, "--arch", arch);
    assert!(ran.status == 5 && ran.stderr.contains("network of accumulators"), "{}", ran.stderr);
}

#[test]
fn normalizations_are_gone_from_what_is_written(folder: Fixtures) {
    let checkpoint = folder.join("mlperf/kws_ckpt/kws_ckpt_torch.safetensors");
    let own = tempfile::tempdir().unwrap();
    let tensors = own.path().join("tensors");
    let words = description("kws_ckpt_torch");
    let printed = host_tools!("describe", checkpoint, "--arch", words, "--tensors", tensors).fine();
    assert!(!printed.text().contains("batch-normalization") && printed.text().contains("op = \"depthwise\""));
    let data = folder.join("mlperf/kws_ckpt/kws_ckpt.npz");
    let words = ["--input-unit", "0.5847029089927673", "--input-zero", "83", "--limit", "5"];
    let arch = description("kws_ckpt_torch");
    let paths = ["eval".as_ref(), checkpoint.as_os_str(), "--arch".as_ref(), arch.as_os_str(), "--inputs".as_ref()];
    let words = words.into_iter().map(std::ffi::OsStr::new);
    let ran = super::run(paths.into_iter().chain([data.as_os_str()]).chain(words)).fine();
    assert_eq!(ran.text().lines().count(), 5);
    assert!(ran.stderr.contains("correct 5 of 5") || ran.stderr.contains("correct 4 of 5"), "{}", ran.stderr);
}
