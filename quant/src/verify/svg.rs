//! Two drawings in plain SVG. Coordinates are printed with one decimal, so the bytes are the same on every host.

use super::stats::Histogram;
use std::fmt::Write;

/// As wide as a telephone and as half a page, so that letters are about as large on both and nothing scrolls.
const WIDTH: f64 = 480.0;
const HEIGHT: f64 = 240.0;
/// Room for labels: left, right, top, bottom.
const MARGIN: (f64, f64, f64, f64) = (70.0, 14.0, 12.0, 42.0);

/// Numbers along an axis, at most.
const X_TICKS: f64 = 6.0;
const Y_TICKS: f64 = 5.0;
/// The least step between the numbers of an axis of counts.
const ONE: f64 = 1.0;

/// A plain frame that maps data to the page.
struct Frame {
    x: (f64, f64),
    y: (f64, f64),
    /// The least step between the numbers of the upright axis; 0 where any will do.
    y_step: f64,
    text: String,
}

impl Frame {
    fn new(title: &str, x: (f64, f64), y: (f64, f64), y_step: f64) -> Self {
        let widen = |(low, high): (f64, f64)| if high > low { (low, high) } else { (low - 1.0, high + 1.0) };
        let mut text = format!(
            "<div class=\"drawing\"><svg class=\"plot\" \
             viewBox=\"0 0 {WIDTH:.0} {HEIGHT:.0}\" role=\"img\" aria-label=\"{title}\">\n"
        );
        let (left, right, top, bottom) = MARGIN;
        let (w, h) = (WIDTH - left - right, HEIGHT - top - bottom);
        let _ =
            writeln!(text, "<rect class=\"frame\" x=\"{left:.1}\" y=\"{top:.1}\" width=\"{w:.1}\" height=\"{h:.1}\"/>");
        Self { x: widen(x), y: widen(y), y_step, text }
    }

    fn px(&self, x: f64) -> f64 {
        MARGIN.0 + (x - self.x.0) / (self.x.1 - self.x.0) * (WIDTH - MARGIN.0 - MARGIN.1)
    }

    fn py(&self, y: f64) -> f64 {
        HEIGHT - MARGIN.3 - (y - self.y.0) / (self.y.1 - self.y.0) * (HEIGHT - MARGIN.2 - MARGIN.3)
    }

    /// Round numbers along each axis and the axes' names.
    fn finish(mut self, x_name: &str, y_name: &str) -> String {
        let (x_ticks, y_ticks) = (ticks(self.x, X_TICKS, 0.0), ticks(self.y, Y_TICKS, self.y_step));
        let bottom = HEIGHT - MARGIN.3;
        for (x, label) in x_ticks {
            let px = self.px(x);
            let _ = writeln!(
                self.text,
                "<line class=\"tick\" x1=\"{px:.1}\" y1=\"{bottom:.1}\" x2=\"{px:.1}\" y2=\"{:.1}\"/><text \
                 x=\"{px:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{label}</text>",
                bottom + 4.0,
                HEIGHT - 24.0,
            );
        }
        for (y, label) in y_ticks {
            let py = self.py(y);
            let _ = writeln!(
                self.text,
                "<line class=\"tick\" x1=\"{:.1}\" y1=\"{py:.1}\" x2=\"{:.1}\" y2=\"{py:.1}\"/><text x=\"{:.1}\" \
                 y=\"{:.1}\" text-anchor=\"end\">{label}</text>",
                MARGIN.0 - 4.0,
                MARGIN.0,
                MARGIN.0 - 6.0,
                py + 4.0,
            );
        }
        let _ = writeln!(
            self.text,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{x_name}</text>",
            WIDTH / 2.0,
            HEIGHT - 5.0
        );
        let _ = writeln!(
            self.text,
            "<text x=\"14\" y=\"{:.1}\" transform=\"rotate(-90 14 {:.1})\" text-anchor=\"middle\">{y_name}</text>",
            HEIGHT / 2.0,
            HEIGHT / 2.0
        );
        self.text.push_str("</svg></div>\n");
        self.text
    }
}

/// Bars over equal bins.
pub fn histogram(histogram: &Histogram, x_name: &str, y_name: &str) -> String {
    let most = histogram.counts.iter().copied().fold(0, Ord::max) as f64;
    let high = histogram.low + histogram.width * histogram.counts.len() as f64;
    let mut frame = Frame::new(&format!("histogram: {x_name}"), (histogram.low, high), (0.0, most), ONE);
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
    let mut frame = Frame::new("error over value", x, y, 0.0);
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

/// Multiples of 1, 2 or 5 times a power of ten within a range, `most` and one at most, `least` apart or more.
fn ticks((low, high): (f64, f64), most: f64, least: f64) -> Vec<(f64, String)> {
    let rough = libm::fmax((high - low) / most, least);
    let power = libm::floor(libm::log10(rough));
    if !power.is_finite() {
        return Vec::new();
    }
    let unit = libm::pow(10.0, power);
    let step = [1.0, 2.0, 5.0, 10.0].map(|times| times * unit).into_iter().find(|step| *step >= rough * 0.999);
    let Some(step) = step else { return Vec::new() };
    let decimals = libm::fmax(0.0, -libm::floor(libm::log10(step * 1.001))) as usize;
    let first = libm::ceil(low / step - 1e-9);
    let label = |value: f64| match decimals {
        0..=6 if value.abs() < 1e7 => format!("{value:.decimals$}"),
        _ => format!("{value:.1e}"),
    };
    let at = |count: u32| {
        // Never a zero with a sign.
        let value = (first + f64::from(count)) * step + 0.0;
        (value, if value.abs() < step / 2.0 { "0".to_owned() } else { label(value) })
    };
    (0..=most as u32).map(at).take_while(|(value, _)| *value <= high + step * 1e-9).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round() {
        let labels =
            |range, most| -> Vec<String> { ticks(range, most, 0.0).into_iter().map(|(_, label)| label).collect() };
        assert_eq!(labels((-34.2, 12.7), 8.0), ["-30", "-20", "-10", "0", "10"]);
        assert_eq!(labels((0.0, 1357.0), 5.0), ["0", "500", "1000"]);
        assert_eq!(labels((-0.031, 0.012), 5.0), ["-0.03", "-0.02", "-0.01", "0", "0.01"]);
        assert_eq!(labels((0.0, 1.0), 5.0), ["0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(labels((1e9, 1.4e9), 5.0), ["1.0e9", "1.1e9", "1.2e9", "1.3e9", "1.4e9"]);
        assert_eq!(labels((0.0, f64::INFINITY), 5.0), [""; 0]);
    }

    #[test]
    fn counts_are_whole() {
        let labels = |most: f64| -> Vec<String> { ticks((0.0, most), 5.0, ONE).into_iter().map(|(_, l)| l).collect() };
        assert_eq!(labels(2.0), ["0", "1", "2"]);
        assert_eq!(labels(1.0), ["0", "1"]);
        assert_eq!(labels(1357.0), ["0", "500", "1000"]);
    }

    #[test]
    fn every_counted_bin_is_a_bar_and_every_point_a_circle() {
        let drawn = histogram(&Histogram { low: -1.0, width: 0.5, counts: vec![3, 0, 1, 2] }, "x", "y");
        assert_eq!(drawn.matches("class=\"bar\"").count(), 3);
        let drawn = errors(&[(1.0, 0.5), (2.0, -0.5), (2.0, -0.5)], "x");
        assert_eq!(drawn.matches("<circle").count(), 3);
    }
}
