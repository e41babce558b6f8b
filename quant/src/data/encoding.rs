//! What the bytes of an array stand for, and how its examples lie.

use super::error::DataError;
use crate::graph::description::Tensor;
use crate::spatial::Shape;

/// The type of an array of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ByteType {
    /// 0 to 255
    U8,
    /// −128 to 127
    I8,
}

/// The real value of a byte: `(byte − zero) · unit`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Encoding {
    /// The real value of a step, above 0.
    pub unit: f64,
    /// The byte that stands for 0.
    pub zero: i32,
}

impl Encoding {
    /// The real value of a byte.
    #[must_use]
    pub fn real(self, byte: f64) -> f64 {
        (byte - f64::from(self.zero)) * self.unit
    }
}

/// Puts examples of (channels, height, width), one behind the other, in order: (height, width, channels).
pub(super) fn channels_last<T: Copy>(axes: &mut Vec<usize>, values: &mut Vec<T>) -> Result<(), DataError> {
    let [channels, height, width] = axes[..] else {
        return Err(DataError::ChannelsFirst { found: Tensor::shape_text(axes) });
    };
    let pixels = height * width;
    let ordered = values.chunks_exact((channels * pixels).max(1)).flat_map(|example| {
        (0..pixels).flat_map(move |pixel| (0..channels).map(move |channel| example[channel * pixels + pixel]))
    });
    *values = ordered.collect();
    *axes = vec![height, width, channels];
    Ok(())
}

/// Whether an example with these axes is what a network of this input takes: a vector any of as many elements, a map
/// one of its shape, axes of 1 apart, or a row of its elements.
pub(super) fn check_axes(record: usize, axes: &[usize], shape: Shape) -> Result<(), DataError> {
    let found: usize = axes.iter().product();
    let without_ones = |axes: &[usize]| axes.iter().copied().filter(|len| *len != 1).collect::<Vec<usize>>();
    if found == shape.len() && (axes.len() <= 1 || shape.is_vector()) {
        return Ok(());
    }
    if shape.is_vector() || axes.len() <= 1 {
        let why = format!("{found} elements, the network takes {}", shape.len());
        return Err(DataError::Record { record, why });
    }
    if without_ones(axes) == without_ones(&shape.axes()) {
        return Ok(());
    }
    let [height, width, channels] = shape.axes();
    let is_turned = axes == [channels, height, width];
    let hint = if is_turned { "; --channels-first says that examples are (channels, height, width)" } else { "" };
    let (found, expected) = (Tensor::shape_text(axes), Tensor::shape_text(&shape.axes()));
    Err(DataError::Record { record, why: format!("the shape {found}, the network takes {expected}{hint}") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_fit_by_their_axes() {
        let check = |axes: &[usize], shape| check_axes(3, axes, shape).map_err(|error| error.to_string());
        let map = Shape::map(4, 5, 3);
        assert_eq!(check(&[4, 5, 3], map), Ok(()));
        assert_eq!(check(&[60], map), Ok(()));
        assert_eq!(check(&[4, 5], Shape::map(4, 5, 1)), Ok(()));
        assert_eq!(check(&[1, 4, 5], Shape::map(4, 5, 1)), Ok(()));
        assert_eq!(check(&[4, 5, 3], Shape::vector(60)), Ok(()));
        assert_eq!(check(&[59], map).unwrap_err(), "record 3: 59 elements, the network takes 60");
        assert_eq!(
            check(&[3, 4, 5], map).unwrap_err(),
            "record 3: the shape (3, 4, 5), the network takes (4, 5, 3); --channels-first says that examples are \
             (channels, height, width)"
        );
        assert_eq!(check(&[5, 4, 3], map).unwrap_err(), "record 3: the shape (5, 4, 3), the network takes (4, 5, 3)");
    }

    #[test]
    fn channels_are_put_last() {
        let (mut axes, mut values) = (vec![2, 1, 3], vec![1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
        channels_last(&mut axes, &mut values).unwrap();
        assert_eq!((axes, values), (vec![1, 3, 2], vec![1, 4, 2, 5, 3, 6, 7, 10, 8, 11, 9, 12]));
        let error = channels_last(&mut vec![6], &mut vec![0; 6]).unwrap_err();
        assert!(error.to_string().contains("of the shape (6,)"), "{error}");
    }
}
