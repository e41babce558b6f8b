//! All tables of rules, one behind the other, so that a table is a small number to those who hold a record to it.

use super::rules::{AT_LEAST, AT_MOST, LAST, Rule, Table};
use super::{Checker, Refused, header, input, layers, offsets, ops, shapes, values};

/// Names the tables in the order in which they lie.
macro_rules! tables {
    ($($name:ident: $rules:expr,)*) => {
        const TABLES: &[&[Rule]] = &[$(&$rules),*];
        #[expect(non_camel_case_types, clippy::upper_case_acronyms, reason = "they are the names of constants")]
        enum Order { $($name),* }
        impl Table {
            $(pub const $name: Self = Self::at(first(Order::$name as usize));)*
        }
    };
}

tables! {
    START: header::START,
    REST: header::REST,
    TENSOR: shapes::TENSOR,
    METADATA: offsets::METADATA,
    END: offsets::END,
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

impl Checker<'_> {
    /// Demands what the rules of a table say.
    #[inline(never)]
    pub(super) fn rules(&self, table: Table) -> Result<(), Refused> {
        let mut at = table.first();
        while let Some(rule) = RULES.get(at) {
            at += 1;
            let (found, from) = (self.number(rule.what), self.number(rule.from));
            let holds = if rule.bits & AT_MOST != 0 {
                found <= from
            } else if rule.bits & AT_LEAST != 0 {
                found >= from
            } else {
                found.wrapping_sub(from) >> (rule.bits & 31) == 0
            };
            if !holds {
                return Err(self.refuse(rule.words, found, rule.kind));
            }
            if rule.bits & LAST != 0 {
                break;
            }
        }
        Ok(())
    }
}
