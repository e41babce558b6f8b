//! What a file says: tensors, and operators in the order of execution.

use super::operators::Builtin;
use crate::import::Remark;
use crate::spatial::Window;

/// A file, its weights where they lie in it.
#[derive(Debug, Clone, PartialEq)]
pub struct Model<'a> {
    /// By number, as operators name them.
    pub tensors: Vec<Tensor<'a>>,
    /// In the order of execution.
    pub operators: Vec<Operator>,
    /// Numbers of the tensors that go in.
    pub inputs: Vec<usize>,
    /// Numbers of those that come out.
    pub outputs: Vec<usize>,
    /// What a person should know.
    pub remarks: Vec<Remark>,
    /// Length of the file.
    pub len_bytes: usize,
}

/// A value, or weights.
#[derive(Debug, Clone, PartialEq)]
pub struct Tensor<'a> {
    /// Its name, printable and cut when long.
    pub name: String,
    /// Its dimensions, each at least 1; none of a single number.
    pub dims: Vec<usize>,
    /// What it is of.
    pub element: Element,
    /// The elements, little endian, of a constant; nothing of what is computed.
    pub data: Option<&'a [u8]>,
    /// How integers stand for reals; none where they do not.
    pub quantisation: Option<Quantisation>,
    /// Whether it is kept from one call to the next.
    pub is_variable: bool,
    /// Whether a dimension behind the first is left open until the network runs.
    pub is_dynamic: bool,
}

/// `real = scale · (stored − zero point)`.
#[derive(Debug, Clone, PartialEq)]
pub struct Quantisation {
    /// One, or one for each index along the axis; finite and above 0.
    pub scales: Vec<f32>,
    /// As many, each in the range of the tensor's elements.
    pub zero_points: Vec<i64>,
    /// Along which scales lie, where there are several.
    pub axis: usize,
}

/// A step of the network.
#[derive(Debug, Clone, PartialEq)]
pub struct Operator {
    /// Number and name, for errors: `operator 3 (CONV_2D, makes \`conv1\`)`.
    pub place: String,
    /// What it does.
    pub builtin: Builtin,
    /// What it reads; an optional input may be absent.
    pub inputs: Vec<Option<usize>>,
    /// What it makes.
    pub outputs: Vec<usize>,
    /// How it does it.
    pub options: Options,
}

/// Element types that can be told from one another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Element {
    /// float32
    F32,
    /// float16
    F16,
    /// int32
    I32,
    /// uint8
    U8,
    /// int64
    I64,
    /// bool
    Bool,
    /// int16
    I16,
    /// int8
    I8,
    /// Any other that the format has.
    Other(&'static str),
}

impl Element {
    const ALL: [Self; 23] = [
        Self::F32,
        Self::F16,
        Self::I32,
        Self::U8,
        Self::I64,
        Self::Other("string"),
        Self::Bool,
        Self::I16,
        Self::Other("complex64"),
        Self::I8,
        Self::Other("float64"),
        Self::Other("complex128"),
        Self::Other("uint64"),
        Self::Other("resource"),
        Self::Other("variant"),
        Self::Other("uint32"),
        Self::Other("uint16"),
        Self::Other("int4"),
        Self::Other("bfloat16"),
        Self::Other("int2"),
        Self::Other("uint4"),
        Self::Other("float8_e4m3"),
        Self::Other("float8_e5m2"),
    ];

    /// Of a code in the file.
    pub(super) fn of(code: u8) -> Option<Self> {
        Self::ALL.get(usize::from(code)).copied()
    }

    /// What TensorFlow calls it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::F32 => "float32",
            Self::F16 => "float16",
            Self::I32 => "int32",
            Self::U8 => "uint8",
            Self::I64 => "int64",
            Self::Bool => "bool",
            Self::I16 => "int16",
            Self::I8 => "int8",
            Self::Other(word) => word,
        }
    }

    /// Bytes of one; none where elements are packed or have no one length.
    #[must_use]
    pub const fn len_bytes(self) -> Option<usize> {
        match self {
            Self::F32 | Self::I32 => Some(4),
            Self::I64 => Some(8),
            Self::F16 | Self::I16 => Some(2),
            Self::U8 | Self::I8 | Self::Bool => Some(1),
            Self::Other(_) => None,
        }
    }

    /// The zero points that it can have.
    pub(super) const fn zero_points(self) -> Option<(i64, i64)> {
        match self {
            Self::I8 => Some((-128, 127)),
            Self::U8 => Some((0, 255)),
            // Symmetric but for softmax.
            Self::I16 => Some((-32768, 32767)),
            // Symmetric by the specification.
            Self::I32 | Self::I64 => Some((0, 0)),
            _ => None,
        }
    }
}

/// What padding a window has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Padding {
    /// As many outputs as strides begin in the input, the odd pixel of padding behind.
    Same,
    /// None.
    Valid,
}

/// What is done with every output of an operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fused {
    /// Nothing.
    None,
    /// At least 0.
    Relu,
    /// −1 to 1.
    ReluN1To1,
    /// 0 to 6.
    Relu6,
    /// tanh
    Tanh,
    /// The sign.
    SignBit,
}

