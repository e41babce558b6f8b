//! Two drawings in plain SVG. Coordinates are printed with one decimal, so the bytes are the same on every host.

use super::stats::Histogram;
use std::fmt::Write;

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 260.0;
/// Room for labels: left, right, top, bottom.
const MARGIN: (f64, f64, f64, f64) = (64.0, 12.0, 12.0, 36.0);

/// A plain frame that maps data to the page.
struct Frame {
    x: (f64, f64),
    y: (f64, f64),
    text: String,
}

impl Frame {
    fn new(title: &str, x: (f64, f64), y: (f64, f64)) -> Self {
        let widen = |(low, high): (f64, f64)| if high > low { (low, high) } else { (low - 1.0, high + 1.0) };
        let mut text = format!("<svg viewBox=\"0 0 {WIDTH:.0} {HEIGHT:.0}\" role=\"img\" aria-label=\"{title}\">\n");
        let (left, right, top, bottom) = MARGIN;
        let (w, h) = (WIDTH - left - right, HEIGHT - top - bottom);
        let _ =
            writeln!(text, "<rect class=\"frame\" x=\"{left:.1}\" y=\"{top:.1}\" width=\"{w:.1}\" height=\"{h:.1}\"/>");
        Self { x: widen(x), y: widen(y), text }
    }

    fn px(&self, x: f64) -> f64 {
        MARGIN.0 + (x - self.x.0) / (self.x.1 - self.x.0) * (WIDTH - MARGIN.0 - MARGIN.1)
    }

    fn py(&self, y: f64) -> f64 {
        HEIGHT - MARGIN.3 - (y - self.y.0) / (self.y.1 - self.y.0) * (HEIGHT - MARGIN.2 - MARGIN.3)
    }

    /// Five labels along each axis and the axes' names.
    fn finish(mut self, x_name: &str, y_name: &str) -> String {
        for step in 0..=4 {
            let share = f64::from(step) / 4.0;
            let (x, y) = (self.x.0 + share * (self.x.1 - self.x.0), self.y.0 + share * (self.y.1 - self.y.0));
            let (px, py) = (self.px(x), self.py(y));
            let _ = writeln!(
                self.text,
                "<text x=\"{px:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
                HEIGHT - 20.0,
                number(x)
            );
            let _ = writeln!(
                self.text,
                "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
                MARGIN.0 - 6.0,
                py + 4.0,
                number(y)
            );
        }
        let _ = writeln!(
            self.text,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{x_name}</text>",
            WIDTH / 2.0,
            HEIGHT - 4.0
        );
        let _ = writeln!(
            self.text,
            "<text x=\"14\" y=\"{:.1}\" transform=\"rotate(-90 14 {:.1})\" text-anchor=\"middle\">{y_name}</text>",
            HEIGHT / 2.0,
            HEIGHT / 2.0
        );
        self.text.push_str("</svg>\n");
        self.text
    }
}

/// Bars over equal bins.
pub fn histogram(histogram: &Histogram, x_name: &str, y_name: &str) -> String {
    let most = histogram.counts.iter().copied().fold(0, Ord::max) as f64;
    let high = histogram.low + histogram.width * histogram.counts.len() as f64;
    let mut frame = Frame::new(&format!("histogram: {x_name}"), (histogram.low, high), (0.0, most));
    for (bin, count) in histogram.counts.iter().enumerate().filter(|(_, count)| **count > 0) {
        let left = frame.px(histogram.low + histogram.width * bin as f64);
        let right = frame.px(histogram.low + histogram.width * (bin + 1) as f64);
        let top = frame.py(*count as f64);
        let (width, height) = ((right - left - 1.0).max(0.5), HEIGHT - MARGIN.3 - top);
        let _ = writeln!(
            frame.text,
            "<rect class=\"bar\" x=\"{left:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" \
             height=\"{height:.1}\"><title>{count}</title></rect>"
        );
    }
    frame.finish(x_name, y_name)
}

/// The error of single examples over the float value.
pub fn errors(points: &[(f64, f64)], unit: &str) -> String {
    let range = |values: &mut dyn Iterator<Item = f64>| {
        values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)))
    };
    if points.is_empty() {
        return String::new();
    }
    let x = range(&mut points.iter().map(|(x, _)| *x));
    let y = range(&mut points.iter().map(|(_, y)| *y).chain([0.0]));
    let mut frame = Frame::new("error over value", x, y);
    let zero = frame.py(0.0);
    let _ = writeln!(
        frame.text,
        "<line class=\"zero\" x1=\"{:.1}\" y1=\"{zero:.1}\" x2=\"{:.1}\" y2=\"{zero:.1}\"/>",
        MARGIN.0,
        WIDTH - MARGIN.1
    );
    for (x, y) in points {
        let (px, py) = (frame.px(*x), frame.py(*y));
        let _ = writeln!(frame.text, "<circle cx=\"{px:.1}\" cy=\"{py:.1}\" r=\"1.4\"/>");
    }
    frame.finish(&format!("float, {unit}"), "integer minus float")
}

/// A short number for a label.
fn number(value: f64) -> String {
    let magnitude = value.abs();
    let text = if magnitude >= 100.0 {
        format!("{value:.0}")
    } else if magnitude >= 1.0 {
        format!("{value:.1}")
    } else {
        format!("{value:.3}")
    };
    if text.trim_start_matches(['-', '0', '.']).is_empty() { "0".to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_counted_bin_is_a_bar_and_every_point_a_circle() {
        let drawn = histogram(&Histogram { low: -1.0, width: 0.5, counts: vec![3, 0, 1, 2] }, "x", "y");
        assert_eq!(drawn.matches("class=\"bar\"").count(), 3);
        let drawn = errors(&[(1.0, 0.5), (2.0, -0.5), (2.0, -0.5)], "x");
        assert_eq!(drawn.matches("<circle").count(), 3);
    }
}
