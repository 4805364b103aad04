use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::Path;

/// The path of `graph-core`'s `__private`, as generated code writes it; `#[state(crate = ..)]` changes it.
#[derive(Clone)]
pub(crate) struct Runtime(TokenStream);

impl Runtime {
    /// The module inside the crate that lies at `path`; `::graph_core` when none was given.
    pub(crate) fn new(path: Option<&Path>) -> Self {
        Self(match path {
            Some(path) => quote!(#path::__private),
            None => quote!(::graph_core::__private),
        })
    }

    /// The same with every token at `span`, for calls of which rustc is to underline nothing but the user's part.
    pub(crate) fn at(&self, span: Span) -> Self {
        let at_span = |mut token: TokenTree| {
            token.set_span(span);
            token
        };
        Self(self.0.clone().into_iter().map(at_span).collect())
    }
}

impl ToTokens for Runtime {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        self.0.to_tokens(tokens);
    }
}
