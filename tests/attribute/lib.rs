//! `#[test]` for binaries whose harness is `tests::trials`: the function stays what it is, and is put on the list of
//! what runs.
//!
//! `#[macro_use] extern crate tests;` at the root of a binary puts this one in the place of the language's in every
//! module, so that nobody can forget it.

use proc_macro::{Delimiter, Group, Ident, Punct, Spacing, Span, TokenStream, TokenTree};

/// Lists a function as a test. Its arguments, if it has any, are what it needs, each a type that is a
/// `tests::trials::Need`.
#[proc_macro_attribute]
pub fn test(_arguments: TokenStream, function: TokenStream) -> TokenStream {
    let mut tokens = function.clone().into_iter();
    let is_fn = |token: &TokenTree| matches!(token, TokenTree::Ident(word) if word.to_string() == "fn");
    let name = tokens.by_ref().skip_while(|token| !is_fn(token)).nth(1);
    let Some(TokenTree::Ident(name)) = name else {
        return "::core::compile_error!(\"`#[test]` stands on a function\");".parse().unwrap_or_default();
    };
    // tests::listed! { name }
    let punct = |sign, spacing| TokenTree::Punct(Punct::new(sign, spacing));
    let word = |word| TokenTree::Ident(Ident::new(word, Span::call_site()));
    let colons = || [punct(':', Spacing::Joint), punct(':', Spacing::Alone)];
    let argument = TokenTree::Group(Group::new(Delimiter::Brace, TokenTree::Ident(name).into()));
    let path = colons().into_iter().chain([word("tests")]).chain(colons()).chain([word("listed")]);
    function.into_iter().chain(path).chain([punct('!', Spacing::Alone), argument]).collect()
}
