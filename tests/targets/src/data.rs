//! Examples, labels, reference outputs, limits.

use std::sync::LazyLock;
use tamis_quant::arch::Architecture;
use tamis_quant::data::{Inputs, Selection, classes, read_feature_lists, read_labels};
use tamis_quant::verify::{Gates, Part, Reference};

/// The first examples are the same whether all are read or only they.
pub fn inputs(bytes: &[u8]) -> bool {
    let all = Inputs::read(bytes, Selection::default());
    let first = Inputs::read(bytes, Selection { limit: Some(1), ..Selection::default() });
    let Ok(all) = all else { return false };
    let first = first.expect("a file whose whole is accepted has a first example");
    assert!(first.len() == 1 && !all.is_empty());
    assert_eq!(first.labels().map(<[f64]>::len), all.labels().map(|_| 1));
    let _ = (all.place(0), all.place(all.len() - 1));
    let moved = Selection { channels_first: true, ..Selection::default() };
    if let Ok(moved) = Inputs::read(bytes, moved) {
        assert_eq!(moved.len(), all.len(), "channels in another order");
    }
    true
}

pub fn labels(bytes: &[u8]) -> bool {
    let Ok(labels) = read_labels(bytes, None) else { return false };
    assert!(!labels.is_empty());
    if let Ok(classes) = classes(&labels) {
        assert_eq!(classes.len(), labels.len());
    }
    true
}

static LISTS: LazyLock<Architecture> = LazyLock::new(|| {
    Architecture::from_toml(include_str!("../../architectures/lists.toml"), "lists.toml").expect("it is right")
});

/// What is accepted the network takes.
pub fn feature_lists(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    read_feature_lists(text, &LISTS, usize::MAX).is_ok_and(|lines| !lines.is_empty())
}

pub fn reference(bytes: &[u8]) -> bool {
    let Ok(reference) = Reference::parse(bytes) else { return false };
    let examples = reference.outputs.len().checked_div(reference.outputs_per_example).unwrap_or(0);
    assert!(reference.labels.is_empty() || reference.outputs.is_empty() || reference.labels.len() == examples);
    true
}

/// A part that is read is written back to what is read again.
pub fn part(bytes: &[u8]) -> bool {
    let Ok(part) = Part::parse(bytes) else { return false };
    let written = part.to_bytes();
    let again = Part::parse(&written).expect("what is written is read").to_bytes();
    assert!(again == written, "written twice");
    true
}

pub fn limits(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_ok_and(|text| Gates::from_toml(text).is_ok())
}
