//! What comes out of a network; and where the number of outputs is known when a program is built, as arrays: what
//! modules of `host-tools codegen` return.

use crate::error::RunError;

/// What comes out; the real value is the element times [`crate::format::InputRecord::output_unit`].
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Output<'w> {
    /// Integer outputs.
    I32(&'w [i32]),
    /// Real outputs.
    F32(&'w [f32]),
}

macro_rules! arrays {
    ($element:ty, $variant:ident, $what:literal) => {
        #[doc = concat!("The outputs of a network that has exactly `N` of them, as ", stringify!($element), ".")]
        impl<'w, const N: usize> TryFrom<Output<'w>> for &'w [$element; N] {
            /// [`RunError::Length`]; outputs of the other element count as none.
            type Error = RunError;

            fn try_from(output: Output<'w>) -> Result<Self, RunError> {
                let values = if let Output::$variant(values) = output { values } else { &[] };
                values.try_into().map_err(|_| RunError::Length { what: $what, found: values.len(), expected: N })
            }
        }
    };
}

arrays!(i32, I32, "outputs, as i32");
arrays!(f32, F32, "outputs, as f32");

#[cfg(test)]
mod tests {
    use super::{Output, RunError};

    #[test]
    fn only_an_output_of_that_length_and_element_is_an_array() {
        assert_eq!(Output::I32(&[1, -2]).try_into(), Ok(&[1, -2]));
        assert_eq!(Output::F32(&[0.5]).try_into(), Ok(&[0.5f32]));
        let refused = |output: Output<'static>| <&[i32; 2]>::try_from(output).unwrap_err();
        let length = |found| RunError::Length { what: "outputs, as i32", found, expected: 2 };
        assert_eq!(refused(Output::I32(&[1, 2, 3])), length(3));
        assert_eq!(refused(Output::I32(&[1])), length(1));
        assert_eq!(refused(Output::F32(&[1.0, 2.0])), length(0));
    }
}
