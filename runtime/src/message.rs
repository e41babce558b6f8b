//! One sentence for two readers: what `Display` prints is what `defmt::Format` logs.

/// Gives an error its words: a pattern, a text whose places are empty or say a number's form, and their values.
///
/// defmt takes no names within braces, so that the values stand behind the text. Its texts stay on the machine that
/// reads the log: firmware that only logs an error has none of them in flash.
macro_rules! worded {
    ($error:ty { $($pattern:pat $(if $guard:expr)? => $text:literal $(, $value:expr)*;)* }) => {
        impl core::fmt::Display for $error {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                match *self {
                    $($pattern $(if $guard)? => write!(f, $text $(, $value)*),)*
                }
            }
        }

        #[cfg(feature = "defmt")]
        impl defmt::Format for $error {
            fn format(&self, f: defmt::Formatter<'_>) {
                match *self {
                    $($pattern $(if $guard)? => defmt::write!(f, $text $(, $value)*),)*
                }
            }
        }
    };
}

pub(crate) use worded;
