//! The table of a tier, made of its instruction set's vocabulary.
//!
//! A tier is another one's table with groups of kernels of its own: the first of a family of processors has all groups
//! over the definition, one whose instructions are more has the groups that those are good for.

/// An entry of a table: a safe function around one that carries the tier's target features.
macro_rules! entry {
    (
        $features:meta, $(#[$inline:meta])? $name:ident($($argument:ident: $kind:ty),*) $(-> $result:ty)?, $body:expr
    ) => {
        $(#[$inline])?
        pub(in crate::kernels) fn $name($($argument: $kind),*) $(-> $result)? {
            #[$features]
            fn with_features($($argument: $kind),*) $(-> $result)? {
                $body
            }
            // SAFETY: the machine has the features: a table that holds this function is handed out by `tiers`, which
            // asks first, and besides only entries of this tier, or of one over it, call it, whose features include
            // these.
            #[allow(unused_unsafe, reason = "a tier whose features are the target's own has an ordinary function")]
            unsafe {
                with_features($($argument),*)
            }
        }
    };
}

/// Defines a tier's table and its entry functions: over the definition, and then with all groups, or over the tier of a
/// set that this one extends. What it leaves out is that tier's, under this one's name.
///
/// Behind the features stand the groups, each a macro of [`super::groups`] with what it takes. Each type stands for the
/// instruction set in one role, and has a `new` that only functions with the features may call: `simd`, `reals` and
/// `columns` for [`super::Simd`], [`super::Reals`] and [`super::Columns`]; for [`super::Dense`], `u7` is exact for
/// inputs up to 127, `paired` too where the weights' claim holds, `u8` for all bytes, `i8` for signed ones; `tile`
/// makes a [`super::tile::Tile`], `filter` a [`super::filter::Filter`].
macro_rules! tier {
    ($(#[$doc:meta])* $table:ident = $name:literal, $($rest:tt)*) => {
        tier!(@ $(#[$doc])* $table = $name, Tier { name: NAME, ..crate::kernels::scalar::KERNELS }, $($rest)*);
    };
    ($(#[$doc:meta])* $table:ident = $name:literal over $base:path, $($rest:tt)*) => {
        tier!(@ $(#[$doc])* $table = $name, $base.named(NAME), $($rest)*);
    };
    (
        @ $(#[$doc:meta])* $table:ident = $name:literal, $base:expr, module $module:ident, features #[$features:meta],
        $($group:ident($($argument:tt)*)),*
    ) => {
        $(#[$doc])*
        pub(in crate::kernels) use $module::KERNELS as $table;

        pub(in crate::kernels) mod $module {
            use super::*;
            use crate::kernels::vector::{entry, groups};
            use crate::kernels::{Kernel, Tier};

            const NAME: &str = $name;

            pub(in crate::kernels) static KERNELS: Tier = {
                let tier = $base;
                $(let tier = $group::over(tier);)*
                tier.of_build()
            };

            $(groups::$group!(#[$features], $($argument)*);)*
        }
    };
}
pub(in crate::kernels) use {entry, tier};
