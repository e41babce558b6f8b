//! How operators do what they do.

use super::error::TfliteError;
use super::flatbuffer::Table;
use super::operators::Known;
use super::types::{Fused, Options, Padding};

/// The options of an operator; defaults where the file has none.
pub(super) fn read(operator: &Table<'_, '_>, known: Known, place: &str) -> Result<Options, TfliteError> {
    let found = operator.u8(3, "builtin_options_type")?;
    if let Some(expected) = known.options()
        && found != expected
        && found != 0
    {
        return Err(TfliteError::malformed(place, "the kind of its options", found, expected));
    }
    let table = operator.table(4, "builtin_options")?;
    let fields = Fields { table: table.filter(|_| found != 0), place };
    fields.options(known)
}

/// The table of options, if there is one, and whose it is.
struct Fields<'b, 'a, 'p> {
    table: Option<Table<'b, 'a>>,
    place: &'p str,
}

/// A number of options that are left out, all of whose fields are the schema's defaults.
const LEFT_OUT: u8 = 0;

impl Fields<'_, '_, '_> {
    fn options(&self, known: Known) -> Result<Options, TfliteError> {
        Ok(match known {
            Known::Conv => self.window(3, Some([5, 4]), None, None)?,
            Known::DepthwiseConv => self.window(4, Some([6, 5]), None, Some(3))?,
            Known::TransposeConv => self.window(3, None, None, None)?,
            Known::AveragePool | Known::MaxPool => self.window(5, None, Some([4, 3]), None)?,
            Known::FullyConnected => {
                if self.u8(1, "weights_format")? != 0 {
                    return Err(TfliteError::unsupported(self.place, "weights in a shuffled order", ""));
                }
                Options::Dense { fused: self.fused(0)?, keeps_dims: self.flag(2, "keep_num_dims")? }
            }
            Known::Add | Known::Sub | Known::Mul | Known::Div => Options::Fused(self.fused(0)?),
            Known::Softmax => Options::Factor(self.f32(0, "beta")?),
            Known::LeakyRelu => Options::Factor(self.f32(0, "alpha")?),
            Known::Concatenation => Options::Axis { axis: self.i32(0, "axis", 0)?, fused: self.fused(1)? },
            Known::Pack | Known::Unpack => Options::Axis { axis: self.i32(1, "axis", 0)?, fused: Fused::None },
            Known::Mean | Known::Sum | Known::ReduceMax => Options::Reduce { keeps_dims: self.flag(0, "keep_dims")? },
            Known::ResizeBilinear => self.resize([2, 3])?,
            Known::ResizeNearest => self.resize([0, 1])?,
            Known::MirrorPad => Options::Mirror { symmetric: self.flag(0, "mode")? },
            Known::StridedSlice => Options::Strided {
                begin: self.i32(0, "begin_mask", 0)?,
                end: self.i32(1, "end_mask", 0)?,
                ellipsis: self.i32(2, "ellipsis_mask", 0)?,
                new_axis: self.i32(3, "new_axis_mask", 0)?,
                shrink: self.i32(4, "shrink_axis_mask", 0)?,
                offset: self.flag(5, "offset")?,
            },
            _ => Options::None,
        })
    }

    /// Padding, stride across and down are the first fields of all of them; the others by their numbers.
    fn window(
        &self,
        fused: usize,
        dilation: Option<[usize; 2]>,
        kernel: Option<[usize; 2]>,
        multiplier: Option<usize>,
    ) -> Result<Options, TfliteError> {
        let padding = match self.u8(0, "padding")? {
            0 => Padding::Same,
            1 => Padding::Valid,
            found => return Err(TfliteError::malformed(self.place, "its padding", found, "0, SAME, or 1, VALID")),
        };
        let positive = |field: usize, name: &'static str, default: i32| {
            let found = self.i32(field, name, default)?;
            let size = usize::try_from(found).ok().filter(|size| (1..=1 << 20).contains(size));
            size.ok_or_else(|| TfliteError::malformed(self.place, name, found, "1 to 2^20"))
        };
        let stride = [positive(2, "stride_h", 0)?, positive(1, "stride_w", 0)?];
        let dilation = match dilation {
            Some([h, w]) => [positive(h, "dilation_h_factor", 1)?, positive(w, "dilation_w_factor", 1)?],
            None => [1, 1],
        };
        let kernel = match kernel {
            Some([h, w]) => Some([positive(h, "filter_height", 0)?, positive(w, "filter_width", 0)?]),
            None => None,
        };
        let multiplier = match multiplier {
            Some(field) => {
                let found = self.i32(field, "depth_multiplier", 0)?;
                usize::try_from(found)
                    .map_err(|_| TfliteError::malformed(self.place, "depth_multiplier", found, "no number below 0"))?
            }
            None => 0,
        };
        Ok(Options::Window { padding, stride, dilation, kernel, multiplier, fused: self.fused(fused)? })
    }

    fn resize(&self, [align, half]: [usize; 2]) -> Result<Options, TfliteError> {
        let align_corners = self.flag(align, "align_corners")?;
        Ok(Options::Resize { align_corners, half_pixel: self.flag(half, "half_pixel_centers")? })
    }

    fn fused(&self, field: usize) -> Result<Fused, TfliteError> {
        Ok(match self.u8(field, "fused_activation_function")? {
            0 => Fused::None,
            1 => Fused::Relu,
            2 => Fused::ReluN1To1,
            3 => Fused::Relu6,
            4 => Fused::Tanh,
            5 => Fused::SignBit,
            found => return Err(TfliteError::malformed(self.place, "its fused activation", found, "0 to 5")),
        })
    }

    fn u8(&self, field: usize, name: &'static str) -> Result<u8, TfliteError> {
        self.table.map_or(Ok(LEFT_OUT), |table| Ok(table.u8(field, name)?))
    }

    fn flag(&self, field: usize, name: &'static str) -> Result<bool, TfliteError> {
        Ok(self.u8(field, name)? != 0)
    }

    fn i32(&self, field: usize, name: &'static str, default: i32) -> Result<i32, TfliteError> {
        Ok(self.table.map(|table| table.i32(field, name, default)).transpose()?.unwrap_or(default))
    }

    fn f32(&self, field: usize, name: &'static str) -> Result<f32, TfliteError> {
        self.table.map_or(Ok(LEFT_OUT.into()), |table| Ok(table.f32(field, name)?))
    }
}
