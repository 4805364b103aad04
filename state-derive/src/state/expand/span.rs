use proc_macro2::{Delimiter, Group, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::Path;

use crate::attr::Runtime;

/// Gives generated tokens the spans of a user's tokens, so that rustc underlines all of the user's tokens.
///
/// Stable Rust cannot join spans. rustc takes a path from its first token to its last, so it is enough to set the spans
/// of these two.
#[derive(Clone, Copy)]
pub(super) struct UserSpans {
    first: Span,
    last: Span,
}

impl UserSpans {
    pub(super) fn of(tokens: impl ToTokens) -> Self {
        let mut tokens = tokens.to_token_stream().into_iter();
        let first = tokens.next().map_or_else(Span::call_site, |token| token.span());
        let last = tokens.last().map_or(first, |token| token.span());
        Self { first, last }
    }

    /// Sets the spans of generated tokens.
    pub(super) fn all(self, tokens: TokenStream) -> TokenStream {
        let mut spans = std::iter::once(self.first).chain(std::iter::repeat(self.last));
        tokens.into_iter().zip(&mut spans).map(|(token, span)| at(token, span)).collect()
    }

    /// Sets the spans of generated tokens around tokens that keep theirs.
    pub(super) fn around(self, before: TokenStream, user: TokenStream, after: TokenStream) -> TokenStream {
        let after = after.into_iter().map(|token| at(token, self.last));
        self.all(before).into_iter().chain(user).chain(after).collect()
    }

    /// Generates a call that rustc underlines at the user's tokens. The arguments keep their spans.
    pub(super) fn call(self, function: &Path, arguments: TokenStream) -> TokenStream {
        let mut arguments = Group::new(Delimiter::Parenthesis, arguments);
        arguments.set_span(self.last);
        quote!(#function #arguments)
    }

    pub(super) fn runtime(self, runtime: &Runtime) -> TokenStream {
        self.all(runtime.to_token_stream())
    }
}

fn at(mut token: TokenTree, span: Span) -> TokenTree {
    if let TokenTree::Group(group) = &token {
        let inner = group.stream().into_iter().map(|token| at(token, span)).collect();
        token = TokenTree::Group(Group::new(group.delimiter(), inner));
    }
    token.set_span(span);
    token
}
