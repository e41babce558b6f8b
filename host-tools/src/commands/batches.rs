//! `batches`: parallel text becomes padded batches of ids.

mod text;

use crate::cli::{BatchFormat, BatchType, Batches};
use crate::error::{Advice, CliError, Explain};
use crate::files::{self, Pending, Sink, refuse_one_file};
use crate::output::Output;
use crate::progress;
use crate::status::Status;
use serde::Serialize;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use tamis_batches::{
    Batch, BatchError, Blame, Files, JsonLines, Options, Pipeline, Prefetch, SafetensorsParts, Shuffle, Summary,
    WriteError,
};
use tamis_quant::error_kind::ErrorKind;
use tamis_quant::import::read_file_start;
use tamis_quant::import::tensors::is_gzip;

/// Batches that the thread may be ahead.
const PREFETCH: usize = 16;

/// What was written, and what became of the corpus.
#[derive(Debug, Serialize)]
pub struct Written {
    out: String,
    format: &'static str,
    len_bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    svg: Option<String>,
    source_vocabulary: u32,
    target_vocabulary: u32,
    source_unknown_share: f64,
    target_unknown_share: f64,
    padding_share: f64,
    #[serde(flatten)]
    summary: Summary,
}

/// Reads and writes.
///
/// # Errors
/// [`CliError`]; nothing is written then.
pub fn run(args: &Batches, output: &Output) -> Result<Written, CliError> {
    let files = files(args);
    let options = options(args)?;
    // Before any file is opened.
    options.check().map_err(BatchError::from).explain()?;
    let inputs: Vec<&Path> = [&files.source, &files.target, &files.source_vocabulary, &files.target_vocabulary]
        .into_iter()
        .chain(&files.alignments)
        .map(AsRef::as_ref)
        .collect();
    let sink = Sink::check(&args.target, &inputs)?;
    let svg = args.svg.as_deref().map(|path| svg_sink(path, args, &inputs)).transpose()?;
    inputs.iter().try_for_each(|path| refuse_foreign(path))?;

    let pipeline = Pipeline::open(&files, &options).explain()?;
    let (source, target) = pipeline.vocabularies();
    let vocabularies = (source.size(), target.size());
    let progress = pipeline.progress();
    let bar = progress::bar(output, "batches", 0);
    let mut writer = Writer::begin(args.format, sink.begin()?)?;
    let picture = svg.map(Sink::begin).transpose()?;
    let mut batches = Prefetch::start(pipeline, PREFETCH);
    for batch in &mut batches {
        writer.write(&batch.explain()?)?;
        let (done, total) = progress.get();
        bar.set_length(total);
        bar.set_position(done);
    }
    let summary = batches.finish().explain()?;
    drop(bar);
    let len_bytes = keep(writer.finish(vocabularies)?, picture, &tamis_batches::picture(&summary))?;
    Ok(Written {
        out: args.target.out.display().to_string(),
        format: match args.format {
            BatchFormat::Safetensors => "safetensors",
            BatchFormat::Jsonl => "jsonl",
        },
        len_bytes,
        svg: args.svg.as_deref().map(|path| path.display().to_string()),
        source_vocabulary: vocabularies.0,
        target_vocabulary: vocabularies.1,
        source_unknown_share: summary.source_unknown_share(),
        target_unknown_share: summary.target_unknown_share(),
        padding_share: summary.total().waste(),
        summary,
    })
}

/// Refuses networks and files of other systems; a gzip is read. What cannot be read is left to the library's words.
fn refuse_foreign(path: &Path) -> Result<(), CliError> {
    const START_LEN_BYTES: u64 = 512;
    match read_file_start(path, START_LEN_BYTES) {
        Ok((start, _)) if !is_gzip(&start) => {
            const EXPECTED: &str = "text, a sentence or a word a line";
            files::refuse_foreign(path, &start, EXPECTED)?;
            // The start may end within a character.
            let is_text = std::str::from_utf8(&start).map_or_else(|error| error.error_len().is_none(), |_| true);
            if is_text { Ok(()) } else { files::refuse_network(path, EXPECTED) }
        }
        _ => Ok(()),
    }
}

