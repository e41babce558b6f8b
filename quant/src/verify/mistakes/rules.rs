//! A description against its own arithmetic.

use super::{Evidence, Mistake, MistakeKind};
use crate::arch::Architecture;
use crate::quantised::head;

/// Scales that the integer arithmetic adds or divides by something else than they say.
pub fn find(arch: &Architecture) -> Vec<Mistake> {
    let mut mistakes = Vec::new();
    let spec = |name: String| arch.tensor(&name);
    let (Some(weights), Some(bias)) = (spec(arch.weights_name(0)), spec(arch.bias_name(0))) else { return mistakes };
    if let (Some(qa), Some(found)) = (weights.scale, bias.scale)
        && qa != found
    {
        mistakes.push(scale(&bias.name, found, qa, &format!("that of `{}`, whose rows are added to it", weights.name)));
    }
    let (Some(second), Some(bias)) = (spec(arch.weights_name(1)), spec(arch.bias_name(1))) else { return mistakes };
    if let (Some(head), Some(qa), Some(qb), Some(found)) = (head(arch), weights.scale, second.scale, bias.scale)
        && head.bias_scale() != found
    {
        let product = head.bias_scale();
        let what = if head.is_rounded {
            format!("QA·QA·QB / 32768 = {qa}·{qa}·{qb} / 32768")
        } else if found == qb {
            format!("QA·QB = {qa}·{qb}: it was given QB alone")
        } else if found == qa {
            format!("QA·QB = {qa}·{qb}: it was given QA alone")
        } else {
            format!("QA·QB = {qa}·{qb}")
        };
        mistakes.push(scale(&bias.name, found, product, &what));
    }
    mistakes
}

fn scale(tensor: &str, found: i32, expected: i32, what: &str) -> Mistake {
    let text = format!(
        "tensor `{tensor}` has scale {found}, but the integer arithmetic adds it to sums of scale {expected}, {what}; \
         set `scale = \
         {expected}`"
    );
    Mistake { kind: MistakeKind::Scale, evidence: Evidence::Rule, text }
}
