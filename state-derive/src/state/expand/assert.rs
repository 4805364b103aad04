use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote};

use crate::state::model::{Field, InInput, Reducer, Start, plain};

use super::context::Context;
use super::field_types::{is_generic, mentions_params};
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
