use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::Path;

/// The path of `superstep::__private` in generated code. `#[state(crate = ..)]` changes it.
#[derive(Clone)]
pub(crate) struct Runtime {
    path: TokenStream,
    krate: TokenStream,
    own: bool,
}

impl Runtime {
    /// Uses the crate at `path`, or `::superstep` by default.
    pub(crate) fn new(path: Option<&Path>) -> Self {
        Self {
            own: path.is_some_and(|path| path.is_ident("crate")),
            krate: path.map_or_else(|| quote!(::superstep), |path| quote!(#path)),
            path: match path {
                Some(path) => quote!(#path::__private),
                None => quote!(::superstep::__private),
            },
        }
    }

    /// The path of the crate itself, for a derive that emits another derive.
    pub(crate) fn krate(&self) -> &TokenStream {
        &self.krate
    }

    /// Returns `true` if `superstep` itself uses the derive.
    pub(crate) fn is_own(&self) -> bool {
        self.own
    }

    /// Returns the path with every token at `span`, for calls of which rustc must underline only the user's tokens.
    pub(crate) fn at(&self, span: Span) -> Self {
        let at_span = |mut token: TokenTree| {
            token.set_span(span);
            token
        };
        Self {
            path: self.path.clone().into_iter().map(at_span).collect(),
            krate: self.krate.clone(),
            own: self.own,
        }
    }
}

impl ToTokens for Runtime {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        self.path.to_tokens(tokens);
    }
}