/// Keeps the batches, whose length it returns, and the picture: both, or neither, since all bytes are with the system
/// before a file takes its name, and what goes to standard output goes first.
fn keep(mut batches: Pending, picture: Option<Pending>, svg: &str) -> Result<u64, CliError> {
    batches.flush()?;
    let Some(mut picture) = picture else { return batches.keep() };
    picture.writer().write_all(svg.as_bytes()).map_err(|error| picture.refused(error))?;
    picture.flush()?;
    if picture.is_stream() {
        picture.keep()?;
        return batches.keep();
    }
    let len_bytes = batches.keep()?;
    picture.keep()?;
    Ok(len_bytes)
}

fn files(args: &Batches) -> Files {
    Files {
        source: args.src.clone(),
        target: args.tgt.clone(),
        source_vocabulary: args.src_vocab.clone(),
        target_vocabulary: args.tgt_vocab.clone(),
        alignments: args.alignments.clone(),
    }
}

fn options(args: &Batches) -> Result<Options, CliError> {
    let shuffle = match args.shuffle {
        -1 => Shuffle::Whole,
        0 => Shuffle::None,
        size => Shuffle::Buffer(u32::try_from(size).map_err(|_| {
            CliError::usage(format!("--shuffle {size}: expected -1 to {}", u32::MAX))
                .help("-1 shuffles the whole corpus")
        })?),
    };
    Ok(Options {
        batch_type: match args.batch_type {
            BatchType::Tokens => tamis_batches::BatchType::Tokens,
            BatchType::Examples => tamis_batches::BatchType::Examples,
        },
        batch_size: args.batch_size,
        length_bucket_width: args.length_bucket_width,
        batch_size_multiple: args.batch_size_multiple,
        batch_multiplier: args.batch_multiplier,
        keep_irregular: args.keep_irregular,
        pad_to_bucket_boundary: args.pad_to_bucket_boundary,
        max_source: args.max_src,
        max_target: args.max_tgt,
        shuffle,
        seed: args.seed,
        repeat: args.repeat,
        truncate: args.truncate,
        compat: args.compat,
    })
}

fn svg_sink(path: &Path, args: &Batches, inputs: &[&Path]) -> Result<Sink, CliError> {
    refuse_one_file(&args.target.out, path, "the file of the batches")?;
    Sink::check_path(path, args.target.force, inputs)
}

/// A form of file that is being written.
enum Writer {
    JsonLines(Pending),
    /// The tensors wait in a spool: the header in front of them is known last.
    Safetensors(Pending, BufWriter<File>, SafetensorsParts),
}

impl Writer {
    fn begin(format: BatchFormat, pending: Pending) -> Result<Self, CliError> {
        Ok(match format {
            BatchFormat::Jsonl => Self::JsonLines(pending),
            BatchFormat::Safetensors => {
                let spool = pending.spool()?;
                Self::Safetensors(pending, spool, SafetensorsParts::default())
            }
        })
    }

    fn write(&mut self, batch: &Batch) -> Result<(), CliError> {
        match self {
            Self::JsonLines(pending) => {
                JsonLines::write(batch, pending.writer()).map_err(|error| pending.refused(error))
            }
            Self::Safetensors(pending, spool, parts) => parts.write(batch, spool).map_err(|error| match error {
                WriteError::Io(error) => pending.refused(error),
                too_many => CliError::new(Status::Unsupported, format!("{}: {too_many}", pending.path().display()))
                    .help("--format jsonl has no such limit; or make larger batches, or fewer epochs"),
            }),
        }
    }

    /// The file, whole but not yet kept.
    fn finish(self, vocabularies: (u32, u32)) -> Result<Pending, CliError> {
        match self {
            Self::JsonLines(pending) => Ok(pending),
            Self::Safetensors(mut pending, spool, parts) => {
                let header = parts.write_header(vocabularies, pending.writer());
                header.map_err(|error| pending.refused(error))?;
                pending.append(spool)?;
                Ok(pending)
            }
        }
    }
}

impl Advice for BatchError {
    fn class(&self) -> ErrorKind {
        match self.blame() {
            Blame::Request => ErrorKind::Usage,
            Blame::File => ErrorKind::Malformed,
            Blame::System => ErrorKind::Io,
        }
    }

    fn advice(&self) -> Option<&'static str> {
        Self::advice(self)
    }
}
