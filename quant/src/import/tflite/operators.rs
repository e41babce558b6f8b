//! The numbers by which files call operators.

/// An operator of the format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Builtin {
    /// One that becomes something.
    Known(Known),
    /// One that is called by name and refused.
    Other(&'static str),
}

macro_rules! known {
    ($($variant:ident = $code:literal, $name:literal, $options:expr;)*) => {
        /// The operators that are read, by their names in the format.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[expect(missing_docs, reason = "the names say it; the format's own documentation is what they mean")]
        pub enum Known {
            $($variant,)*
        }

        impl Known {
            const ALL: &'static [(i32, Self)] = &[$(($code, Self::$variant),)*];

            /// What the format calls it.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }

            /// The number of its options in the format's union; none where it has none that matter.
            pub(super) const fn options(self) -> Option<u8> {
                match self {
                    $(Self::$variant => $options,)*
                }
            }
        }
    };
}

known! {
    Add = 0, "ADD", Some(11);
    AveragePool = 1, "AVERAGE_POOL_2D", Some(5);
    Concatenation = 2, "CONCATENATION", Some(10);
    Conv = 3, "CONV_2D", Some(1);
    DepthwiseConv = 4, "DEPTHWISE_CONV_2D", Some(2);
    Dequantize = 6, "DEQUANTIZE", None;
    FullyConnected = 9, "FULLY_CONNECTED", Some(8);
    Logistic = 14, "LOGISTIC", None;
    MaxPool = 17, "MAX_POOL_2D", Some(5);
    Mul = 18, "MUL", Some(21);
    Relu = 19, "RELU", None;
    ReluN1To1 = 20, "RELU_N1_TO_1", None;
    Relu6 = 21, "RELU6", None;
    Reshape = 22, "RESHAPE", Some(17);
    ResizeBilinear = 23, "RESIZE_BILINEAR", Some(15);
    Softmax = 25, "SOFTMAX", Some(9);
    Tanh = 28, "TANH", None;
    Pad = 34, "PAD", Some(22);
    Transpose = 39, "TRANSPOSE", Some(26);
    Mean = 40, "MEAN", Some(27);
    Sub = 41, "SUB", Some(28);
    Div = 42, "DIV", Some(29);
    Squeeze = 43, "SQUEEZE", Some(30);
    StridedSlice = 45, "STRIDED_SLICE", Some(32);
    Exp = 47, "EXP", None;
    Split = 49, "SPLIT", Some(35);
    LogSoftmax = 50, "LOG_SOFTMAX", None;
    PRelu = 54, "PRELU", None;
    Maximum = 55, "MAXIMUM", Some(39);
    Minimum = 57, "MINIMUM", Some(39);
    Neg = 59, "NEG", None;
    PadV2 = 60, "PADV2", Some(43);
    Slice = 65, "SLICE", Some(48);
    TransposeConv = 67, "TRANSPOSE_CONV", Some(49);
    ExpandDims = 70, "EXPAND_DIMS", Some(52);
    Sum = 74, "SUM", Some(27);
    Sqrt = 75, "SQRT", None;
    Shape = 77, "SHAPE", None;
    ReduceMax = 82, "REDUCE_MAX", Some(27);
    Pack = 83, "PACK", Some(59);
    Unpack = 88, "UNPACK", Some(64);
    Square = 92, "SQUARE", None;
    ResizeNearest = 97, "RESIZE_NEAREST_NEIGHBOR", Some(74);
    LeakyRelu = 98, "LEAKY_RELU", Some(75);
    MirrorPad = 100, "MIRROR_PAD", Some(77);
    Abs = 101, "ABS", None;
    SplitV = 102, "SPLIT_V", Some(79);
    Elu = 111, "ELU", None;
    Quantize = 114, "QUANTIZE", None;
    HardSwish = 117, "HARD_SWISH", None;
}

/// The code of operators that only their makers know.
pub(super) const CUSTOM: i32 = 32;

