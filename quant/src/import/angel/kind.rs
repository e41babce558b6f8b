//! The models that are read, by the words for them.

/// The models that are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `σ(w x + b)`
    LogisticRegression,
    /// `w x + b`
    LinearRegression,
    /// `w x + b`, whose sign is the answer.
    Svm,
    /// `softmax(W x + b)`
    SoftmaxRegression,
    /// A factorisation machine.
    Fm,
    /// A factorisation machine beside a dense network over the same embeddings.
    DeepFm,
    /// A dense network over embeddings.
    Dnn,
    /// A linear model beside a dense network.
    WideAndDeep,
    /// A dense network over embeddings and their inner products.
    Pnn,
    /// A dense network over the bi-interaction of embeddings.
    Nfm,
    /// Trees.
    Gbdt,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 11] = [
        Self::LogisticRegression,
        Self::LinearRegression,
        Self::Svm,
        Self::SoftmaxRegression,
        Self::Fm,
        Self::DeepFm,
        Self::Dnn,
        Self::WideAndDeep,
        Self::Pnn,
        Self::Nfm,
        Self::Gbdt,
    ];

    /// The word by which a person asks for it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::LogisticRegression => "lr",
            Self::LinearRegression => "linear-regression",
            Self::Svm => "svm",
            Self::SoftmaxRegression => "softmax-regression",
            Self::Fm => "fm",
            Self::DeepFm => "deepfm",
            Self::Dnn => "dnn",
            Self::WideAndDeep => "wide-and-deep",
            Self::Pnn => "pnn",
            Self::Nfm => "nfm",
            Self::Gbdt => "gbdt",
        }
    }

    /// The kind of a word.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.word() == word)
    }

    /// Whether it has `Σ w x + b`, embeddings, a dense network.
    pub(super) const fn parts(self) -> (bool, bool, bool) {
        match self {
            Self::LogisticRegression | Self::LinearRegression | Self::Svm | Self::SoftmaxRegression => {
                (true, false, false)
            }
            Self::Fm => (true, true, false),
            Self::Dnn => (false, true, true),
            Self::DeepFm | Self::WideAndDeep | Self::Pnn | Self::Nfm => (true, true, true),
            Self::Gbdt => (false, false, false),
        }
    }
}
