//! How the program looks: help that fits a screen, completions in three shells, terminals.

use super::{binary, host_tools, names, with_model};
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};
use tests::trials::{Need, tool};

const VERBS: [&str; 14] = [
    "quantise",
    "pack",
    "unpack",
    "inspect",
    "eval",
    "export",
    "describe",
    "codegen",
    "verify",
    "batches",
    "tiers",
    "demo",
    "completions",
    "man",
];
/// A screen.
const LINES: usize = 40;
const COLUMNS: usize = 80;

#[test]
fn every_help_fits_a_screen_and_the_rest_is_a_word_away() {
    for command in VERBS {
        for word in ["--help", "-h"] {
            let help = host_tools!(command, word).fine();
            let lines: Vec<&str> = help.text().lines().collect();
            assert!(lines.len() <= LINES, "{command} {word}: {} lines\n{}", lines.len(), help.text());
            let widest = lines.iter().max_by_key(|line| line.chars().count()).unwrap();
            assert!(widest.chars().count() <= COLUMNS, "{command} {word}: {widest}");
            assert!(help.text().contains("--help-all"), "{command}: {}", help.text());
            if !["tiers", "demo"].contains(&command) {
                let first = lines[0];
                assert!(first.starts_with("Example"), "{command}: {first}");
                assert!(
                    lines[..2].concat().contains(&format!("host-tools {command} ")),
                    "{command}: {:?}",
                    &lines[..2]
                );
            }
        }
    }
    let all = host_tools!("quantise", "--help-all").fine();
    for option in ["--no-equalise", "--sqnr-budget", "--separator", "--arch", "--input-zero"] {
        assert!(all.text().contains(option), "{option}: {}", all.text());
    }
    assert!(host_tools!("eval", "--help-all").fine().text().contains("LIST / LIST | BUCKET | SCORE"));
    let root = host_tools!("--help").fine();
    assert!(root.text().lines().count() <= LINES && root.text().contains("Exit status:"), "{}", root.text());
}

#[test]
fn manual_tiers_and_inspect() {
    let folder = tempfile::tempdir().unwrap();
    let pages = folder.path().join("man1");
    host_tools!("man", "-o", pages).fine();
    assert!(names(&pages).contains(&"host-tools-eval.1".to_owned()));
    // A page has all options.
    let page = fs::read_to_string(pages.join("host-tools-quantise.1")).unwrap();
    assert!(page.contains("sqnr\\-budget"), "{page}");
    assert!(host_tools!("tiers").fine().text().contains("own: the tier has a kernel for the operation"));
    let (_folder, model) = with_model();
    let inspected = host_tools!("inspect", model).fine();
    let last = inspected.text().lines().last().unwrap();
    assert!(last.contains("the claims in the file are those that its weights prove"), "{last}");
    assert!(inspected.text().contains("\ndescription:\n  schema = 1\n"), "{}", inspected.text());
}

/// What bash offers behind the words of a line, of which the last is not whole.
fn completed(script: &Path, line: &[&str]) -> String {
    let (last, before) = (line[line.len() - 1], line[line.len() - 2]);
    let text = format!(
        "source '{}'; COMP_WORDS=({}); COMP_CWORD={}; _host__tools host-tools '{last}' '{before}'; \
         echo \"${{COMPREPLY[*]}}\"",
        script.display(),
        line.join(" "),
        line.len() - 1
    );
    let output = Command::new("bash").args(["-c", &text]).output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

#[test]
fn bash_completes_verbs_and_their_options() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("completions");
    fs::write(&script, host_tools!("completions", "bash").fine().text()).unwrap();
    assert_eq!(completed(&script, &["host-tools", "quan"]), "quantise");
    assert_eq!(completed(&script, &["host-tools", "quantise", "--keep"]), "--keep-f32");
    assert_eq!(completed(&script, &["host-tools", "verify", "--chec"]), "--checkpoint");
    assert_eq!(completed(&script, &["host-tools", "unpack", "--for"]), "--force");
    assert_eq!(completed(&script, &["host-tools", "describe", "--ten"]), "--tensors");
    assert_eq!(completed(&script, &["host-tools", "eval", "--input-"]), "--input-unit --input-zero");
}

/// A shell that a machine may lack.
struct Fish;

impl Need for Fish {
    fn find(_: &'static str) -> Result<Self, String> {
        tool("fish").map(|()| Self)
    }
}

/// Another.
struct Zsh;

impl Need for Zsh {
    fn find(_: &'static str) -> Result<Self, String> {
        tool("zsh").map(|()| Self)
    }
}

