//! Names of nodes, from names of tensors.

use std::collections::HashSet;

/// The longest name, in characters.
const LONGEST: usize = 48;

/// The names that are taken.
#[derive(Default)]
pub(super) struct Names(HashSet<String>);

impl Names {
    /// A name of its own for what makes a tensor of this name.
    ///
    /// Converters join the names of what they fuse by `;` and lead through scopes by `/`: the first of them, less the
    /// scopes in front that would make it long. What is neither letter, digit, `.`, `-`, `_` nor `/` becomes `_`.
    pub(super) fn take(&mut self, tensor: &str) -> String {
        let first = tensor.split_once(';').map_or(tensor, |(first, _)| first);
        let plain: String = first.chars().map(|c| if is_plain(c) { c } else { '_' }).collect();
        let mut name = plain.trim_matches(['/', '_']);
        while name.len() > LONGEST {
            name = match name.split_once('/') {
                Some((_, rest)) => rest,
                None => &name[name.len() - LONGEST..],
            };
        }
        let name = if name.is_empty() { "value" } else { name };
        let mut unique = name.to_owned();
        let mut count = 2;
        while !self.0.insert(unique.clone()) {
            unique = format!("{name}_{count}");
            count += 1;
        }
        unique
    }
}

fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | '/')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_short_plain_and_unique() {
        let mut names = Names::default();
        assert_eq!(names.take("model/conv/Relu;model/bn/add;model/conv/b"), "model/conv/Relu");
        assert_eq!(names.take("model/conv/Relu"), "model/conv/Relu_2");
        assert_eq!(names.take("a\u{1b}[31m=b"), "a__31m_b");
        assert_eq!((names.take(""), names.take(";")), ("value".to_owned(), "value_2".to_owned()));
        let long = format!("{}/block_3/expand/Conv2D", "scope/".repeat(20));
        assert_eq!(names.take(&long), "scope/scope/scope/scope//block_3/expand/Conv2D");
        assert_eq!(names.take(&"x".repeat(200)).len(), 48);
    }
}