/// How an operator does what it does; pairs are (down, across).
#[derive(Debug, Clone, PartialEq)]
pub enum Options {
    /// Nothing that is looked at.
    None,
    /// Of convolutions, depthwise and transposed ones too, and pools.
    Window {
        /// Which padding.
        padding: Padding,
        /// At least 1.
        stride: [usize; 2],
        /// At least 1.
        dilation: [usize; 2],
        /// Of a pool, at least 1; weights say it of the others.
        kernel: Option<[usize; 2]>,
        /// Of a depthwise convolution: outputs of an input; 0 where it is not said.
        multiplier: usize,
        /// On every output.
        fused: Fused,
    },
    /// Of dense layers.
    Dense {
        /// On every output.
        fused: Fused,
        /// Whether the output has the input's dimensions but the last.
        keeps_dims: bool,
    },
    /// Of operators of two values.
    Fused(Fused),
    /// β of a softmax, the slope of a leaky ReLU.
    Factor(f32),
    /// Of concatenation, packing and unpacking, as the file has it: negative from behind.
    Axis {
        /// Which.
        axis: i32,
        /// On every output.
        fused: Fused,
    },
    /// Of sums over axes: whether they stay, with a length of 1.
    Reduce {
        /// As said.
        keeps_dims: bool,
    },
    /// Where the pixels of a resized map lie.
    Resize {
        /// First and last pixels lie upon one another.
        align_corners: bool,
        /// Pixels have their centres between whole numbers.
        half_pixel: bool,
    },
    /// Of slices with steps; bit i of a mask is of axis i.
    Strided {
        /// Where the beginning has no meaning.
        begin: i32,
        /// Where the end has none.
        end: i32,
        /// Where axes are left out.
        ellipsis: i32,
        /// Where an axis is put in.
        new_axis: i32,
        /// Where one element is taken and the axis goes.
        shrink: i32,
        /// Whether ends count from beginnings.
        offset: bool,
    },
    /// Of mirrored padding: whether the first and the last element come twice.
    Mirror {
        /// As said.
        symmetric: bool,
    },
}

impl Options {
    /// Where a pool over a map of so many pixels (down, across) takes its taps; none of what is no pool.
    pub fn pool(&self, size: [usize; 2]) -> Option<Window> {
        let Self::Window { padding, stride, kernel: Some(kernel), .. } = *self else { return None };
        let of = |kernel| Window { stride, ..Window::of(kernel) };
        // From twice the map on, padding that leaves its size makes every window reach over all of it.
        let reached = [0, 1].map(|axis| kernel[axis].min(2 * size[axis]));
        Some(if padding == Padding::Same { of(reached).same(size) } else { of(kernel) })
    }
}

impl Tensor<'_> {
    /// Elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.dims.iter().product()
    }

    /// Whether there are none, which no checked tensor has.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// `[1, 49, 10, 1]`
    pub(super) fn shape(&self) -> String {
        format!("{:?}", self.dims)
    }

    /// The scale and zero point of all of it; none where there are several or none.
    #[must_use]
    pub fn single(&self) -> Option<(f32, i64)> {
        let quantisation = self.quantisation.as_ref().filter(|quantisation| quantisation.scales.len() == 1)?;
        Some((quantisation.scales[0], quantisation.zero_points[0]))
    }

    /// The integers of a constant, whatever they stand for; none of a tensor that is no constant, or of others.
    #[must_use]
    pub fn stored(&self) -> Option<Vec<i64>> {
        let data = self.data?;
        match self.element {
            Element::I8 => Some(data.iter().map(|byte| byte.cast_signed().into()).collect()),
            Element::U8 => Some(data.iter().map(|byte| i64::from(*byte)).collect()),
            Element::I16 => Some(data.as_chunks().0.iter().map(|bytes| i16::from_le_bytes(*bytes).into()).collect()),
            _ => self.integers(),
        }
    }

    /// The reals that the integers of a constant stand for; none of a tensor that is no constant or has no scale.
    #[must_use]
    pub fn reals(&self) -> Option<Vec<f64>> {
        let Quantisation { scales, zero_points, axis } = self.quantisation.as_ref()?;
        let axis = if self.dims.len() == 1 { 0 } else { *axis };
        // Elements from one index along the axis to the next.
        let inner: usize = if scales.len() == 1 { usize::MAX } else { self.dims.get(axis + 1..)?.iter().product() };
        let of = |(at, stored): (usize, i64)| {
            let index = at / inner % scales.len();
            f64::from(scales[index]) * (stored - zero_points[index]) as f64
        };
        Some(self.stored()?.into_iter().enumerate().map(of).collect())
    }

    /// The numbers of a constant of int32 or int64; none of any other tensor.
    #[must_use]
    pub fn integers(&self) -> Option<Vec<i64>> {
        let data = self.data?;
        match self.element {
            Element::I32 => Some(data.as_chunks().0.iter().map(|bytes| i32::from_le_bytes(*bytes).into()).collect()),
            Element::I64 => Some(data.as_chunks().0.iter().map(|bytes| i64::from_le_bytes(*bytes)).collect()),
            _ => None,
        }
    }
}

impl Model<'_> {
    /// Number and name of a tensor, for errors.
    pub(super) fn place(&self, tensor: usize) -> String {
        format!("tensor {tensor} (`{}`)", self.tensors[tensor].name)
    }
}
