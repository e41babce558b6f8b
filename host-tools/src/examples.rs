//! Files of examples, and of labels, as a graph takes them.

use crate::cli;
use crate::error::{CliError, Explain};
use crate::files;
use crate::nnue::refuse_for_checkpoint;
use crate::status::Status;
use std::path::Path;
use tamis_quant::data::{self, ByteType, DataError, Encoding, Inputs, Selection, classes, read_labels};
use tamis_quant::graph::{Graph, Input, Sample};
use tamis_quant::import::{self, tensors::is_gzip};
use tamis_quant::program::{Element, ProgramInput};
use tamis_quant::score::ScoreError;

/// Which examples of a file.
#[derive(Debug, Clone, Copy, Default)]
pub struct Which<'w> {
    /// What bytes stand for.
    pub encoding: Option<Encoding>,
    /// What they stand for where nothing is said: the integers of a container's input.
    pub stored: Option<(ByteType, Encoding)>,
    /// Whether the unit is the container's, too, which it is of real numbers as well.
    pub unit_of_container: bool,
    /// Whether examples are (channels, height, width).
    pub channels_first: bool,
    /// The array, in a file of several.
    pub array: Option<&'w str>,
    /// Examples that are passed over.
    pub skip: usize,
    /// The most that are read behind them.
    pub limit: Option<usize>,
    /// Whether they calibrate.
    pub calibrates: bool,
    /// What they are for.
    pub network: TakenBy,
}

/// What takes examples, which decides what can be done where they do not fit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum TakenBy {
    /// A checkpoint, of which something can be said on the command line.
    #[default]
    Checkpoint,
    /// A container, which is what it is.
    Container,
    /// A container beside its checkpoint.
    Both,
}

impl TakenBy {
    /// What to do about an example that is none of the network's.
    const fn advice(self, input: Input) -> &'static str {
        match (input, self) {
            (Input::Dense { .. }, _) => "the examples have to be those that the network was trained for",
            (Input::Sparse { .. }, Self::Checkpoint) => {
                "the examples have to be those that the network was trained for; where a folder of Angel's does not \
                 know how many features there are, --features N says so"
            }
            (Input::Sparse { .. }, Self::Container) => {
                "the examples have to be those that the network was trained for; how many features there are stands in \
                 the container: `host-tools quantise FOLDER --features N` makes one with more"
            }
            (Input::Sparse { .. }, Self::Both) => {
                "the examples have to be those that the network was trained for; how many features there are, \
                 --features N, is said to `quantise` and to `verify` alike"
            }
        }
    }
}

impl<'w> Which<'w> {
    /// As it was typed.
    ///
    /// # Errors
    /// [`CliError`] for a unit that is none.
    pub fn of(arrays: &'w cli::Arrays, skip: Option<usize>, limit: Option<usize>) -> Result<Self, CliError> {
        let skip = skip.unwrap_or(NOTHING);
        let array = arrays.array.as_deref();
        let (encoding, channels_first) = (encoding(arrays)?, arrays.channels_first);
        Ok(Self { encoding, channels_first, array, skip, limit, ..Self::default() })
    }

    /// The same for a container, whose integers bytes may be.
    pub fn for_container(self, input: &ProgramInput, network: TakenBy) -> Self {
        let stored = match *input {
            ProgramInput::Dense { element, unit, zero, .. } => {
                let encoding = Encoding { unit: f64::from(unit), zero };
                let of = |of: ByteType| Some((of, encoding));
                match element {
                    Element::U8 => of(ByteType::U8),
                    Element::I8 => of(ByteType::I8),
                    _ => None,
                }
            }
            _ => None,
        };
        Self { stored, network, ..self }
    }
}

/// Examples that are passed over unless it is said.
const NOTHING: usize = 0;

/// What bytes stand for, as it was typed.
///
/// # Errors
/// [`CliError`] for a unit that is none.
pub fn encoding(arrays: &cli::Arrays) -> Result<Option<Encoding>, CliError> {
    let Some(unit) = arrays.input_unit else { return Ok(None) };
    if !(unit > 0.0 && (unit as f32).is_normal()) {
        return Err(CliError::usage(format!("--input-unit {unit}: expected a number above 0 that f32 can hold")));
    }
    Ok(Some(Encoding { unit, zero: arrays.input_zero }))
}

/// Options about examples where none are read; `more` are the command's own, with whether they were given.
///
/// # Errors
/// [`CliError`] naming one that was given.
pub fn refuse_without_examples(arrays: &cli::Arrays, more: &[(&str, bool)], wanted: &str) -> Result<(), CliError> {
    let given = [
        ("--array", arrays.array.is_some()),
        ("--input-unit", arrays.input_unit.is_some()),
        ("--channels-first", arrays.channels_first),
    ];
    let about_arrays = given.iter().find(|(_, is_given)| *is_given);
    let (option, says) = match (about_arrays, more.iter().find(|(_, is_given)| *is_given)) {
        (Some((option, _)), _) => (option, "says how examples lie"),
        (None, Some((option, _))) => (option, "is about examples"),
        (None, None) => return Ok(()),
    };
    Err(CliError::usage(format!("{option}: {says}, and none are read"))
        .help(format!("add {wanted}, or leave {option} out")))
}

