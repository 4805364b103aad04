use proc_macro2::Span;
use quote::ToTokens;

/// The spans of the first and the last token.
///
/// rustc underlines an expression from its first token to its last: generated code that begins at the one and ends at
/// the other has the whole of the user's part underlined.
pub(crate) fn ends(tokens: impl ToTokens) -> (Span, Span) {
    let mut spans = tokens.into_token_stream().into_iter().map(|token| token.span());
    let first = spans.next().unwrap_or_else(Span::call_site);
    let last = spans.last().unwrap_or(first);
    (first, last)
}
