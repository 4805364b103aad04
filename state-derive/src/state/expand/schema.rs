use proc_macro2::TokenStream;
use quote::quote;
use syn::{Attribute, Expr, ExprLit, Lit, Meta};

use crate::state::build::option;
use crate::state::model::{Field, Flat, InInput, Member, Writer};

use super::context::Context;
use super::span::UserSpans;

// impl StateSchema for Ticket {
//     fn __state(to: &mut Properties) { to.__of::<Option<String>>("answer", "", true); }
//     fn __input(to: &mut Properties) { to.__of::<<Replace as Reducer<Option<String>>>::Update>("answer", "", false); }
//     fn __output(to: &mut Properties) { Self::__state(to) }
// }
pub(super) fn item(cx: &Context<'_>) -> TokenStream {
    if !cx.state.schema {
        return TokenStream::new();
    }
    let runtime = cx.runtime;
    let state = cx.state.members.iter().map(|member| match member {
        Member::Field(field) if field.dumped => dumped(cx, field),
        Member::Field(_) => TokenStream::new(),
        Member::Flat(flat) => part(cx, flat, quote!(__state)),
    });
    let input = cx.state.members.iter().map(|member| match member {
        Member::Field(field) => given(cx, field),
        Member::Flat(flat) => part(cx, flat, quote!(__input)),
    });
    let output = if cx.state.has_output() {
        let fields = cx.state.fields().filter(|field| field.output).map(|field| dumped(cx, field));
        quote!(#(#fields)*)
    } else {
        quote!(<Self as #runtime::schema::StateSchema>::__state(__to);)
    };
    let properties = quote!(__to: &mut #runtime::schema::Properties);
    cx.impl_shared(
        quote!(#runtime::schema::StateSchema),
        &cx.this,
        quote! {
            fn __state(#properties) { #(#state)* }
            fn __input(#properties) { #(#input)* }
            fn __output(#properties) { #output }
        },
    )
}

fn part(cx: &Context<'_>, flat: &Flat, method: TokenStream) -> TokenStream {
    let spans = UserSpans::of(&flat.ty);
    let runtime = spans.runtime(cx.runtime);
    let method =
        spans.around(quote!(<), cx.flat_ty(flat), quote!(as #runtime::schema::StateSchema>::#method));
    quote!(#method(__to);)
}

fn dumped(cx: &Context<'_>, field: &Field) -> TokenStream {
    let (name, text) = (field.name(), description(&field.docs));
    if field.skip_none {
        return skipped(cx, field, &text);
    }
    match &field.codec.write {
        Some(Writer::Path(_)) => quote!(__to.__any(#name, #text, true);),
        Some(Writer::Display | Writer::Debug) if option(&field.ty).is_some() => {
            quote!(__to.__of::<::core::option::Option<&'static ::core::primitive::str>>(#name, #text, true);)
        }
        Some(Writer::Display | Writer::Debug) => {
            quote!(__to.__of::<&'static ::core::primitive::str>(#name, #text, true);)
        }
        None => {
            let ty = cx.ty(field);
            quote!(__to.__of::<#ty>(#name, #text, true);)
        }
    }
}

/// Generates the schema of a field that is left out while it is `None`: not required, and never null.
fn skipped(cx: &Context<'_>, field: &Field, text: &str) -> TokenStream {
    let name = field.name();
    match &field.codec.write {
        Some(Writer::Path(_)) => quote!(__to.__any(#name, #text, false);),
        Some(Writer::Display | Writer::Debug) => {
            quote!(__to.__of::<&'static ::core::primitive::str>(#name, #text, false);)
        }
        None => {
            let ty = cx.ty(field);
            quote!(__to.__of::<<#ty as ::core::iter::IntoIterator>::Item>(#name, #text, false);)
        }
    }
}

fn given(cx: &Context<'_>, field: &Field) -> TokenStream {
    if field.in_input == InInput::Never || !field.tracked {
        return TokenStream::new();
    }
    let (name, text, required) =
        (field.name(), description(&field.docs), field.in_input == InInput::Required);
    if field.codec.read.is_some() {
        return quote!(__to.__any(#name, #text, #required););
    }
    let (runtime, reducer, ty) = (cx.runtime, cx.reducer(field), cx.ty(field));
    quote!(__to.__of::<<#reducer as #runtime::Reducer<#ty>>::Update>(#name, #text, #required);)
}

/// Returns the doc comment as a string.
fn description(docs: &[Attribute]) -> String {
    let lines = docs.iter().filter_map(|attr| match &attr.meta {
        Meta::NameValue(meta) => match &meta.value {
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value().trim().to_owned()),
            _ => None,
        },
        _ => None,
    });
    lines.collect::<Vec<_>>().join("\n").trim().to_owned()
}