/// Nothing is evaluated, measured or shown on no examples.
///
/// # Errors
/// [`CliError`] for a limit of 0.
pub fn refuse_no_limit(limit: Option<usize>, what: &str) -> Result<(), CliError> {
    match limit {
        Some(0) => {
            Err(CliError::usage(format!("--limit 0: no {what} are left to run")).help("give a limit of 1 or more"))
        }
        _ => Ok(()),
    }
}

/// Examples in memory, with labels where the file has them.
#[derive(Debug)]
pub struct Examples {
    /// As the network takes them.
    pub samples: Vec<Sample>,
    /// As many, or none.
    pub labels: Option<Vec<f64>>,
    /// What they were in their file, if bytes.
    pub bytes: Option<ByteType>,
    /// What bytes were taken for, where that was said.
    pub encoding: Option<Encoding>,
    /// The array that was read, where the file names its arrays.
    pub array: Option<String>,
    /// What is to be known of how they were read: bytes that are real numbers without a word of the user.
    pub remark: Option<String>,
}

impl Examples {
    /// Reads them for a network, which takes every one of them.
    ///
    /// # Errors
    /// [`CliError`] naming file and line or record.
    pub fn read(path: &Path, which: Which<'_>, graph: &Graph) -> Result<Self, CliError> {
        let inputs = read_inputs(path, which)?;
        let sample = |index| {
            let sample = sample_of(&inputs, index, path, which, graph.input)?;
            let unfit = |why: String| unfit(path, &inputs.place(index), &why, which.network.advice(graph.input));
            graph.check_sample(&sample).map_err(|why| unfit(why.to_string()))?;
            Ok(sample)
        };
        let samples = (which.skip..inputs.len()).map(sample).collect::<Result<Vec<_>, CliError>>()?;
        if samples.is_empty() {
            let message = format!("{}: no examples are left of {}", path.display(), inputs.len());
            return Err(CliError::usage(message).help("pass over fewer, and take at least one"));
        }
        let labels = inputs.labels().map(|labels| labels.iter().skip(which.skip).copied().collect());
        Ok(Self {
            samples,
            labels,
            bytes: inputs.byte_type(),
            encoding: inputs.encoding(),
            array: inputs.array().map(str::to_owned),
            remark: bytes_as_reals(&inputs, path, graph.input),
        })
    }

    /// The labels of a file of their own, else those that the examples bring along, as classes of a network.
    ///
    /// # Errors
    /// [`CliError`] naming the file, also where there are not as many as examples, or the network has fewer classes.
    pub fn classes(
        &self,
        inputs: &Path,
        path: Option<&Path>,
        which: Which<'_>,
        graph: &Graph,
    ) -> Result<Option<Vec<usize>>, CliError> {
        let labels = match path {
            Some(path) => Some(read_labels_of(path, which)?),
            None => self.labels.clone(),
        };
        let Some(labels) = labels else { return Ok(None) };
        let place = path.unwrap_or(inputs);
        if labels.len() != self.samples.len() {
            let message = format!("{}: {} labels for {} examples", place.display(), labels.len(), self.samples.len());
            return Err(CliError::usage(message).help("give the labels of these examples, in their order"));
        }
        let found = classes(&labels).explain_at(place)?;
        // One score tells two classes apart.
        let classes = graph.lengths()[graph.scores()].max(2);
        match found.iter().position(|class| *class as usize >= classes) {
            Some(index) => Err(ScoreError::NoSuchClass { index, class: found[index], classes }).explain_at(place),
            None => Ok(Some(found.into_iter().map(|class| class as usize).collect())),
        }
    }
}

/// One example as a network takes it.
///
/// # Errors
/// [`CliError`] naming file and place, and what can be done about it.
pub fn sample_of(
    inputs: &Inputs,
    index: usize,
    path: &Path,
    which: Which<'_>,
    input: Input,
) -> Result<Sample, CliError> {
    let sample = inputs.sample(index, input);
    let is_unfit = matches!(sample, Err(DataError::Record { .. } | DataError::Line { .. }));
    let advised = |error: CliError| if is_unfit { error.help(which.network.advice(input)) } else { error };
    sample.explain_at(path).map_err(advised)
}

/// An example that is not one of the network's, and what can be done about it.
pub fn unfit(path: &Path, place: &str, why: &str, advice: &str) -> CliError {
    CliError::new(Status::Malformed, format!("{}: {place}: {why}", path.display())).help(advice)
}

