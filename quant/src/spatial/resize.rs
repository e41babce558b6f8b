//! Maps of another size: which pixels an output pixel is made of.

/// Where output pixels lie among input pixels, as ONNX names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coordinates {
    /// `(x + ½) / scale − ½`
    HalfPixel,
    /// The same, and 0 where there is one output pixel.
    PytorchHalfPixel,
    /// `x / scale`
    Asymmetric,
    /// The first and the last pixels of both lie upon one another.
    AlignCorners,
}

/// Which of two neighbours is the nearest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rounding {
    /// The lower one, always.
    Floor,
    /// The upper one, always.
    Ceil,
    /// The nearer one, the lower of two as near.
    HalfDown,
    /// The nearer one, the upper of two as near.
    HalfUp,
}

/// How an output pixel follows from its neighbours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sampling {
    /// One of them.
    Nearest(Rounding),
    /// Their mean, weighted by distance.
    Bilinear,
}

/// What one output pixel is along an axis: `(1 − weight) · first + weight · second`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tap {
    /// The lower neighbour.
    pub first: usize,
    /// The upper one.
    pub second: usize,
    /// Of the upper one, 0 to 1.
    pub weight: f64,
}

/// The taps of every output pixel along an axis of `from` pixels that become `to`. Beyond the ends is the last pixel.
#[must_use]
pub fn taps(from: usize, to: usize, sampling: Sampling, coordinates: Coordinates) -> Vec<Tap> {
    let last = from.saturating_sub(1) as f64;
    let scale = from as f64 / to as f64;
    let place = |x: usize| {
        let x = x as f64;
        match coordinates {
            Coordinates::PytorchHalfPixel if to <= 1 => 0.0,
            Coordinates::HalfPixel | Coordinates::PytorchHalfPixel => (x + 0.5) * scale - 0.5,
            Coordinates::Asymmetric => x * scale,
            Coordinates::AlignCorners if to <= 1 => 0.0,
            Coordinates::AlignCorners => x * last / (to - 1) as f64,
        }
    };
    let tap = |x: usize| {
        let at = place(x);
        let Sampling::Nearest(rounding) = sampling else {
            let at = at.clamp(0.0, last);
            let first = at.floor();
            let second = (first + 1.0).min(last);
            return Tap { first: first as usize, second: second as usize, weight: at - first };
        };
        let nearest = match rounding {
            Rounding::Floor => at.floor(),
            Rounding::Ceil => at.ceil(),
            Rounding::HalfDown => (at - 0.5).ceil(),
            Rounding::HalfUp => (at + 0.5).floor(),
        };
        let first = nearest.clamp(0.0, last) as usize;
        Tap { first, second: first, weight: 0.0 }
    };
    (0..to).map(tap).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twice_as_many_pixels_come_in_pairs() {
        let nearest = Sampling::Nearest(Rounding::Floor);
        let firsts: Vec<usize> = taps(3, 6, nearest, Coordinates::Asymmetric).iter().map(|tap| tap.first).collect();
        assert_eq!(firsts, [0, 0, 1, 1, 2, 2]);
        let half = taps(2, 4, Sampling::Bilinear, Coordinates::HalfPixel);
        let weights: Vec<(usize, f64)> = half.iter().map(|tap| (tap.first, tap.weight)).collect();
        assert_eq!(weights, [(0, 0.0), (0, 0.25), (0, 0.75), (1, 0.0)]);
        let corners = taps(3, 5, Sampling::Bilinear, Coordinates::AlignCorners);
        assert_eq!(corners[3], Tap { first: 1, second: 2, weight: 0.5 });
    }
}
