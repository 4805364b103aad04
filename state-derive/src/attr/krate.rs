use proc_macro2::TokenStream;
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
}

impl ToTokens for Runtime {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        self.0.to_tokens(tokens);
    }
}
