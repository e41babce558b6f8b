//! A window that slides over a map: of convolutions and of pools.

/// How a window slides; each pair is (down, across).
///
/// Output (y, x) sees input `y · stride + tap · dilation − before` of each axis; what lies outside is padding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// Taps.
    pub kernel: [usize; 2],
    /// Pixels from one place of the window to the next.
    pub stride: [usize; 2],
    /// Pixels from one tap to the next.
    pub dilation: [usize; 2],
    /// Padding above and to the left.
    pub before: [usize; 2],
    /// Padding below and to the right.
    pub after: [usize; 2],
}

impl Window {
    /// A window of these taps that moves pixel by pixel, without padding.
    #[must_use]
    pub const fn of(kernel: [usize; 2]) -> Self {
        Self { kernel, stride: [1, 1], dilation: [1, 1], before: [0, 0], after: [0, 0] }
    }

    /// The same with the padding of TensorFlow's SAME over an input of this size: as many outputs as strides begin in
    /// it, the odd pixel of padding behind.
    #[must_use]
    pub fn same(self, size: [usize; 2]) -> Self {
        let total = |axis: usize| {
            let outputs = size[axis].div_ceil(self.stride[axis].max(1));
            (outputs.saturating_sub(1) * self.stride[axis] + self.reach(axis)).saturating_sub(size[axis])
        };
        let total = [total(0), total(1)];
        Self { before: total.map(|total| total / 2), after: total.map(|total| total - total / 2), ..self }
    }

    /// Pixels from the first tap to the last, both counted.
    #[must_use]
    pub const fn reach(&self, axis: usize) -> usize {
        self.kernel[axis].saturating_sub(1).saturating_mul(self.dilation[axis]).saturating_add(1)
    }

    /// Taps of a channel.
    #[must_use]
    pub const fn taps(&self) -> usize {
        self.kernel[0].saturating_mul(self.kernel[1])
    }

    /// Whether it is one pixel that takes every pixel.
    #[must_use]
    pub fn is_pixel(&self) -> bool {
        *self == Self { dilation: self.dilation, ..Self::of([1, 1]) }
    }

    /// Places of the window over an input of this size; none if a size is 0 or the window does not fit.
    #[must_use]
    pub fn outputs(&self, size: [usize; 2]) -> Option<[usize; 2]> {
        let along = |axis: usize| {
            let padded = size[axis].checked_add(self.before[axis])?.checked_add(self.after[axis])?;
            let room = padded.checked_sub(self.reach(axis))?;
            (self.kernel[axis] > 0 && self.dilation[axis] > 0).then_some(())?;
            Some(room.checked_div(self.stride[axis])? + 1)
        };
        Some([along(0)?, along(1)?])
    }

    /// The same with no more padding behind than so many outputs of an input of this size reach.
    #[must_use]
    pub fn trimmed(self, size: [usize; 2], outputs: [usize; 2]) -> Self {
        let after = |axis: usize| {
            let end = (outputs[axis].max(1) - 1) * self.stride[axis] + self.reach(axis);
            end.saturating_sub(self.before[axis] + size[axis])
        };
        Self { after: [after(0), after(1)], ..self }
    }

    /// The input pixel along an axis that a tap sees; none in the padding.
    #[must_use]
    pub const fn input(&self, axis: usize, output: usize, tap: usize, size: usize) -> Option<usize> {
        match (output * self.stride[axis] + tap * self.dilation[axis]).checked_sub(self.before[axis]) {
            Some(at) if at < size => Some(at),
            _ => None,
        }
    }

    /// Whether some of so many outputs sees no pixel of an input of this size, only padding.
    #[must_use]
    pub fn misses(&self, size: [usize; 2], outputs: [usize; 2]) -> bool {
        let sees = |axis: usize, output: usize| {
            (0..self.kernel[axis]).any(|tap| self.input(axis, output, tap, size[axis]).is_some())
        };
        (0..2).any(|axis| (0..outputs[axis]).any(|output| !sees(axis, output)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Taps with a gap may have the only row between them.
    #[test]
    fn a_window_can_lie_in_padding_alone() {
        let wide = |dilation| Window { dilation, before: [1, 0], after: [1, 0], ..Window::of([2, 1]) };
        assert!(wide([2, 1]).misses([1, 1], [1, 1]));
        assert!(!wide([1, 1]).misses([1, 1], [2, 1]));
        assert!(!Window::of([3, 3]).same([5, 5]).misses([5, 5], [5, 5]));
    }

    /// The sides of convnets' first layers: KWS, VWW, and odd sides.
    #[test]
    fn same_pads_behind_first() {
        let same = |kernel, stride, size| Window { stride, ..Window::of(kernel) }.same(size);
        let kws = same([10, 4], [2, 2], [49, 10]);
        assert_eq!((kws.before, kws.after, kws.outputs([49, 10])), ([4, 1], [5, 1], Some([25, 5])));
        let even = same([3, 3], [2, 2], [96, 96]);
        assert_eq!((even.before, even.after, even.outputs([96, 96])), ([0, 0], [1, 1], Some([48, 48])));
        assert_eq!(same([3, 3], [2, 2], [9, 7]).before, [1, 1]);
        assert_eq!(Window::of([3, 3]).outputs([2, 9]), None);
        assert_eq!(even.input(0, 47, 2, 96), None);
        assert_eq!(even.input(0, 47, 1, 96), Some(95));
    }
}
