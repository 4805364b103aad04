//! Replaces `Self` inside the struct by its name, because generated code copies types and expressions into impls of
//! other types.

use proc_macro2::{Group, TokenStream, TokenTree};
use quote::{ToTokens, quote_spanned};
use syn::DeriveInput;

/// Returns the struct with its name instead of `Self`.
pub(super) fn named(input: DeriveInput) -> DeriveInput {
    let (_, generics, _) = input.generics.split_for_impl();
    let (name, generics) = (input.ident.to_token_stream(), generics.as_turbofish().to_token_stream());
    // Cannot fail: only paths were replaced by paths.
    syn::parse2(replace(input.to_token_stream(), &name, &generics)).unwrap_or(input)
}

fn replace(tokens: TokenStream, name: &TokenStream, generics: &TokenStream) -> TokenStream {
    let one = |token: TokenTree| -> TokenStream {
        match token {
            TokenTree::Ident(ident) if ident == "Self" => {
                let tokens = quote_spanned!(ident.span()=> #name #generics);
                tokens
                    .into_iter()
                    .map(|mut token| {
                        token.set_span(ident.span());
                        token
                    })
                    .collect()
            }
            TokenTree::Group(group) => {
                let mut inner = Group::new(group.delimiter(), replace(group.stream(), name, generics));
                inner.set_span(group.span());
                TokenTree::Group(inner).into()
            }
            other => other.into(),
        }
    };
    tokens.into_iter().map(one).collect()
}
