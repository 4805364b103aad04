use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::Path;

/// The path of `superstep`'s `__private`, as generated code writes it; `#[state(crate = ..)]` changes it.
#[derive(Clone)]
pub(crate) struct Runtime {
    path: TokenStream,
    krate: TokenStream,
    own: bool,
}

impl Runtime {
    /// The module inside the crate that lies at `path`; `::superstep` when none was given.
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

    /// The crate itself, for a derive that emits another one.
    pub(crate) fn krate(&self) -> &TokenStream {
        &self.krate
    }

    /// Whether it is `superstep` itself that derives.
    pub(crate) fn is_own(&self) -> bool {
        self.own
    }

    /// The same with every token at `span`, for calls of which rustc is to underline nothing but the user's part.
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
