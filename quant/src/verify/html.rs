//! The report as one page: no scripts, no files beside it, the same bytes on every host.

use super::accuracy::Accuracy;
use super::board::worst_positions;
use super::claims::claim_words;
use super::metrics::Agreement;
use super::report::{Bound, Report};
use super::stats::ErrorStats;
use super::svg;
use super::verdict::Sentence;
use std::fmt::Write;

/// Colours are named once for light and once for dark. What is wider than the page scrolls by itself: a table's numbers
/// stay on one line. Drawings stand side by side where there is room.
const STYLE: &str = ":root{--ink:#1b1f24;--paper:#fff;--line:#d0d7de;--faint:#eaeef2;--quiet:#57606a;--good:#1a7f37;\
--bad:#b42318;--bar:#4078c0;--light:#e8e6df;--dark:#a9b4c0}\
@media(prefers-color-scheme:dark){:root{--ink:#e6edf3;--paper:#0d1117;--line:#30363d;--faint:#21262d;--quiet:#8d96a0;\
--good:#3fb950;--bad:#f85149;--bar:#58a6ff;--light:#8b96a3;--dark:#4d5866}}\
body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:var(--ink);\
background:var(--paper)}\
h1{font-size:1.5rem}h2{font-size:1.1rem;margin-top:2rem;border-bottom:1px solid var(--line)}\
.wide{overflow-x:auto;margin:1rem 0}\
table{border-collapse:collapse;min-width:100%;font-variant-numeric:tabular-nums}\
th,td{text-align:left;vertical-align:top;padding:.25rem .6rem;border-bottom:1px solid var(--faint)}\
.data th,.data td{white-space:nowrap}td.n,th.n{text-align:right}.verdict th{white-space:nowrap}\
.verdict td{overflow-wrap:anywhere}\
p,li{overflow-wrap:anywhere}.pass{color:var(--good);font-weight:600}.fail{color:var(--bad);font-weight:600}\
.drawings{display:flex;flex-wrap:wrap;gap:.5rem 1rem;margin:1rem 0}.drawing{flex:1 1 20rem;min-width:0;\
max-width:28.5rem}svg.plot{width:100%;height:auto;display:block}svg.plot text{font-size:13px;fill:var(--quiet)}\
.whole{white-space:nowrap}\
.frame{fill:none;stroke:var(--line)}.tick{stroke:var(--faint)}.bar{fill:var(--bar)}\
.zero{stroke:var(--bad);stroke-dasharray:4 3}circle{fill:var(--bar);fill-opacity:.45}\
.boards{display:flex;flex-wrap:wrap;gap:1rem}figure{margin:0;width:14rem;max-width:100%}svg.board{width:100%}\
figcaption{font-size:.85rem}code{overflow-wrap:anywhere}.light{fill:var(--light)}.dark{fill:var(--dark)}\
.board text{font-size:21px;stroke-width:.7px}.board .white{fill:#fff;stroke:#1b1f24}\
.board .black{fill:#1b1f24;stroke:#1b1f24}summary{cursor:pointer;color:var(--quiet)}\
@media(max-width:30rem){body{margin:1rem auto;padding:0 .6rem}.data{font-size:.87em}th,td{padding:.25rem .35rem}}";

/// Draws the report.
pub fn to_html(report: &Report) -> String {
    let mut page = String::new();
    let title = escape(&report.network);
    let verdict =
        if report.passed { "<span class=\"pass\">passed</span>" } else { "<span class=\"fail\">failed</span>" };
    let _ = write!(
        page,
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" \
         content=\"width=device-width\">\
         <title>{title}: verification</title><style>{STYLE}</style></head><body>\n<h1>{title}: {verdict}</h1>\n"
    );
    in_words(&mut page, report);
    truth(&mut page, report);
    gates(&mut page, report);
    mistakes(&mut page, report);
    runtime(&mut page, report);
    proof(&mut page, report);
    accuracy(&mut page, report);
    tensors(&mut page, report);
    page.push_str("</body></html>\n");
    page
}

/// Four lines for who reads no more.
fn in_words(page: &mut String, report: &Report) {
    page.push_str("<table class=\"verdict\">\n");
    for Sentence { about, text, is_well } in report.verdict() {
        let class = match is_well {
            Some(true) => " class=\"pass\"",
            Some(false) => " class=\"fail\"",
            None => "",
        };
        let _ = writeln!(page, "<tr><th>{about}</th><td{class}>{}</td></tr>", options_whole(&escape(&text)));
    }
    page.push_str("</table>\n");
}

