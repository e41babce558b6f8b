//! All tables of rules, one behind the other, so that a table is a small number to those who hold a record to it.

use super::rules::Rule;
use super::{header, input, layers, ops, places, shapes, values};

/// Where a table begins in [`RULES`].
#[derive(Clone, Copy)]
pub(super) struct Table(u8);

/// Names the tables in the order in which they lie.
macro_rules! tables {
    ($($name:ident: $rules:expr,)*) => {
        const TABLES: &[&[Rule]] = &[$(&$rules),*];
        #[expect(non_camel_case_types, clippy::upper_case_acronyms, reason = "they are the names of constants")]
        enum Order { $($name),* }
        impl Table {
            $(pub const $name: Self = Self(first(Order::$name as usize) as u8);)*
        }
    };
}

tables! {
    START: header::START,
    REST: header::REST,
    TENSOR: shapes::TENSOR,
    PEOPLE: places::PEOPLE,
    END: places::END,
    ANY: input::ANY,
    DENSE: input::DENSE,
    FEATURES: input::FEATURES,
    NO_BOARD: input::NO_BOARD,
    SPARSE: input::SPARSE,
    INPUT: values::INPUT,
    OTHER: values::OTHER,
    EXTENT: values::EXTENT,
    WORKSPACE: values::WORKSPACE,
    COUNTS: ops::COUNTS,
    RESULT: ops::RESULT,
    AFFINE_I8: layers::AFFINE_I8,
    REQUANTISE: layers::REQUANTISE,
    WEIGHTS: layers::WEIGHTS,
    BIAS: layers::BIAS,
    MULTIPLIERS: layers::MULTIPLIERS,
    SHIFTS: layers::SHIFTS,
}

pub(super) static RULES: [Rule; first(TABLES.len())] = {
    let mut rules = [TABLES[0][0]; first(TABLES.len())];
    let (mut table, mut at) = (0, 0);
    while table < TABLES.len() {
        let mut row = 0;
        while row < TABLES[table].len() {
            let rule = TABLES[table][row];
            row += 1;
            rules[at] = if row == TABLES[table].len() { rule.last() } else { rule };
            at += 1;
        }
        table += 1;
    }
    rules
};

const _: () = assert!(first(TABLES.len()) <= 256, "a table's place does not fit its number");

/// How many rules the first `count` tables have.
const fn first(count: usize) -> usize {
    let (mut table, mut rules) = (0, 0);
    while table < count {
        rules += TABLES[table].len();
        table += 1;
    }
    rules
}

impl Table {
    pub const fn first(self) -> usize {
        self.0 as usize
    }
}
