//! The types of fields in generated code.

use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote};
use syn::Ident;

use crate::generics;
use crate::state::model::{Field, Flat, Reducer, State, plain};

use super::span::UserSpans;

/// Returns the alias of a field's type in generated code.
pub(super) fn field_type(state: &State, field: &Field) -> TokenStream {
    if is_generic(state, field) { field.ty.to_token_stream() } else { alias(&field.ident, &field.ty) }
}

/// Returns the alias of a flattened state in generated code.
pub(super) fn flat_type(state: &State, flat: &Flat) -> TokenStream {
    let ty = &flat.ty;
    if mentions_params(state, quote!(#ty)) { quote!(#ty) } else { alias(&flat.ident, ty) }
}

/// Returns the alias of a user's reducer, with the spans of the field's type.
pub(super) fn reducer_type(state: &State, field: &Field, path: &syn::Path) -> TokenStream {
    if mentions_params(state, quote!(#path)) {
        return quote!(#path);
    }
    let (spans, alias) = (UserSpans::of(&field.ty), format_ident!("__Reducer_{}", field.ident));
    let runtime = spans.runtime(&state.runtime);
    // Two tokens are needed: a single token would have the span of the first token only.
    spans.all(quote!(#runtime::Itself<#alias>))
}

fn alias(ident: &Ident, ty: &impl ToTokens) -> TokenStream {
    let alias = format_ident!("__Type_{}", plain(ident));
    UserSpans::of(ty).all(quote!(#alias))
}

/// Returns `true` if the type of a field depends on parameters of the state.
pub(super) fn is_generic(state: &State, field: &Field) -> bool {
    let (ty, reducer) = (&field.ty, field.reducer.written());
    let takes = match &field.reducer {
        Reducer::Function { takes, .. } => Some(takes),
        _ => None,
    };
    mentions_params(state, quote!(#ty #reducer #takes))
        || takes.is_some() && !state.generics.params.is_empty()
}

pub(super) fn mentions_params(state: &State, tokens: TokenStream) -> bool {
    generics::mentions_params(&state.generics, tokens)
}
