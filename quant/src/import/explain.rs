//! When a file has the wrong length: which tensors do not fit, and which single changed fact would make all fit.
//!
//! The two nameless forms leave nothing else to compare, so the length has to say as much as it can. Hints are found
//! by trying: every fact of the description is changed alone, and what gives exactly the file's length is named. A
//! hint is a guess (several facts may give one length), and is worded as one.

use super::error::ImportError;
use crate::arch::{Architecture, Buckets, ElementType, FileForm, InputKind, Tail};

/// More hints would be noise.
const MAX_HINTS: usize = 5;
const MAX_BUCKETS_TRIED: usize = 64;
/// A tail is shorter than this.
const BLOCK_LEN_BYTES: u64 = 64;

/// The error for a file of `found` bytes.
pub(super) fn length_error(arch: &Architecture, form: FileForm, found: u64) -> ImportError {
    let hints = hints(arch, form, found);
    let hint = if hints.is_empty() {
        "no single change of the description gives this length; compare it with the training script".to_owned()
    } else {
        format!("it would fit exactly with: {}", hints.join("; or "))
    };
    let name = match form {
        FileForm::Raw => "raw.bin",
        FileForm::Bare => "quantised.bin",
    };
    ImportError::Length { form: name, found, expected: len_bytes(arch, form), table: table(arch, form, found), hint }
}

/// Whether `found` bytes are near enough to a form to explain what does not fit: within a factor of two of its length,
/// or exactly the length with one fact changed.
pub(super) fn is_near(arch: &Architecture, form: FileForm, found: u64) -> bool {
    let expected = len_bytes(arch, form);
    (expected.div_ceil(2)..=expected.saturating_mul(2)).contains(&found) || !hints(arch, form, found).is_empty()
}

/// A line for each part of the file, with its byte range.
fn table(arch: &Architecture, form: FileForm, found: u64) -> String {
    let spans = arch.spans(form);
    let first = spans.first().map_or(0, |span| span.start_bytes);
    let payload_end = spans.last().map_or(0, |span| span.end_bytes);
    let total = len_bytes(arch, form);
    let width = spans.iter().map(|span| span.name.len()).fold("header".len(), usize::max);
    let mut text = String::new();
    let mut is_cut = false;
    let mut line = |name: &str, what: String, start: u64, end: u64| {
        let mark = if found < end && !is_cut { format!("  <- the file ends at byte {found}") } else { String::new() };
        is_cut |= found < end;
        text.push_str(&format!("  {name:width$}  bytes {start} to {end}  {what}{mark}\n"));
    };
    if first != 0 {
        line("header", "(file.header_len_bytes)".to_owned(), 0, first);
    }
    for span in &spans {
        let (out, inp) = span.shape;
        let what = format!("{} (out {out}, in {inp})", span.element.word());
        line(&span.name, what, span.start_bytes, span.end_bytes);
    }
    if total != payload_end {
        line("tail", format!("({}, to a multiple of 64)", arch.file.tail.word()), payload_end, total);
    }
    if found > total {
        text.push_str(&format!("  {} bytes are left over\n", found - total));
    }
    text
}

fn len_bytes(arch: &Architecture, form: FileForm) -> u64 {
    match form {
        FileForm::Raw => arch.raw_len_bytes(),
        FileForm::Bare => arch.bare_len_bytes(),
    }
}

fn hints(arch: &Architecture, form: FileForm, found: u64) -> Vec<String> {
    let mut hints = Hints { form, found, fits: Vec::new() };
    if form == FileForm::Bare {
        try_surroundings(arch, &mut hints);
    }
    try_widths(arch, &mut hints);
    try_output_buckets(arch, &mut hints);
    try_input(arch, &mut hints);
    if form == FileForm::Bare {
        try_types(arch, &mut hints);
    }
    hints.fits
}

/// The changes that fit, so far.
struct Hints {
    form: FileForm,
    found: u64,
    fits: Vec<String>,
}

impl Hints {
    fn consider(
        &mut self,
        arch: &Architecture,
        words: impl FnOnce() -> String,
        change: impl FnOnce(&mut Architecture),
    ) {
        if self.fits.len() < MAX_HINTS {
            let mut changed = arch.clone();
            change(&mut changed);
            if len_bytes(&changed, self.form) == self.found {
                self.fits.push(words());
            }
        }
    }
}

fn try_surroundings(arch: &Architecture, hints: &mut Hints) {
    for tail in [Tail::Bullet, Tail::None] {
        if (tail == Tail::None) != (arch.file.tail == Tail::None) {
            let words = if tail == Tail::None { "file.tail = \"none\"" } else { "file.tail = \"bullet\" or \"zeros\"" };
            hints.consider(arch, || words.to_owned(), |changed| changed.file.tail = tail);
        }
    }
    for len in [0, 32, 64] {
        if len != arch.file.header_len_bytes {
            let words = || format!("file.header_len_bytes = {len}");
            hints.consider(arch, words, |changed| changed.file.header_len_bytes = len);
        }
    }
}

