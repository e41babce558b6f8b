//! What goes into a network.

use bytemuck::cast_slice;

/// What goes in.
///
/// ```
/// use tamis_runtime::{Input, Output, Plan, Workspace, format::Model, kernels};
///
/// // A network of nine features, some of which are there.
/// # static NET: &[u8] =
/// #     tamis_runtime::include_model!("../../tests/fuzz/corpus/loader/sparse-reals-without-values.bin");
/// # #[cfg(feature = "general")] {
/// let plan = Plan::new(Model::parse(NET)?, kernels::best());
/// let mut scratch = Workspace::<512>::new();
/// let output = plan.run(Input::Sparse { features: &[2, 5, 8], values: &[] }, 0, scratch.as_mut())?;
/// assert!(matches!(output, Output::F32(probabilities) if probabilities.len() == 3));
/// # }
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Input<'a> {
    /// Accumulators of the side to move and of the other side, whatever order the network wants them in; the second is
    /// not read by a network of one perspective. Each (hidden,) i16.
    Accumulators(&'a [i16], &'a [i16]),
    /// (size,) u8. Dense layers take least time where all are at most 127.
    U8(&'a [u8]),
    /// (size,) i8.
    I8(&'a [i8]),
    /// (size,) f32.
    F32(&'a [f32]),
    /// The features that are not 0, in ascending order, each below `size`: at most, or with `exact` exactly,
    /// `max_active`.
    Sparse {
        /// Their numbers.
        features: &'a [u32],
        /// Their values, as many, in units of [`crate::format::InputRecord::unit`]; empty for a network without values.
        values: &'a [i16],
    },
}

impl<'a> Input<'a> {
    /// A dense vector as it lies in memory; nothing of any other input.
    pub(crate) fn bytes(&self) -> &'a [u8] {
        match *self {
            Self::U8(x) => x,
            Self::I8(x) => cast_slice(x),
            Self::F32(x) => cast_slice(x),
            Self::Accumulators(..) | Self::Sparse { .. } => &[],
        }
    }
}
