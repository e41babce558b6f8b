//! The report of `batches`.

use super::Written;
use crate::output::Report;
use crate::table::{self, row};
use std::io::{self, Write};
use tamis_batches::{BucketSummary, Dropped};

/// The most lines of the table of buckets; neighbours share one where there are more.
const MAX_ROWS: usize = 16;

/// From here on a share of unknown tokens is warned of; trained models see a few per cent.
const UNKNOWN_SHARE: f64 = 0.2;
/// From here on the vocabulary is another language's.
const FOREIGN_SHARE: f64 = 0.8;

impl Report for Written {
    const SCHEMA: Option<&'static str> = Some("tamis-batches-1");

    fn warnings(&self) -> Vec<String> {
        let nothing = self.summary.batches == 0;
        let nothing = nothing.then(|| format!("no batch of {} lines is left", self.summary.lines));
        let sides = [("source", self.source_unknown_share), ("target", self.target_unknown_share)];
        nothing.into_iter().chain(sides.into_iter().filter_map(|(side, share)| unknown(side, share))).collect()
    }

    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        let Self { summary, .. } = self;
        writeln!(out, "{} batches, {} rows of {} lines", summary.batches, summary.rows, summary.lines)?;
        writeln!(out, "  wrote      {} ({}), {} bytes", self.out, self.format, self.len_bytes)?;
        if let Some(svg) = &self.svg {
            writeln!(out, "  wrote      {svg}, lengths and padding")?;
        }
        writeln!(out, "  dropped    {}", dropped(&summary.dropped))?;
        for (side, size, unknown, tokens, share) in [
            (
                "source",
                self.source_vocabulary,
                summary.source_unknown,
                summary.source_tokens,
                self.source_unknown_share,
            ),
            (
                "target",
                self.target_vocabulary,
                summary.target_unknown,
                summary.target_tokens,
                self.target_unknown_share,
            ),
        ] {
            let percent = 100.0 * share;
            writeln!(out, "  {side}     {size} ids; {unknown} of {tokens} tokens are <unk>, {percent:.2} %")?;
        }
        writeln!(out, "  padding    {:.2} % of all ids", 100.0 * self.padding_share)?;
        writeln!(out)?;
        let mut rows = vec![row!["lengths", "batches", "rows", "ids", "padding", "waste, %"]];
        rows.extend(summary.coarse(MAX_ROWS).iter().map(bucket));
        table::print(out, &rows)
    }
}

/// A text that its vocabulary does not know.
fn unknown(side: &str, share: f64) -> Option<String> {
    let why = match share {
        share if share < UNKNOWN_SHARE => return None,
        share if share < FOREIGN_SHARE => "is the text tokenised as the vocabulary was made for?",
        _ => "the vocabularies may be exchanged: --src-vocab is the source's, --tgt-vocab the target's",
    };
    Some(format!("{:.1} % of the {side}'s tokens are <unk>; {why}", 100.0 * share))
}

fn bucket(bucket: &BucketSummary) -> Vec<String> {
    let lengths = match bucket.to {
        Some(to) if to == bucket.from => to.to_string(),
        Some(to) => format!("{}–{to}", bucket.from),
        None => "all".to_owned(),
    };
    row![
        lengths,
        bucket.batches,
        bucket.rows,
        bucket.source_ids + bucket.target_ids,
        bucket.source_padding + bucket.target_padding,
        format!("{:.2}", 100.0 * bucket.waste()),
    ]
}

fn dropped(dropped: &Dropped) -> String {
    let Dropped { source_empty, source_too_long, target_too_long, irregular, incomplete } = *dropped;
    let reasons = [
        (source_empty, "empty sources"),
        (source_too_long, "sources above --max-src"),
        (target_too_long, "targets above --max-tgt"),
        (irregular, "in batches that cannot be dealt out evenly"),
        (incomplete, "in batches that were not full at the end"),
    ];
    let total: u64 = reasons.iter().map(|(count, _)| count).sum();
    let some: Vec<String> =
        reasons.iter().filter(|(count, _)| *count > 0).map(|(count, why)| format!("{count} {why}")).collect();
    if some.is_empty() { "no line".to_owned() } else { format!("{total}: {}", some.join(", ")) }
}
