//! Lifetimes among tokens, wherever they stand: in types, bounds and where-clauses.

use proc_macro2::{Group, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::Lifetime;

/// Whether `tokens` hold the lifetime.
pub(crate) fn mentions(tokens: impl ToTokens, lifetime: &Lifetime) -> bool {
    let replaced = replace(tokens.to_token_stream(), lifetime, &quote!('static));
    replaced.to_string() != tokens.to_token_stream().to_string()
}

/// `tokens` with another lifetime in the place of `lifetime`.
pub(crate) fn replace(tokens: TokenStream, lifetime: &Lifetime, by: &TokenStream) -> TokenStream {
    let mut replaced = TokenStream::new();
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Punct(quote) if quote.as_char() == '\'' => {
                let name = tokens.next();
                if matches!(&name, Some(TokenTree::Ident(name)) if *name == lifetime.ident) {
                    replaced.extend(by.clone());
                } else {
                    replaced.extend([TokenTree::Punct(quote)].into_iter().chain(name));
                }
            }
            TokenTree::Group(group) => {
                let mut inner = Group::new(group.delimiter(), replace(group.stream(), lifetime, by));
                inner.set_span(group.span());
                replaced.extend([TokenTree::Group(inner)]);
            }
            other => replaced.extend([other]),
        }
    }
    replaced
}