/// Names of the others, by code.
const OTHERS: &[(i32, &str)] = &[
    (5, "DEPTH_TO_SPACE"),
    (7, "EMBEDDING_LOOKUP"),
    (8, "FLOOR"),
    (10, "HASHTABLE_LOOKUP"),
    (11, "L2_NORMALIZATION"),
    (12, "L2_POOL_2D"),
    (13, "LOCAL_RESPONSE_NORMALIZATION"),
    (15, "LSH_PROJECTION"),
    (16, "LSTM"),
    (24, "RNN"),
    (26, "SPACE_TO_DEPTH"),
    (27, "SVDF"),
    (29, "CONCAT_EMBEDDINGS"),
    (30, "SKIP_GRAM"),
    (31, "CALL"),
    (33, "EMBEDDING_LOOKUP_SPARSE"),
    (35, "UNIDIRECTIONAL_SEQUENCE_RNN"),
    (36, "GATHER"),
    (37, "BATCH_TO_SPACE_ND"),
    (38, "SPACE_TO_BATCH_ND"),
    (44, "UNIDIRECTIONAL_SEQUENCE_LSTM"),
    (46, "BIDIRECTIONAL_SEQUENCE_RNN"),
    (48, "TOPK_V2"),
    (51, "DELEGATE"),
    (52, "BIDIRECTIONAL_SEQUENCE_LSTM"),
    (53, "CAST"),
    (56, "ARG_MAX"),
    (58, "LESS"),
    (61, "GREATER"),
    (62, "GREATER_EQUAL"),
    (63, "LESS_EQUAL"),
    (64, "SELECT"),
    (66, "SIN"),
    (68, "SPARSE_TO_DENSE"),
    (69, "TILE"),
    (71, "EQUAL"),
    (72, "NOT_EQUAL"),
    (73, "LOG"),
    (76, "RSQRT"),
    (78, "POW"),
    (79, "ARG_MIN"),
    (80, "FAKE_QUANT"),
    (81, "REDUCE_PROD"),
    (84, "LOGICAL_OR"),
    (85, "ONE_HOT"),
    (86, "LOGICAL_AND"),
    (87, "LOGICAL_NOT"),
    (89, "REDUCE_MIN"),
    (90, "FLOOR_DIV"),
    (91, "REDUCE_ANY"),
    (93, "ZEROS_LIKE"),
    (94, "FILL"),
    (95, "FLOOR_MOD"),
    (96, "RANGE"),
    (99, "SQUARED_DIFFERENCE"),
    (103, "UNIQUE"),
    (104, "CEIL"),
    (105, "REVERSE_V2"),
    (106, "ADD_N"),
    (107, "GATHER_ND"),
    (108, "COS"),
    (109, "WHERE"),
    (110, "RANK"),
    (112, "REVERSE_SEQUENCE"),
    (113, "MATRIX_DIAG"),
    (115, "MATRIX_SET_DIAG"),
    (116, "ROUND"),
    (118, "IF"),
    (119, "WHILE"),
    (120, "NON_MAX_SUPPRESSION_V4"),
    (121, "NON_MAX_SUPPRESSION_V5"),
    (122, "SCATTER_ND"),
    (123, "SELECT_V2"),
    (124, "DENSIFY"),
    (125, "SEGMENT_SUM"),
    (126, "BATCH_MATMUL"),
    (128, "CUMSUM"),
    (129, "CALL_ONCE"),
    (130, "BROADCAST_TO"),
    (131, "RFFT2D"),
    (132, "CONV_3D"),
    (133, "IMAG"),
    (134, "REAL"),
    (135, "COMPLEX_ABS"),
    (136, "HASHTABLE"),
    (137, "HASHTABLE_FIND"),
    (138, "HASHTABLE_IMPORT"),
    (139, "HASHTABLE_SIZE"),
    (140, "REDUCE_ALL"),
    (141, "CONV_3D_TRANSPOSE"),
    (142, "VAR_HANDLE"),
    (143, "READ_VARIABLE"),
    (144, "ASSIGN_VARIABLE"),
    (145, "BROADCAST_ARGS"),
    (146, "RANDOM_STANDARD_NORMAL"),
    (147, "BUCKETIZE"),
    (148, "RANDOM_UNIFORM"),
    (149, "MULTINOMIAL"),
    (150, "GELU"),
];

/// Operators that keep state from one call to the next.
const STATEFUL: [&str; 11] = [
    "SVDF",
    "LSTM",
    "RNN",
    "UNIDIRECTIONAL_SEQUENCE_LSTM",
    "UNIDIRECTIONAL_SEQUENCE_RNN",
    "BIDIRECTIONAL_SEQUENCE_LSTM",
    "BIDIRECTIONAL_SEQUENCE_RNN",
    "CALL_ONCE",
    "VAR_HANDLE",
    "READ_VARIABLE",
    "ASSIGN_VARIABLE",
];

impl Builtin {
    /// By code; none where no operator of a known name has it.
    pub(super) fn of(code: i32) -> Option<Self> {
        let known = Known::ALL.iter().find(|(known, _)| *known == code).map(|(_, known)| Self::Known(*known));
        known.or_else(|| OTHERS.iter().find(|(other, _)| *other == code).map(|(_, name)| Self::Other(name)))
    }

    /// What the format calls it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Known(known) => known.name(),
            Self::Other(name) => name,
        }
    }

    /// Whether it keeps state from one call to the next.
    pub(super) fn is_stateful(self) -> bool {
        STATEFUL.contains(&self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_one_name() {
        let codes: Vec<i32> =
            Known::ALL.iter().map(|(code, _)| *code).chain(OTHERS.iter().map(|(code, _)| *code)).collect();
        for (index, code) in codes.iter().enumerate() {
            assert!(!codes[..index].contains(code), "{code}");
        }
        for code in 0..=150 {
            assert_eq!(Builtin::of(code).is_none(), code == CUSTOM || code == 127, "{code}");
        }
    }
}