/// The same with no break within an option, `--gates` for instance, which browsers break behind a hyphen.
fn options_whole(text: &str) -> String {
    let whole = |word: &str| match word.contains("--") {
        true => format!("<span class=\"whole\">{word}</span>"),
        false => word.to_owned(),
    };
    text.split(' ').map(whole).collect::<Vec<_>>().join(" ")
}

fn truth(page: &mut String, report: &Report) {
    let truth = &report.truth;
    let _ = writeln!(page, "<p>{} examples.</p>", truth.examples);
    let mut rows: Vec<Vec<String>> = Vec::new();
    let mut row = |key: &str, value: String| rows.push(vec![key.to_owned(), value]);
    if let Some(nnue) = &report.nnue {
        row("network", nnue.architecture.clone());
        row("divide", nnue.divide.to_string());
    }
    truth.checkpoint.iter().for_each(|file| row("checkpoint", file.clone()));
    truth.import.iter().for_each(|import| row("read as", import.source.clone()));
    truth.inputs.iter().for_each(|file| row("examples", file.clone()));
    if let Some(nnue) = &report.nnue {
        row("values that the file does not give", nnue.differing_values.to_string());
        nnue.same_file.iter().for_each(|same| row("the same file", if *same { "yes" } else { "no" }.to_owned()));
        nnue.difference.iter().for_each(|difference| row("difference", difference.to_string()));
    }
    truth.reference.iter().for_each(|(key, value)| row(&format!("reference: {key}"), value.clone()));
    table(page, &["held against", ""], rows.into_iter());
    for failure in report.failures() {
        let _ = writeln!(page, "<p class=\"fail\">{}</p>", escape(&failure));
    }
}

fn gates(page: &mut String, report: &Report) {
    page.push_str("<h2>Gates</h2>\n");
    let rows = report.gates.iter().map(|gate| {
        let verdict = if gate.passed { "passed" } else { "failed" };
        vec![gate.gate.to_owned(), gate.found.clone(), gate.limit.clone(), verdict.to_owned()]
    });
    table(page, &["gate", "found", "limit", "verdict"], rows);
}

fn mistakes(page: &mut String, report: &Report) {
    if !report.looked_for_mistakes {
        return;
    }
    page.push_str("<h2>Mistakes</h2>\n");
    if report.mistakes.is_empty() {
        page.push_str("<p>None found.</p>\n");
    }
    page.push_str("<ul>\n");
    for (mistakes, class) in [(&report.mistakes, " class=\"fail\""), (&report.remarks, "")] {
        for mistake in mistakes {
            let (kind, text) = (mistake.kind.words(), escape(&mistake.text));
            let _ = writeln!(page, "<li><span{class}>{kind}</span>: {text}</li>");
        }
    }
    page.push_str("</ul>\n");
}

fn runtime(page: &mut String, report: &Report) {
    page.push_str("<h2>1. Does the runtime equal the integer model?</h2>\n");
    let rows = report.runtime.tiers.iter().map(|tier| {
        let difference = tier.first.as_ref().map_or("none".to_owned(), |first| {
            format!(
                "example {}, {} [{}]: {} instead of {}",
                first.example, first.value, first.element, first.found, first.expected
            )
        });
        vec![
            tier.tier.to_string(),
            tier.bytes.to_string(),
            tier.differing_examples.to_string(),
            difference,
            tier.signature.clone(),
        ]
    });
    table(page, &["tier", "bytes compared", "differing examples", "first difference", "signature"], rows);
}

fn proof(page: &mut String, report: &Report) {
    page.push_str("<h2>2. Can any accumulator overflow?</h2>\n");
    for violation in &report.proof.violations {
        let _ = writeln!(page, "<p class=\"fail\">{}</p>", escape(violation));
    }
    for wraps in &report.proof.wraps {
        let _ = writeln!(page, "<p>Wraps, as in the network's engine: {}</p>", escape(wraps));
    }
    let bounds = &report.proof.bounds;
    let of_each = fullest(bounds, |a, b| a.tensor == b.tensor && a.quantity == b.quantity);
    let of_buckets = fullest(bounds, |a, b| a.tensor == b.tensor && a.quantity == b.quantity && a.bucket == b.bucket);
    let (each, every) = (of_each.len(), of_buckets.len());
    bounds_table(page, of_each);
    if every > each {
        page.push_str("<details><summary>the same of every output bucket</summary>\n");
        bounds_table(page, of_buckets);
        page.push_str("</details>\n");
    }
    let rows = report.proof.claims.iter().map(|claim| {
        let verdict = if claim.holds { "holds" } else { "does not follow" };
        vec![claim.tensor.clone(), claim_words(claim.stored), claim_words(claim.derived), verdict.to_owned()]
    });
    table(page, &["claims of", "in the file", "derived again", ""], rows);
}