/// The file's length is linear in each layer's number of outputs, as long as that stays even.
fn try_widths(arch: &Architecture, hints: &mut Hints) {
    for (index, layer) in arch.layers.iter().enumerate() {
        let with_outputs = |outputs: usize| {
            let mut changed = arch.clone();
            if let Some(layer) = changed.layers.get_mut(index) {
                layer.outputs = outputs;
            }
            changed
        };
        let payload = |changed: &Architecture| changed.spans(hints.form).last().map_or(0, |span| span.end_bytes);
        let (here, there) = (payload(arch), payload(&with_outputs(layer.outputs + 2)));
        let slope = there.saturating_sub(here) / 2;
        let Some(rest) = here.checked_sub(slope.saturating_mul(layer.outputs as u64)) else { continue };
        if slope == 0 || hints.found <= rest {
            continue;
        }
        let largest = (hints.found - rest) / slope;
        let smallest = hints.found.saturating_sub(rest + BLOCK_LEN_BYTES).div_ceil(slope).max(1);
        // Only wide layers: a narrow one of a few bytes an output would fit nearly always.
        if slope < BLOCK_LEN_BYTES || largest > 1 << 16 {
            continue;
        }
        for outputs in (smallest..=largest).map(|outputs| outputs as usize) {
            if outputs != layer.outputs {
                let words = || format!("layer `{}`: outputs = {outputs}", layer.name);
                hints.consider(&with_outputs(outputs), words, |_| {});
            }
        }
    }
}

fn try_output_buckets(arch: &Architecture, hints: &mut Hints) {
    if !arch.input.is_sparse() || arch.layers.len() < 2 {
        return;
    }
    if arch.buckets.is_some() {
        hints.consider(
            arch,
            || "no layer bucketed".to_owned(),
            |changed| {
                changed.layers.iter_mut().for_each(|layer| layer.bucketed = false);
            },
        );
    }
    for count in (1..=MAX_BUCKETS_TRIED).filter(|&count| count != arch.bucket_count()) {
        let words = || match arch.buckets {
            Some(_) => format!("buckets.count = {count}"),
            None => format!("{count} output buckets and every layer but the first bucketed"),
        };
        hints.consider(arch, words, |changed| {
            if changed.buckets.is_none() {
                changed.layers.iter_mut().skip(1).for_each(|layer| layer.bucketed = true);
            }
            changed.buckets = Some(Buckets::of(count));
        });
    }
}

fn try_input(arch: &Architecture, hints: &mut Hints) {
    if arch.input.is_sparse() && arch.layers.len() > 1 {
        let other = 3 - arch.perspectives();
        let words = || format!("input.perspectives = {other}");
        hints.consider(arch, words, |changed| changed.input.perspectives = Some(other));
    }
    if arch.input.kind == InputKind::Chess {
        for count in (1..=64u8).filter(|&count| usize::from(count) != arch.king_bucket_count()) {
            let words = || format!("{count} king bucket{}", if count == 1 { "" } else { "s" });
            hints.consider(arch, words, |changed| changed.input.king_buckets = Some(vec![count - 1]));
        }
    }
}

fn try_types(arch: &Architecture, hints: &mut Hints) {
    for (index, tensor) in arch.tensors.iter().enumerate() {
        for element in [ElementType::I8, ElementType::I16, ElementType::I32] {
            if element.len_bytes() != tensor.r#type.len_bytes() {
                let words = || format!("tensor `{}`: type = \"{}\"", tensor.name, element.word());
                hints.consider(arch, words, |changed| {
                    if let Some(tensor) = changed.tensors.get_mut(index) {
                        tensor.r#type = element;
                    }
                });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::length_error;
    use crate::arch::{Architecture, FileForm};

    const NET: &str = include_str!("small.toml");

    fn message(form: FileForm, found: u64) -> String {
        length_error(&Architecture::from_toml(NET, "x").unwrap(), form, found).to_string()
    }

    #[test]
    fn the_tensor_that_does_not_fit_is_marked() {
        let text = message(FileForm::Bare, 98_310);
        assert!(text.starts_with("quantised.bin: 98310 bytes, the description makes 98752\n"), "{text}");
        assert!(text.contains("  l0w     bytes 0 to 98304  i16 (out 64, in 768)\n"), "{text}");
        let marked: Vec<&str> = text.lines().filter(|line| line.contains("<-")).collect();
        assert_eq!(marked, ["  l0b     bytes 98304 to 98432  i16 (out 64, in 1)  <- the file ends at byte 98310"]);
        assert!(message(FileForm::Bare, 98_760).contains("  8 bytes are left over\n"));
    }

    #[test]
    fn single_changes_are_found() {
        for (form, found, expected) in [
            (FileForm::Bare, 98_690, "file.tail = \"none\""),
            (FileForm::Bare, 98_816, "file.header_len_bytes = 64"),
            // 2·(768·128 + 128 + 256 + 1), with tail
            (FileForm::Bare, 197_440, "layer `l0`: outputs = 128"),
            (FileForm::Raw, 4 * 197_378 / 2, "layer `l0`: outputs = 128"),
            // 2·(768·64 + 64 + 8·128 + 8)
            (FileForm::Bare, 100_544, "8 output buckets and every layer but the first bucketed"),
            (FileForm::Bare, 4 * 98_304 + 448, "4 king buckets"),
            (FileForm::Raw, 4 * (769 * 64 + 65), "input.perspectives = 1"),
            (FileForm::Bare, 768 * 64 + 386 + 62, "tensor `l0w`: type = \"i8\""),
        ] {
            let text = message(form, found);
            assert!(text.contains(expected), "{found}: {text}");
        }
        assert!(message(FileForm::Bare, 12_345).contains("no single change"));
    }

    #[test]
    fn no_length_panics() {
        for found in [0, 1, 63, 64, u64::from(u32::MAX), u64::MAX - 63, u64::MAX] {
            let _ = (message(FileForm::Raw, found), message(FileForm::Bare, found));
        }
    }
}
