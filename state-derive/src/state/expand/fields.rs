//! Code that several parts of the expansion need for fields.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use syn::{Attribute, parse_quote};

use crate::state::model::{Field, Member, Start};

use super::context::Context;
use super::span::UserSpans;

/// Returns the field's documentation, or a default sentence.
pub(super) fn docs_or(docs: &[Attribute], otherwise: impl FnOnce() -> String) -> Vec<Attribute> {
    if docs.is_empty() {
        let text = otherwise();
        return vec![parse_quote!(#[doc = #text])];
    }
    docs.to_vec()
}

/// Generates a `match` over an enum that may have no variants. `place` is the target of a reference.
pub(super) fn cases(place: TokenStream, arms: impl IntoIterator<Item = TokenStream>) -> TokenStream {
    let mut arms = arms.into_iter().peekable();
    if arms.peek().is_none() { quote!(match *#place {}) } else { quote!(match #place { #(#arms)* }) }
}

/// Generates one arm per variant of the enums of writes and undos. The variants have the fields' names.
pub(super) fn arms(cx: &Context<'_>, arm: impl Fn(&Member) -> TokenStream) -> Vec<TokenStream> {
    cx.state.members.iter().map(arm).collect()
}

/// Generates the call for the initial value at the start of a run.
pub(super) fn start_value(cx: &Context<'_>, field: &Field) -> TokenStream {
    match &field.start {
        Start::Expr(_) => {
            let (function, (_, generics, _)) = (start_function(field), cx.state.generics.split_for_impl());
            let generics = generics.as_turbofish();
            quote!(#function #generics ())
        }
        Start::Default => {
            let spans = UserSpans::of(&field.ty);
            let (runtime, ty) = (spans.runtime(cx.runtime), cx.ty(field));
            let start = spans.around(quote!(<), quote!(#ty), quote!(as #runtime::StartValue>::start));
            quote!(#start())
        }
    }
}

// fn __start_quantity() -> u32 { 1 }
//
// The expression is in the expansion once, so that a mistake in it is reported once.
pub(super) fn start_functions(cx: &Context<'_>) -> TokenStream {
    let functions = cx.state.fields().filter_map(|field| {
        let Start::Expr(expr) = &field.start else { return None };
        let (function, ty, generics, where_clause) =
            (start_function(field), cx.ty(field), &cx.impl_generics, cx.where_clause);
        Some(quote!(fn #function #generics () -> #ty #where_clause { #expr }))
    });
    quote!(#(#functions)*)
}

fn start_function(field: &Field) -> Ident {
    format_ident!("__start_{}", field.ident)
}