/// Of bounds that belong together the row that fills most of its type: a network over maps has thousands of rows.
fn fullest(bounds: &[Bound], is_same: impl Fn(&Bound, &Bound) -> bool) -> Vec<&Bound> {
    let mut fullest: Vec<&Bound> = Vec::new();
    for bound in bounds {
        match fullest.iter_mut().rev().find(|other| is_same(other, bound)) {
            Some(most) if bound.fraction > most.fraction => *most = bound,
            Some(_) => {}
            None => fullest.push(bound),
        }
    }
    fullest
}

fn bounds_table(page: &mut String, fullest: Vec<&Bound>) {
    let rows = fullest.into_iter().map(|bound| {
        let bucket = bound.bucket.map_or("–".to_owned(), |bucket| bucket.to_string());
        let range = format!("{} to {}", bound.low, bound.high);
        vec![
            bound.tensor.clone(),
            bound.quantity.clone(),
            bucket,
            bound.row.to_string(),
            range,
            bound.r#type.to_owned(),
            format!("{:.3}", bound.fraction),
        ]
    });
    table(page, &["fullest row of", "quantity", "bucket", "row", "range", "type", "share of type"], rows);
}

fn accuracy(page: &mut String, report: &Report) {
    let accuracy = &report.accuracy;
    let _ = writeln!(
        page,
        "<h2>3. How far is it from full precision?</h2>\n<p>Integer minus {}, in {}.</p>",
        accuracy.against, report.unit
    );
    let mut rows = vec![stats_row("end to end", &accuracy.total)];
    rows.extend(accuracy.win_probability.iter().map(|stats| stats_row("expected score", stats)));
    table(page, &STATS, rows.into_iter());
    predictions(page, accuracy);
    // Each output of an example counts.
    let is_single = accuracy.histogram.counts.iter().sum::<usize>() == report.truth.examples;
    let counted = if is_single { "examples" } else { "outputs" };
    page.push_str("<div class=\"drawings\">\n");
    page.push_str(&svg::histogram(&accuracy.histogram, &format!("integer minus float, {}", report.unit), counted));
    page.push_str(&svg::errors(&accuracy.points, report.unit));
    page.push_str("</div>\n");
    if !accuracy.causes.is_empty() {
        page.push_str(
            "<p>Each rounding switched on alone; what they do to each other is the interaction, so that the column of \
             means adds up.</p>\n",
        );
        let mut rows: Vec<Vec<String>> =
            accuracy.causes.iter().map(|cause| stats_row(&cause.cause, &cause.alone)).collect();
        rows.extend(accuracy.interaction.iter().map(|stats| stats_row("interaction", stats)));
        rows.push(stats_row("sum", &accuracy.split_total));
        table(page, &STATS, rows.into_iter());
    }
    let rows = accuracy.layers.iter().map(|layer| {
        let [mean, sd, max] = [layer.mean, layer.sd, layer.max].map(|value| format!("{value:.6}"));
        let sqnr = layer.sqnr_db.map_or("–".to_owned(), |sqnr| format!("{sqnr:.2}"));
        vec![layer.layer.clone(), layer.element.to_owned(), mean, sd, max, sqnr]
    });
    table(page, &["layer", "as", "mean", "sd", "max", "SQNR dB"], rows);
    let rows = accuracy.worst.iter().map(|worst| {
        vec![
            worst.example.to_string(),
            worst.output.to_string(),
            format!("{:.4}", worst.float),
            format!("{:.4}", worst.integer),
            format!("{:+.4}", worst.integer - worst.float),
        ]
    });
    table(page, &["largest errors: example", "output", "float", "integer", "error"], rows);
    page.push_str(&worst_positions(&accuracy.worst, report.unit));
}

