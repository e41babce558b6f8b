//! What a refusal says of a field, apart from the numbers, so that firmware can leave it out.

/// What an error says of a field: its place and what was expected there. Nothing, which takes no room, without
/// `messages`.
#[derive(Clone, Copy)]
pub(crate) struct Words(#[cfg(feature = "messages")] [&'static str; 2]);

impl Words {
    #[cfg_attr(not(feature = "messages"), expect(unused_variables, reason = "they are what is left out"))]
    pub(crate) const fn new(place: &'static str, expected: &'static str) -> Self {
        Self(
            #[cfg(feature = "messages")]
            [place, expected],
        )
    }

    pub(crate) const fn texts(self) -> [&'static str; 2] {
        #[cfg(feature = "messages")]
        return self.0;
        #[cfg(not(feature = "messages"))]
        return ["", ""];
    }
}
