use proc_macro2::Span;
use quote::ToTokens;

/// Returns the spans of the first and the last token.
///
/// rustc underlines an expression from its first to its last token. Generated code that starts and ends with these
/// spans makes rustc underline all of the user's tokens.
pub(crate) fn ends(tokens: impl ToTokens) -> (Span, Span) {
    let mut spans = tokens.into_token_stream().into_iter().map(|token| token.span());
    let first = spans.next().unwrap_or_else(Span::call_site);
    let last = spans.last().unwrap_or(first);
    (first, last)
}