fn predictions(page: &mut String, accuracy: &Accuracy) {
    let share = |agreement: &Agreement| {
        let Agreement { equal, count, low, high } = agreement;
        let percent = |share: f64| 100.0 * share;
        let (share, low, high) = (percent(agreement.share()), percent(*low), percent(*high));
        format!("{equal} of {count}, {share:.3} % ({low:.3} to {high:.3})")
    };
    if let Some(top1) = &accuracy.top1 {
        let _ = writeln!(page, "<p>Same first choice: {}.</p>", share(top1));
    }
    let Some(predictions) = &accuracy.predictions else { return };
    let rows = [
        Some(["right".to_owned(), share(&predictions.float_correct), share(&predictions.correct)]),
        predictions
            .float_auc
            .zip(predictions.auc)
            .map(|(float, integer)| ["AUC".to_owned(), format!("{float:.6}"), format!("{integer:.6}")]),
        Some([
            "log-loss".to_owned(),
            format!("{:.6}", predictions.float_log_loss),
            format!("{:.6}", predictions.log_loss),
        ]),
    ];
    table(page, &["labels", "float", "integer"], rows.into_iter().flatten().map(Vec::from));
}

fn tensors(page: &mut String, report: &Report) {
    page.push_str("<h2>The integers</h2>\n");
    let rows = report.tensors.iter().map(|tensor| {
        let scale = tensor.scale.map_or("–".to_owned(), |scale| scale.to_string());
        let zeros = format!("{:.1} %", tensor.zeros * 100.0);
        vec![
            tensor.tensor.clone(),
            tensor.element.to_owned(),
            scale,
            format!("{}", tensor.min),
            format!("{}", tensor.max),
            zeros,
        ]
    });
    table(page, &["tensor", "type", "scale", "min", "max", "zeros"], rows);
    page.push_str("<div class=\"drawings\">\n");
    for tensor in report.tensors.iter().filter(|tensor| tensor.max > tensor.min) {
        page.push_str(&svg::histogram(
            &tensor.histogram,
            &format!("{}, stored units", escape(&tensor.tensor)),
            "elements",
        ));
    }
    page.push_str("</div>\n");
}

const STATS: [&str; 7] = ["", "mean", "sd", "p99.9", "max", "SQNR dB", "cosine"];

fn stats_row(name: &str, stats: &ErrorStats) -> Vec<String> {
    let sqnr = match stats.sqnr_db {
        Some(sqnr) => format!("{sqnr:.2}"),
        None if stats.truth_rms > 0.0 => "exact".to_owned(),
        None => "–".to_owned(),
    };
    vec![
        name.to_owned(),
        format!("{:+.4}", stats.mean),
        format!("{:.4}", stats.sd),
        format!("{:.4}", stats.p99_9),
        format!("{:.4}", stats.max),
        sqnr,
        format!("{:.6}", stats.cosine),
    ]
}

/// A table, if it has rows; columns of numbers are set to the right.
fn table(page: &mut String, head: &[&str], rows: impl Iterator<Item = Vec<String>>) {
    let rows: Vec<Vec<String>> = rows.collect();
    if rows.is_empty() {
        return;
    }
    // A signature begins with a digit now and then, and is no number.
    let number = |cell: &str| {
        let word = cell.split([' ', ',']).next().and_then(|word| word.parse::<f64>().ok());
        word.is_some_and(f64::is_finite)
    };
    let is_gap = |cell: &str| matches!(cell, "" | "–" | "exact");
    let is_numeric = |column: usize| {
        let mut cells = rows.iter().filter_map(|row| row.get(column)).filter(|cell| !is_gap(cell)).peekable();
        cells.peek().is_some() && cells.all(|cell| number(cell))
    };
    let numeric: Vec<bool> = (0..head.len()).map(is_numeric).collect();
    let class = |column: usize, cell: &str| match cell {
        "passed" => " class=\"pass\"",
        "failed" | "does not follow" => " class=\"fail\"",
        _ if numeric.get(column) == Some(&true) => " class=\"n\"",
        _ => "",
    };
    page.push_str("<div class=\"wide\"><table class=\"data\"><tr>");
    for (column, cell) in head.iter().enumerate() {
        let _ = write!(page, "<th{}>{}</th>", class(column, cell), escape(cell));
    }
    page.push_str("</tr>\n");
    for row in &rows {
        page.push_str("<tr>");
        for (column, cell) in row.iter().enumerate() {
            let _ = write!(page, "<td{}>{}</td>", class(column, cell), escape(cell));
        }
        page.push_str("</tr>\n");
    }
    page.push_str("</table></div>\n");
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
