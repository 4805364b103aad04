use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote};
use syn::{GenericParam, Ident, Type};

use crate::state::model::{Field, InInput, Reducer, Start, plain};

use super::context::Context;
use super::field_types::{alias_params, is_checked, is_flat_checked, mentions_params};
use super::json::takes_whole_values;
use super::span::UserSpans;
use super::stand_in;

// const __CHECK_answer: bool = {
//     const __FIELD: bool = { let _ = <AnyState as FieldType<Option<String>>>::FITS; true };
//     let _ = <<Option<String> as Checked<__FIELD>>::Same as Tracked>::FITS;
//     let _ = <<Option<String> as Checked<__FIELD>>::Same as StartValue>::FITS;
//     __FIELD
// };
// type __Type_answer = <Option<String> as Checked<__CHECK_answer>>::Same;
// const __CHECK: bool = true && __CHECK_answer;
// type __Fits = <AlwaysShared<()> as Checked<__CHECK>>::Same;
//
// A type that does not fit is an error in a constant, at the field's type. A type that is projected through a broken
// constant is an error type, and rustc reports nothing about code that uses it. Therefore the further checks of the
// field and all other generated code name such a projection. Constants cannot be generic: the check of a generic field is
// about types that stand for the parameters, or it is a function, and then the field has no alias.
pub(super) fn items(cx: &Context<'_>) -> TokenStream {
    let fields = cx.state.fields().map(|field| field_item(cx, field));
    let flats = cx.state.flats().map(|flat| {
        let (spans, ty) = (UserSpans::of(&flat.ty), &flat.ty);
        let runtime = spans.runtime(cx.runtime);
        let check = spans.around(quote!(<), quote!(#ty), quote!(as #runtime::GraphState>::FIELD_COUNT));
        if !is_flat_checked(cx.state, flat) {
            return check_function(cx, &flat.ident, &[check]);
        }
        check_constant(cx, &flat.ident, ty, &quote!(let _ = #check; true))
    });
    let reducers = cx.state.fields().filter_map(|field| match &field.reducer {
        Reducer::Type(path) if !mentions_params(cx.state, quote!(#path)) => {
            let alias = format_ident!("__Reducer_{}", field.ident);
            Some(quote!(type #alias = #path;))
        }
        _ => None,
    });
    let (stand_ins, state) = (stand_in::items(cx.state), state_alias(cx));
    quote!(#stand_ins #(#reducers)* #(#fields)* #(#flats)* #state)
}

/// Returns the name of the constant that checks a field.
pub(super) fn constant(field: &Field) -> Ident {
    format_ident!("__CHECK_{}", plain(&field.ident))
}

fn field_item(cx: &Context<'_>, field: &Field) -> TokenStream {
    let (spans, ty) = (UserSpans::of(&field.ty), &field.ty);
    let runtime = spans.runtime(cx.runtime);
    let any = spans.all(quote!(#runtime::AnyState as #runtime::FieldType));
    let holds = spans.around(quote!(<), quote!(#any<#ty>), quote!(>::FITS));
    if !is_checked(cx.state, field) {
        let mut all = vec![holds];
        all.extend(checks(cx, field, |ty| ty));
        return check_function(cx, &field.ident, &all);
    }
    let held = |ty| spans.around(quote!(<), ty, quote!(as #runtime::Checked<__FIELD>>::Same));
    let checks = checks(cx, field, held);
    check_constant(
        cx,
        &field.ident,
        ty,
        &quote! {
            const __FIELD: ::core::primitive::bool = { let _ = #holds; true };
            #(let _ = #checks;)*
            __FIELD
        },
    )
}

fn check_function(cx: &Context<'_>, field: &Ident, checks: &[TokenStream]) -> TokenStream {
    let (generics, where_clause) = (&cx.impl_generics, cx.where_clause);
    let name = format_ident!("__check_{}", plain(field));
    quote!(fn #name #generics () #where_clause { #(let _ = #checks;)* })
}

fn check_constant(cx: &Context<'_>, field: &Ident, ty: &Type, check: &TokenStream) -> TokenStream {
    let (runtime, params) = (cx.runtime, alias_params(cx.state, ty));
    let (constant, alias) =
        (format_ident!("__CHECK_{}", plain(field)), format_ident!("__Type_{}", plain(field)));
    quote! {
        const #constant: ::core::primitive::bool = { #check };
        type #alias #params = <#ty as #runtime::Checked<#constant>>::Same;
    }
}

// const __CHECK: bool = true && __CHECK_answer;
// #[cfg(not(doc))] type __Fits = <AlwaysShared<()> as Checked<__CHECK>>::Same;
// #[cfg(doc)] type __Fits = Ticket;
fn state_alias(cx: &Context<'_>) -> TokenStream {
    let fields = cx.state.fields().filter(|field| is_checked(cx.state, field)).map(|field| &field.ident);
    let flats = cx.state.flats().filter(|flat| is_flat_checked(cx.state, flat));
    let constants =
        fields.chain(flats.map(|flat| &flat.ident)).map(|ident| format_ident!("__CHECK_{}", plain(ident)));
    checked_state(cx, &quote!(true #(&& #constants)*))
}

/// Generates `__Fits`, which is a type that is `Send + Sync`, or an error type if `fits` does not compile.
pub(super) fn checked_state(cx: &Context<'_>, fits: &TokenStream) -> TokenStream {
    let (runtime, this) = (cx.runtime, &cx.this);
    let params = cx.type_params();
    let marker = quote!(#runtime::AlwaysShared<(#(#params,)*)>);
    let state = alias(cx, "__Fits", this, &quote!(<#marker as #runtime::Checked<__CHECK>>::Same));
    quote! {
        const __CHECK: ::core::primitive::bool = #fits;
        #state
    }
}

/// Generates an alias of a projection. The documentation shows the type itself.
fn alias(cx: &Context<'_>, name: &str, shown: &TokenStream, projected: &TokenStream) -> TokenStream {
    let (name, params) = (format_ident!("{name}"), params(cx));
    quote! {
        #[cfg(not(doc))]
        type #name #params = #projected;
        #[cfg(doc)]
        type #name #params = #shown;
    }
}

/// `<T, const N: usize>`, without the bounds, which an alias cannot have.
fn params(cx: &Context<'_>) -> TokenStream {
    let params = cx.state.generics.params.iter().map(|param| match param {
        GenericParam::Lifetime(param) => param.lifetime.to_token_stream(),
        GenericParam::Type(param) => param.ident.to_token_stream(),
        GenericParam::Const(param) => {
            let (name, ty) = (&param.ident, &param.ty);
            quote!(const #name: #ty)
        }
    });
    quote!(<#(#params),*>)
}

/// Generates the further checks of a field. `held` turns a type into an error type if the state cannot have the field.
fn checks(cx: &Context<'_>, field: &Field, held: impl Fn(TokenStream) -> TokenStream) -> Vec<TokenStream> {
    let (spans, ty) = (UserSpans::of(&field.ty), held(field.ty.to_token_stream()));
    let runtime = spans.runtime(cx.runtime);
    let is = |bound: TokenStream| spans.around(quote!(<), ty.clone(), quote!(as #bound>::FITS));
    let mut checks = Vec::new();
    if !matches!(field.reducer, Reducer::Replace) {
        // For an `Option`, check the inner type that the reducer folds, so that rustc names it as the user wrote it.
        let (reducer, folded) = match &field.reducer {
            Reducer::BuiltIn { name, optional: Some(inner), .. } => {
                let name = format_ident!("{name}");
                (spans.all(quote!(#runtime::reducers::#name)), held(inner.to_token_stream()))
            }
            _ => (cx.reducer(field), ty.clone()),
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
