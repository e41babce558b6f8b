//! How weights lie in their files.

/// Which index of a matrix changes slowest in its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// The output: a row holds the weights of one output. PyTorch's layers.
    OutIn,
    /// The input: a row holds the weights of one input. Keras' layers, and everybody's embeddings.
    InOut,
}

impl Order {
    /// All of them.
    pub(super) const ALL: [Self; 2] = [Self::OutIn, Self::InOut];

    /// What stands in a description.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::OutIn => "out-in",
            Self::InOut => "in-out",
        }
    }

    /// The other one.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::OutIn => Self::InOut,
            Self::InOut => Self::OutIn,
        }
    }
}

/// In which order the indices of a kernel stand in its file, the slowest first. Inputs are those of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KernelOrder {
    /// PyTorch's and ONNX's convolutions.
    OutInHw,
    /// TFLite's.
    OutHwIn,
    /// Keras': of depthwise ones (h, w, channel, outputs of a channel).
    HwInOut,
    /// Transposed convolutions of PyTorch and ONNX: every input, and the outputs of a group.
    InOutHw,
    /// Those of Keras, with the same indices.
    HwOutIn,
}

impl KernelOrder {
    /// Those of convolutions; the first is the default.
    pub(super) const OF_CONVOLUTIONS: &[Self] = &[Self::OutInHw, Self::OutHwIn, Self::HwInOut];
    /// Those of transposed convolutions; the first is the default.
    pub(super) const OF_TRANSPOSED: &[Self] = &[Self::InOutHw, Self::OutHwIn, Self::HwOutIn];

    /// What stands in a description.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::OutInHw => "out-in-h-w",
            Self::OutHwIn => "out-h-w-in",
            Self::HwInOut => "h-w-in-out",
            Self::InOutHw => "in-out-h-w",
            Self::HwOutIn => "h-w-out-in",
        }
    }
}

/// The sizes of a kernel's indices.
#[derive(Debug, Clone, Copy)]
pub(super) struct KernelSizes {
    /// All outputs, at least 1.
    pub outputs: usize,
    /// All inputs.
    pub inputs: usize,
    /// At least 1; divides both.
    pub groups: usize,
    /// Down and across.
    pub kernel: [usize; 2],
}

impl KernelSizes {
    /// The shape of its tensor.
    pub(super) fn shape(self, order: KernelOrder) -> Vec<usize> {
        let Self { outputs, inputs, groups, kernel: [height, width] } = self;
        match order {
            KernelOrder::OutInHw => vec![outputs, inputs / groups, height, width],
            KernelOrder::OutHwIn => vec![outputs, height, width, inputs / groups],
            KernelOrder::HwInOut if groups == inputs => vec![height, width, inputs, outputs / groups],
            KernelOrder::HwInOut => vec![height, width, inputs / groups, outputs],
            KernelOrder::InOutHw => vec![inputs, outputs / groups, height, width],
            KernelOrder::HwOutIn => vec![height, width, outputs / groups, inputs],
        }
    }

    /// Inputs of a group.
    pub(super) const fn group_inputs(self) -> usize {
        self.inputs / self.groups
    }

    /// Taps of a channel.
    pub(super) const fn taps(self) -> usize {
        self.kernel[0] * self.kernel[1]
    }

    /// Where the weight of an output for a tap of an input of its group stands in the tensor.
    pub(super) const fn place(self, order: KernelOrder, output: usize, tap: usize, input: usize) -> usize {
        let (inputs, outputs, taps) = (self.group_inputs(), self.outputs / self.groups, self.taps());
        let (group, of_group) = (output / outputs, output % outputs);
        match order {
            KernelOrder::OutInHw => (output * inputs + input) * taps + tap,
            KernelOrder::OutHwIn => (output * taps + tap) * inputs + input,
            // Of depthwise ones, too: outputs are counted channel by channel.
            KernelOrder::HwInOut => (tap * inputs + input) * self.outputs + output,
            KernelOrder::InOutHw => ((group * inputs + input) * outputs + of_group) * taps + tap,
            KernelOrder::HwOutIn => (tap * outputs + of_group) * self.inputs + group * inputs + input,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_weight_has_one_place_in_every_order() {
        for (outputs, inputs, groups) in [(6, 4, 1), (6, 4, 2), (8, 4, 4), (1, 1, 1)] {
            let sizes = KernelSizes { outputs, inputs, groups, kernel: [2, 3] };
            for order in KernelOrder::OF_CONVOLUTIONS.iter().chain(KernelOrder::OF_TRANSPOSED) {
                let weights = (0..outputs).flat_map(|output| (0..6).map(move |tap| (output, tap)));
                let places: HashSet<usize> = weights
                    .flat_map(|(output, tap)| {
                        (0..sizes.group_inputs()).map(move |input| sizes.place(*order, output, tap, input))
                    })
                    .collect();
                let count: usize = sizes.shape(*order).iter().product();
                assert_eq!((places.len(), count), (outputs * 6 * inputs / groups, places.len()), "{order:?}");
                assert_eq!(places.iter().max(), Some(&(count - 1)), "{order:?}");
            }
        }
        let sizes = KernelSizes { outputs: 6, inputs: 4, groups: 2, kernel: [2, 3] };
        // Output 4 is the second of group 1; (y, x) is (1, 0), tap 3; input 1 of the group is input 3.
        assert_eq!(sizes.place(KernelOrder::OutInHw, 4, 3, 1), ((4 * 2 + 1) * 2 + 1) * 3);
        assert_eq!(sizes.place(KernelOrder::InOutHw, 4, 3, 1), ((3 * 3 + 1) * 2 + 1) * 3);
        assert_eq!(sizes.place(KernelOrder::HwOutIn, 4, 3, 1), (3 * 3 + 1) * 4 + 3);
    }
}
