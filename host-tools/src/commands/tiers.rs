//! `tiers`: what this machine can run, operation by operation.

use crate::output::Report;
use crate::table::{self, row};
use serde::Serialize;
use std::io::{self, Write};
use tamis_runtime::kernels;
use tamis_runtime::testing::ALL_NAMES;

/// Every tier, and the one that is taken unless another is asked for.
#[derive(Debug, Serialize)]
pub struct Tiers {
    default: &'static str,
    tiers: Vec<Tier>,
    /// Tiers of other machines.
    unavailable: Vec<&'static str>,
}

#[derive(Debug, Serialize)]
struct Tier {
    name: &'static str,
    operations: Vec<Operation>,
}

#[derive(Debug, Serialize)]
struct Operation {
    name: &'static str,
    /// The tier that the kernel comes from.
    from: &'static str,
    /// Whether that is this tier, and not a fallback.
    own: bool,
}

/// Lists them.
pub fn run() -> Tiers {
    let tiers = kernels::tiers().map(|tier| Tier {
        name: tier.name,
        operations: tier.operations().map(|(name, from)| Operation { name, from, own: from == tier.name }).collect(),
    });
    let unavailable = ALL_NAMES.into_iter().filter(|name| kernels::by_name(name).is_none());
    Tiers { default: kernels::best().name, tiers: tiers.collect(), unavailable: unavailable.collect() }
}

impl Report for Tiers {
    const SCHEMA: Option<&'static str> = Some("tamis-tiers-1");

    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut heading = row!["operation"];
        heading.extend(self.tiers.iter().map(|tier| tier.name.to_owned()));
        let mut rows = vec![heading];
        let operations = self.tiers.iter().map(|tier| tier.operations.len()).fold(0, usize::max);
        for index in 0..operations {
            let column = self.tiers.iter().filter_map(|tier| tier.operations.get(index));
            let mut cells: Vec<String> = column.clone().take(1).map(|operation| operation.name.to_owned()).collect();
            cells.extend(column.map(|operation| match operation.own {
                true => "own".to_owned(),
                false => format!("fallback: {}", operation.from),
            }));
            rows.push(cells);
        }
        table::print(out, &rows)?;
        let own =
            "own: the tier has a kernel for the operation; \"fallback\" names the tier whose kernel it calls instead";
        writeln!(out, "\n  {own}")?;
        if !self.unavailable.is_empty() {
            writeln!(out, "  not on this machine: {}", self.unavailable.join(", "))?;
        }
        writeln!(out, "  every tier gives the same bits; without --tier it is {}", self.default)
    }
}
