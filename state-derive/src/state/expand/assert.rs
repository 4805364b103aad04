use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};
use syn::{GenericParam, Ident};

use crate::state::model::{Field, Flat, InInput, Reducer, Start, State, plain};

use super::context::Context;
use super::json::takes_whole_values;
use super::span::UserSpans;

// const __CHECK_answer: bool = {
//     let _ = <AnyState as FieldType<Option<String>>>::FITS;
//     let _ = <Replace as Reducer<Option<String>>>::EXCLUSIVE;
//     let _ = <Option<String> as Tracked>::FITS;
//     let _ = <Option<String> as StartValue>::FITS;
//     true
// };
// type __Type_answer = <Option<String> as Checked<__CHECK_answer>>::Same;
//
// A type that does not fit is an error in the constant, at the field's type. A type that is projected through a broken
// constant is an error type, and rustc reports nothing about code that uses it. Therefore all other generated code
// names the alias. Constants cannot be generic, so fields of generic types have no alias.
pub(super) fn items(cx: &Context<'_>) -> TokenStream {
    let fields = cx.state.fields().map(|field| {
        let (name, ty) = (plain(&field.ident), &field.ty);
        let checks = checks(cx, field);
        checked(cx, is_generic(cx.state, field), &name, ty, &checks)
    });
    let flats = cx.state.flats().map(|flat| {
        let (spans, ty) = (UserSpans::of(&flat.ty), &flat.ty);
        let runtime = spans.runtime(cx.runtime);
        let check = spans.around(quote!(<), quote!(#ty), quote!(as #runtime::GraphState>::FIELD_COUNT));
        let generic = mentions_params(cx.state, quote!(#ty));
        checked(cx, generic, &plain(&flat.ident), ty, &[check])
    });
    let reducers = cx.state.fields().filter_map(|field| match &field.reducer {
        Reducer::Type(path) if !mentions_params(cx.state, quote!(#path)) => {
            let alias = format_ident!("__Reducer_{}", field.ident);
            Some(quote!(type #alias = #path;))
        }
        _ => None,
    });
    quote!(#(#reducers)* #(#fields)* #(#flats)*)
}

fn checked(
    cx: &Context<'_>,
    generic: bool,
    name: &str,
    ty: &impl ToTokens,
    checks: &[TokenStream],
) -> TokenStream {
    let runtime = cx.runtime;
    if generic {
        let (generics, where_clause) = (&cx.impl_generics, cx.where_clause);
        let name = format_ident!("__check_{name}");
        return quote!(fn #name #generics () #where_clause { #(let _ = #checks;)* });
    }
    let (constant, alias) = (format_ident!("__CHECK_{name}"), format_ident!("__Type_{name}"));
    quote! {
        const #constant: ::core::primitive::bool = { #(let _ = #checks;)* true };
        type #alias = <#ty as #runtime::Checked<#constant>>::Same;
    }
}

fn checks(cx: &Context<'_>, field: &Field) -> Vec<TokenStream> {
    let (spans, ty) = (UserSpans::of(&field.ty), &field.ty);
    let runtime = spans.runtime(cx.runtime);
    let is = |bound: TokenStream| spans.around(quote!(<), quote!(#ty), quote!(as #bound>::FITS));
    let state = spans.all(quote!(#runtime::AnyState as #runtime::FieldType));
    let mut checks = vec![spans.around(quote!(<), quote!(#state<#ty>), quote!(>::FITS))];
    if !matches!(field.reducer, Reducer::Replace) {
        // For an `Option`, check the inner type that the reducer folds, so that rustc names it as the user wrote it.
        let (reducer, folded) = match &field.reducer {
            Reducer::BuiltIn { name, optional: Some(inner), .. } => {
                let name = format_ident!("{name}");
                (spans.all(quote!(#runtime::reducers::#name)), inner)
            }
            _ => (cx.reducer(field), ty),
        };
        let ask = quote!(#reducer as #runtime::Reducer<#folded>);
        checks.push(spans.around(quote!(<), ask, quote!(>::EXCLUSIVE)));
    }
    match (field.tracked, &field.codec.write, &field.codec.read) {
        (true, None, None) => checks.push(is(quote!(#runtime::Tracked))),
        (true, None, Some(_)) => checks.push(is(quote!(#runtime::Written))),
        _ => {}
    }
    // A field with its own functions needs no serde impls.
    let through = takes_whole_values(field) && field.codec.write.is_some() && field.codec.read.is_some();
    if field.tracked && field.reducer.is_custom() && !through {
        let reducer = cx.reducer(field);
        // A function has the same type for update and delta.
        let both = [Some(quote!(Update)), matches!(field.reducer, Reducer::Type(_)).then(|| quote!(Delta))];
        for written in both.into_iter().flatten() {
            let fits = quote!(>::#written as #runtime::TrackedUpdate>::FITS);
            checks.push(spans.around(quote!(<<), quote!(#reducer as #runtime::Reducer<#ty>), fits));
        }
    }
    if needs_start(field) {
        let given = field.in_input == InInput::Required && !field.ephemeral;
        checks.push(is(if given { quote!(#runtime::UntrackedStart) } else { quote!(#runtime::StartValue) }));
    }
    checks
}

fn needs_start(field: &Field) -> bool {
    field.has_start() && matches!(field.start, Start::Default)
}

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

fn is_generic(state: &State, field: &Field) -> bool {
    let (ty, reducer) = (&field.ty, field.reducer.written());
    let takes = match &field.reducer {
        Reducer::Function { takes, .. } => Some(takes),
        _ => None,
    };
    mentions_params(state, quote!(#ty #reducer #takes))
        || takes.is_some() && !state.generics.params.is_empty()
}

fn mentions_params(state: &State, tokens: TokenStream) -> bool {
    let params: Vec<_> = state
        .generics
        .params
        .iter()
        .filter_map(|param| match param {
            GenericParam::Type(param) => Some(&param.ident),
            GenericParam::Const(param) => Some(&param.ident),
            GenericParam::Lifetime(_) => None,
        })
        .collect();
    mentions(tokens, &params)
}

fn mentions(tokens: TokenStream, names: &[&Ident]) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(ident) => names.contains(&&ident),
        TokenTree::Group(group) => mentions(group.stream(), names),
        _ => false,
    })
}