#[test]
fn fish_completes_verbs_and_their_options(_fish: Fish) {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("host-tools.fish");
    fs::write(&script, host_tools!("completions", "fish").fine().text()).unwrap();
    for (line, expected) in [
        ("host-tools quan", "quantise"),
        ("host-tools quantise --keep", "--keep-f32"),
        ("host-tools pack --for", "--force"),
    ] {
        let text = format!("source '{}'; complete -C '{line}'", script.display());
        let output =
            Command::new("fish").args(["--no-config", "-c", &text]).env("HOME", folder.path()).output().unwrap();
        let offered = String::from_utf8(output.stdout).unwrap();
        let words: Vec<&str> = offered.lines().filter_map(|line| line.split('\t').next()).collect();
        assert_eq!(words, [expected], "{line}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

/// A line is typed in a terminal, completed with the tab key and entered; in place of the program a function says what
/// it was given.
#[test]
fn zsh_completes_verbs_and_their_options(_zsh: Zsh) {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().canonicalize().unwrap();
    fs::write(home.join("_host-tools"), host_tools!("completions", "zsh").fine().text()).unwrap();
    let startup = format!(
        "fpath=('{0}' $fpath)\nautoload -Uz compinit\ncompinit -u -d '{0}/dump'\n\
         host-tools() {{ print -r -- \"$*\" > '{0}/said.new'; mv '{0}/said.new' '{0}/said' }}\n",
        home.display()
    );
    fs::write(home.join(".zshrc"), startup).unwrap();
    for (line, expected) in [
        ("host-tools quan", "quantise"),
        ("host-tools quantise --keep", "quantise --keep-f32"),
        ("host-tools pack --for", "pack --force"),
    ] {
        let said = home.join("said");
        let _ = fs::remove_file(&said);
        let typed = format!(
            "zmodload zsh/zpty; zpty shell 'ZDOTDIR={0} TERM=xterm exec zsh -d -i'; zpty -w shell $'{line}\\t'; \
             for i in {{1..600}}; do zpty -r -t shell out; [[ -e {0}/said ]] && break; sleep 0.1; done; zpty -d shell",
            home.display()
        );
        let started = Instant::now();
        let output = Command::new("zsh").args(["-f", "-c", &typed]).output().unwrap();
        assert!(started.elapsed() < Duration::from_secs(90));
        let found = fs::read_to_string(&said).unwrap_or_default();
        assert_eq!(found.trim(), expected, "{line}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

/// util-linux's, which runs a command in a terminal of its own.
struct Script;

impl Need for Script {
    fn find(_: &'static str) -> Result<Self, String> {
        tool("script").map(|()| Self)
    }
}

#[test]
fn a_terminal_gets_colours_and_whole_words(_script: Script) {
    let (_folder, model) = with_model();
    let outputs = tests::own("reference/nnue.reference.safetensors");
    let program = binary();
    let command = format!(
        "stty cols 60 rows 24; {} verify {} --reference {} --limit 64",
        program.display(),
        model.display(),
        outputs.display()
    );
    let run = |no_colour: Option<&str>| {
        let mut script = Command::new("script");
        script.args(["-qec", &command, "/dev/null"]).env("TERM", "xterm").env_remove("NO_COLOR");
        if let Some(value) = no_colour {
            script.env("NO_COLOR", value);
        }
        let output = script.stdin(std::process::Stdio::null()).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let coloured = run(None);
    assert!(coloured.contains("\u{1b}[32mpassed\u{1b}[0m"), "{coloured:?}");
    let plain = run(Some("1"));
    assert!(plain.contains("passed") && !plain.contains("\u{1b}[32m"), "{plain:?}");
    for line in plain.lines().map(|line| line.trim_end_matches('\r')) {
        let is_long = line.chars().count() > 60;
        assert!(!is_long || !line.trim().contains(' '), "{line:?}");
    }
    // What is no terminal gets neither.
    let piped = host_tools!("verify", model, "--reference", outputs, "--limit", "64").fine();
    assert!(!piped.text().contains('\u{1b}'), "{}", piped.text());
    assert!(piped.text().lines().any(|line| line.chars().count() > 60));
}

#[test]
#[cfg(unix)]
fn a_file_does_not_go_to_a_closed_standard_output() {
    let (folder, model) = with_model();
    for (redirection, status) in [(">&-", 4), (">/dev/null", 0)] {
        let line = format!("{} unpack {} -o - {redirection}", binary().display(), model.display());
        let output = Command::new("sh").args(["-c", &line]).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(status), "{redirection}: {said}");
        assert_eq!(said.contains("it is closed"), status == 4, "{said}");
    }
    assert_eq!(names(folder.path()), ["model.bin"]);
}