impl Which<'_> {
    /// What to do about an example that is none of the network's.
    pub const fn advice(&self, input: Input) -> &'static str {
        self.network.advice(input)
    }
}

/// That bytes are taken for the real numbers that they are, where nobody said what they stand for: a network whose
/// input has another unit then sees nonsense. Features of a list are there or not, whatever their type.
pub fn bytes_as_reals(inputs: &Inputs, path: &Path, input: Input) -> Option<String> {
    let Input::Dense { .. } = input else { return None };
    let range = match inputs.bytes_as_reals()? {
        ByteType::U8 => "u8, are taken as the real numbers 0 to 255",
        ByteType::I8 => "i8, are taken as the real numbers -128 to 127",
    };
    let array = inputs.array().map_or_else(String::new, |array| format!(" in `{array}`"));
    Some(format!(
        "the bytes{array} of {}, {range}, since nothing says what they stand for; --input-unit U --input-zero Z says \
         that a byte b is (b - Z) * U, --input-unit 1 that they are meant as they are",
        path.display()
    ))
}

/// The examples up to the last that is wanted, those that are passed over among them.
///
/// # Errors
/// [`CliError`] naming file and place.
pub fn read_inputs(path: &Path, which: Which<'_>) -> Result<Inputs, CliError> {
    let bytes = files::read(path, EXAMPLES, data::MAX_FILE_LEN_BYTES)?;
    let limit = which.limit.map(|limit| limit.saturating_add(which.skip));
    let Which { array, encoding, channels_first, calibrates, .. } = which;
    let inputs = Inputs::read(&bytes, Selection { array, limit, encoding, channels_first, calibrates });
    let mut inputs = or_named(inputs, path, &bytes, EXAMPLES)?;
    if which.encoding.is_some() && inputs.byte_type().is_none() && !which.unit_of_container {
        let message = format!("{}: --input-unit is for an array of bytes, u8 or i8", path.display());
        return Err(CliError::usage(message).help("leave --input-unit out: these are real numbers already"));
    }
    if let (Some(Encoding { zero, .. }), Some(bytes), true) = (encoding, inputs.byte_type(), which.unit_of_container) {
        let (word, low, high) = match bytes {
            ByteType::U8 => ("u8", 0, 255),
            ByteType::I8 => ("i8", -128, 127),
        };
        if !(low..=high).contains(&zero) {
            let message = format!("--input-zero {zero}: {} holds {word}, {low} to {high}", path.display());
            return Err(CliError::usage(message).help("give the byte of that array which stands for 0"));
        }
    }
    if let Some((of, encoding)) = which.stored {
        inputs.as_stored(of, encoding);
    }
    Ok(inputs)
}

const EXAMPLES: &str = "examples, as idx, npy, npz, safetensors or lines of text";
const LABELS: &str = "labels, as idx, npy, npz, safetensors or lines of text";

/// What was read of a file; where it cannot be, the name of what it is, if it is another system's or a network.
fn or_named<T>(read: Result<T, DataError>, path: &Path, bytes: &[u8], expected: &str) -> Result<T, CliError> {
    if read.is_err() {
        // What is compressed with gzip was unpacked, and is wrong inside.
        if let Some(other) = import::foreign(bytes).filter(|_| !is_gzip(bytes)) {
            let message = format!("{}: is {}, expected {expected}", path.display(), other.what);
            let says_how = ["decompress", "unpack", "examples"].iter().any(|word| other.instead.starts_with(word));
            let array =
                "write an array of them, an example a row: `import numpy; numpy.savez(\"examples.npz\", inputs=X)`";
            return Err(CliError::new(Status::Unsupported, message).help(if says_how { other.instead } else { array }));
        }
        refuse_for_checkpoint(path)?;
        files::refuse_network(path, expected)?;
    }
    read.explain_at(path)
}

/// Labels of a file of their own, for the examples that are wanted.
///
/// # Errors
/// [`CliError`] naming file and place.
pub fn read_labels_of(path: &Path, which: Which<'_>) -> Result<Vec<f64>, CliError> {
    let bytes = files::read(path, LABELS, data::MAX_FILE_LEN_BYTES)?;
    let read = read_labels(&bytes, None);
    let is_unread =
        matches!(read, Err(DataError::Record { .. } | DataError::Line { .. } | DataError::NotRecognised { .. }));
    let advised = |error: CliError| match is_unread && error.status() == Status::Malformed {
        true => error.help("give the class of each example: a whole number a line, or an array of them"),
        false => error,
    };
    let mut labels = or_named(read, path, &bytes, LABELS).map_err(advised)?;
    labels.drain(..which.skip.min(labels.len()));
    if let Some(limit) = which.limit {
        labels.truncate(limit);
    }
    Ok(labels)
}
