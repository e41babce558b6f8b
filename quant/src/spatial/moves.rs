//! Elements that change places, or their shape.

use super::shape::Shape;

/// One step of a movement.
#[derive(Debug, Clone, PartialEq)]
pub enum Move {
    /// Another shape, in the same order.
    Reshape(Shape),
    /// Axis `i` of what is made is axis `order[i]` of what is read.
    Transpose([usize; 3]),
    /// Elements from `start` on, `size` of them, by `step`.
    Slice {
        /// The first, by axis.
        start: [usize; 3],
        /// How many.
        size: [usize; 3],
        /// From one to the next.
        step: [usize; 3],
    },
    /// Elements around it.
    Pad {
        /// How many before, by axis.
        before: [usize; 3],
        /// How many behind.
        after: [usize; 3],
    },
}
