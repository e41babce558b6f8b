//! The table of proofs in VERIFICATION.md: of every network of the fixtures and of the repository, what its bounds use
//! of their types, and which bound proves it, or why none does.
//!
//! `TAMIS_BLESS=1` writes the table anew.

use std::path::Path;
use tamis_quant::import::read_bytes;
use tamis_quant::program::{Lists, Program};
use tamis_quant::proof::{Proof, Quantity, Violation, Witness, prove};
use tamis_quant::quantise::quantise;
use tamis_quant::stockfish;
use tests::stockfish::SMALL_NET;
use tests::trained::{BARE, FLOAT, bare, checkpoint_path};
use tests::trials::Fixtures;
use tests::{architecture, narrow, own};

const HEADING: &str = "## Proofs";

fn programs(fixtures: &Path) -> Vec<(String, Program)> {
    let bare = BARE.map(|(name, _)| (name.to_owned(), bare(fixtures, name).lower().unwrap()));
    let float = FLOAT.map(|(name, file)| {
        let bytes = std::fs::read(checkpoint_path(fixtures, file)).unwrap();
        let checkpoint = read_bytes(&bytes, &architecture(name), file).unwrap();
        (name.to_owned(), quantise(&checkpoint.net).unwrap().lower().unwrap())
    });
    let small = stockfish::read(&std::fs::read(fixtures.join(SMALL_NET)).unwrap()).unwrap();
    let small = ("Stockfish 16.1, small".to_owned(), small.lower());
    bare.into_iter().chain(float).chain([small]).collect()
}

/// The share of its type that the worst bound of some quantities uses.
fn uses(proof: &Proof, is_accumulator: bool) -> String {
    let checks = proof.checks.iter().filter(|check| (check.quantity == Quantity::Accumulator) == is_accumulator);
    checks.map(|check| check.fraction()).reduce(f64::max).map_or("real".to_owned(), |uses| format!("{uses:.3}"))
}

/// Why there is no proof.
fn reason(violation: &Violation) -> String {
    let (check, types) = (&violation.check, violation.check.quantity.type_word());
    let times = |value: i64| value as f64 / -(check.quantity.limits().0 as f64);
    match violation.witness.as_ref().unwrap() {
        Witness::Features { value, .. } => {
            format!("not: a board takes a {} of `{}` to {:.2} of {types}", check.quantity, check.tensor, times(*value))
        }
        Witness::Activations { .. } => format!(
            "not: the bound of `{}` is {:.2} of {types}, and no board was found that leaves it",
            check.tensor,
            check.fraction()
        ),
    }
}

fn row(name: &str, program: &Program) -> String {
    let mut unordered = program.clone();
    unordered.transformer.as_mut().unwrap().lists = Lists::Distinct;
    let (lists, boards, narrow) = (prove(&unordered), prove(program), prove(&narrow(program.clone())));
    let over = match (lists.holds(), boards.holds()) {
        (true, _) => "any distinct features",
        (false, true) => "boards",
        (false, false) => "nothing",
    };
    // Of a program whose sums are of 64 bits, why they are.
    let reasons: Vec<String> = narrow.violations.iter().map(reason).collect();
    let verdict = match (boards.holds(), reasons.is_empty()) {
        (true, true) => over.to_owned(),
        (true, false) => format!("{over}, with sums of 64 bits; of 32 {}", reasons.join("; ")),
        (false, _) => boards.violations.iter().map(reason).collect::<Vec<_>>().join("; "),
    };
    let [lists, boards, sums] = [uses(&lists, true), uses(&boards, true), uses(&narrow, false)];
    format!("| {name} | {lists} | {boards} | {sums} | {verdict} |")
}

#[test]
fn the_table_of_proofs_is_current(fixtures: Fixtures) {
    let rows: Vec<String> = programs(&fixtures).iter().map(|(name, program)| row(name, program)).collect();
    let path = own("../quant/VERIFICATION.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let (before, section) = text.split_once(&format!("\n{HEADING}\n")).expect("VERIFICATION.md has the table");
    let is_row = |line: &&str| line.starts_with("| ") && !line.starts_with("| Network");
    let kept: Vec<&str> = section.split("\n## ").next().unwrap().lines().filter(is_row).collect();
    if std::env::var_os("TAMIS_BLESS").is_some() {
        let (head, rest) = section.split_once("|--|\n").unwrap();
        let rest: String = rest.split_inclusive('\n').skip_while(|line| line.starts_with("| ")).collect();
        let table: String = rows.iter().map(|row| format!("{row}\n")).collect();
        std::fs::write(&path, format!("{before}\n{HEADING}\n{head}|--|\n{table}{rest}")).unwrap();
        return;
    }
    assert_eq!(kept, rows, "TAMIS_BLESS=1 writes the table of VERIFICATION.md anew");
}
