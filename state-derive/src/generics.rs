//! Replaces the lifetime of generics wherever it occurs: in arguments, bounds and where-clauses.

use proc_macro2::{Group, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};
use syn::{GenericParam, Generics, Ident, Lifetime};

/// `T: Clone, const N: usize,`: the parameters without lifetimes.
pub(crate) fn params(generics: &Generics, by: &TokenStream) -> TokenStream {
    let params = generics.params.iter().filter_map(|param| match param {
        GenericParam::Lifetime(_) => None,
        GenericParam::Type(param) => {
            let (name, bounds) = (&param.ident, &param.bounds);
            Some(quote!(#name: #bounds,))
        }
        GenericParam::Const(param) => {
            let (name, ty) = (&param.ident, &param.ty);
            Some(quote!(const #name: #ty,))
        }
    });
    replace_all(generics, quote!(#(#params)*), by)
}

/// `'static, T, N,`
pub(crate) fn arguments(generics: &Generics, by: &TokenStream) -> TokenStream {
    let arguments = generics.params.iter().map(|param| match param {
        GenericParam::Lifetime(_) => by.clone(),
        GenericParam::Type(param) => param.ident.to_token_stream(),
        GenericParam::Const(param) => param.ident.to_token_stream(),
    });
    quote!(#(#arguments,)*)
}

/// The predicates of the where-clause.
pub(crate) fn predicates(generics: &Generics, by: &TokenStream) -> TokenStream {
    let predicates = generics.where_clause.iter().flat_map(|clause| &clause.predicates);
    replace_all(generics, quote!(#(#predicates,)*), by)
}

/// Returns `tokens` with `by` instead of each lifetime parameter.
pub(crate) fn replace_all(generics: &Generics, tokens: TokenStream, by: &TokenStream) -> TokenStream {
    generics.lifetimes().fold(tokens, |tokens, param| replace(tokens, &param.lifetime, by))
}

/// Returns `true` if `tokens` contain the lifetime.
pub(crate) fn mentions(tokens: impl ToTokens, lifetime: &Lifetime) -> bool {
    let replaced = replace(tokens.to_token_stream(), lifetime, &quote!('static));
    replaced.to_string() != tokens.to_token_stream().to_string()
}

/// Returns `true` if `tokens` contain a type parameter or a constant parameter.
pub(crate) fn mentions_params(generics: &Generics, tokens: impl ToTokens) -> bool {
    let params: Vec<_> = generics
        .params
        .iter()
        .filter_map(|param| match param {
            GenericParam::Type(param) => Some(&param.ident),
            GenericParam::Const(param) => Some(&param.ident),
            GenericParam::Lifetime(_) => None,
        })
        .collect();
    contain_one(tokens.to_token_stream(), &params)
}

/// Returns `true` if `tokens` contain the name.
pub(crate) fn mentions_name(tokens: TokenStream, name: &Ident) -> bool {
    contain_one(tokens, &[name])
}

/// Returns `name` for a parameter of an impl, or `__name` if `tokens` contain it. rustc prints these names in lists of impls.
pub(crate) fn free_name(name: &str, tokens: impl ToTokens) -> Ident {
    let ident = Ident::new(name, Span::call_site());
    let taken = contain_one(tokens.to_token_stream(), &[&ident]);
    if taken { format_ident!("__{name}") } else { ident }
}

fn contain_one(tokens: TokenStream, names: &[&Ident]) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(ident) => names.contains(&&ident),
        TokenTree::Group(group) => contain_one(group.stream(), names),
        _ => false,
    })
}

/// Returns `tokens` with `by` instead of `lifetime`.
fn replace(tokens: TokenStream, lifetime: &Lifetime, by: &TokenStream) -> TokenStream {
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
