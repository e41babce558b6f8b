//! Lengths and padding, drawn in plain SVG: a bar a bucket, as high as its ids, of which the upper part pads.
//!
//! Coordinates have one decimal, so the bytes are the same on every host.

use super::summary::{BucketSummary, Summary};
use std::fmt::Write;

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 320.0;
/// Room for labels.
const LEFT: f64 = 72.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 44.0;
/// The most bars; neighbours share one where there are more buckets.
const MAX_BARS: usize = 100;
/// The most labels below the bars.
const MAX_LABELS: usize = 12;

const STYLE: &str = "text{font:12px sans-serif;fill:#222}.ids{fill:#3b6ea5}.padding{fill:#d98c4a}\
                     .grid{stroke:#ccc;stroke-width:1}.axis{stroke:#222;stroke-width:1}";

/// The picture of a summary.
#[must_use]
pub fn picture(summary: &Summary) -> String {
    let bars = summary.coarse(MAX_BARS);
    let ids = |bar: &BucketSummary| bar.source_ids + bar.target_ids;
    let all = |bar: &BucketSummary| ids(bar) + bar.source_padding + bar.target_padding;
    let most = bars.iter().map(all).max().unwrap_or(0).max(1) as f64;
    let (floor, room) = (HEIGHT - BOTTOM, HEIGHT - BOTTOM - TOP);
    let height = |count: u64| count as f64 / most * room;
    let pitch = (WIDTH - LEFT - RIGHT) / bars.len().max(1) as f64;

    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH:.0} {HEIGHT:.0}\" role=\"img\" \
         aria-label=\"ids and padding of batches by length\">\n<style>{STYLE}</style>\n\
         <rect width=\"{WIDTH:.0}\" height=\"{HEIGHT:.0}\" fill=\"#fff\"/>\n"
    );
    let total = summary.total();
    let heading = format!(
        "{} batches, {} rows, {:.2} % of {} ids pad",
        summary.batches,
        summary.rows,
        100.0 * total.waste(),
        all(&total)
    );
    text(&mut svg, LEFT, 18.0, "start", &heading);
    for step in 0..=4 {
        let share = f64::from(step) / 4.0;
        let y = floor - share * room;
        line(&mut svg, if step == 0 { "axis" } else { "grid" }, LEFT, y, WIDTH - RIGHT, y);
        text(&mut svg, LEFT - 6.0, y + 4.0, "end", &format!("{:.0}", share * most));
    }
    let each = bars.len().div_ceil(MAX_LABELS).max(1);
    for (place, bar) in bars.iter().enumerate() {
        let (x, width) = (LEFT + place as f64 * pitch, (pitch - 1.0).max(0.5));
        let title = format!(
            "{}: {} batches, {} rows, {} ids, {:.2} % of them pad",
            lengths(bar),
            bar.batches,
            bar.rows,
            all(bar),
            100.0 * bar.waste()
        );
        let _ = writeln!(svg, "<g><title>{title}</title>");
        rect(&mut svg, "ids", x, floor - height(ids(bar)), width, height(ids(bar)));
        rect(&mut svg, "padding", x, floor - height(all(bar)), width, height(all(bar) - ids(bar)));
        svg.push_str("</g>\n");
        if place % each == 0 {
            text(
                &mut svg,
                x + width / 2.0,
                floor + 16.0,
                "middle",
                &bar.to.map_or("all".to_owned(), |to| to.to_string()),
            );
        }
    }
    text(&mut svg, (LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 8.0, "middle", "longest length of the bucket");
    for (place, (class, word)) in [("ids", "tokens and marks"), ("padding", "padding")].into_iter().enumerate() {
        let x = WIDTH - 250.0 + 140.0 * place as f64;
        rect(&mut svg, class, x, 8.0, 12.0, 12.0);
        text(&mut svg, x + 18.0, 18.0, "start", word);
    }
    svg.push_str("</svg>\n");
    svg
}

fn lengths(bar: &BucketSummary) -> String {
    match bar.to {
        Some(to) if to == bar.from => format!("length {to}"),
        Some(to) => format!("lengths {} to {to}", bar.from),
        None => "all lengths".to_owned(),
    }
}

fn text(svg: &mut String, x: f64, y: f64, anchor: &str, words: &str) {
    let _ = writeln!(svg, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{words}</text>");
}

fn line(svg: &mut String, class: &str, x1: f64, y1: f64, x2: f64, y2: f64) {
    let _ = writeln!(svg, "<line class=\"{class}\" x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\"/>");
}

fn rect(svg: &mut String, class: &str, x: f64, y: f64, width: f64, height: f64) {
    let _ = writeln!(
        svg,
        "<rect class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\"/>"
    );
}
