//! `tiers`: what this machine can run, operation by operation.

use crate::output::Report;
use crate::table::{self, row};
use serde::Serialize;
use std::io::{self, Write};
use tamis_runtime::kernels::{self, TIERS};

/// Every tier, and the one that is taken unless another is asked for.
#[derive(Debug, Serialize)]
pub struct Tiers {
    default: &'static str,
    tiers: Vec<Tier>,
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
    let tiers = TIERS.iter().map(|tier| Tier {
        name: tier.name,
        operations: tier.operations().map(|(name, from)| Operation { name, from, own: from == tier.name }).collect(),
    });
    Tiers { default: kernels::best().name, tiers: tiers.collect() }
}

impl Report for Tiers {
    const SCHEMA: Option<&'static str> = Some("tamis-tiers-1");

    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut heading = row!["operation"];
        heading.extend(self.tiers.iter().map(|tier| tier.name.to_owned()));
        let mut rows = vec![heading];
        let operations = self.tiers.first().map_or(0, |tier| tier.operations.len());
        for index in 0..operations {
            let column = self.tiers.iter().filter_map(|tier| tier.operations.get(index));
            let mut cells: Vec<String> = column.clone().take(1).map(|operation| operation.name.to_owned()).collect();
            cells.extend(column.map(|operation| match operation.own {
                true => "own".to_owned(),
                false => format!("from {}", operation.from),
            }));
            rows.push(cells);
        }
        table::print(out, &rows)?;
        writeln!(out, "\n  every tier gives the same bits; without --tier it is {}", self.default)
    }
}
