//! The types of fields in generated code.

use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote};
use syn::{Ident, Type};

use crate::generics;
use crate::state::model::{Field, Flat, Reducer, State, plain};

use super::span::UserSpans;
use super::stand_in;

/// Returns the alias of a field's type in generated code.
pub(super) fn field_type(state: &State, field: &Field) -> TokenStream {
    if is_checked(state, field) { alias(state, &field.ident, &field.ty) } else { field.ty.to_token_stream() }
}

/// Returns the alias of a flattened state in generated code.
pub(super) fn flat_type(state: &State, flat: &Flat) -> TokenStream {
    let ty = &flat.ty;
    if is_flat_checked(state, flat) { alias(state, &flat.ident, ty) } else { quote!(#ty) }
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

fn alias(state: &State, ident: &Ident, ty: &Type) -> TokenStream {
    let alias = format_ident!("__Type_{}", plain(ident));
    let params = alias_params(state, ty);
    UserSpans::of(ty).all(quote!(#alias #params))
}

/// `<T>`: the parameters that a type mentions, for its alias.
pub(super) fn alias_params(state: &State, ty: &Type) -> Option<TokenStream> {
    let params = state.generics.type_params().map(|param| &param.ident);
    let params: Vec<_> = params.filter(|param| generics::mentions_name(quote!(#ty), param)).collect();
    (!params.is_empty()).then(|| quote!(<#(#params),*>))
}

/// Returns `true` if the type of a field is checked in a constant: it depends on no parameter of the state, or types can
/// stand for the parameters.
pub(super) fn is_checked(state: &State, field: &Field) -> bool {
    let (ty, reducer) = (&field.ty, field.reducer.written());
    let takes = match &field.reducer {
        Reducer::Function { takes, .. } => Some(takes),
        _ => None,
    };
    let is_generic = mentions_params(state, quote!(#ty #reducer #takes))
        || takes.is_some() && !state.generics.params.is_empty();
    !is_generic || stand_in::are_possible(state)
}

pub(super) fn is_flat_checked(state: &State, flat: &Flat) -> bool {
    let ty = &flat.ty;
    !mentions_params(state, quote!(#ty)) || stand_in::are_possible(state)
}

pub(super) fn mentions_params(state: &State, tokens: TokenStream) -> bool {
    generics::mentions_params(&state.generics, tokens)
}
