use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;

use crate::state::model::Reducer;

use super::context::Context;
use super::span::UserSpans;

// enum __Reducer_notes {}
// impl Reducer<String> for __Reducer_notes {
//     type Update = char;
//     type Delta = char;
//     fn prepare(update, _) { Ok(update) }
//     fn fold(value, delta) { FoldOutcome::into_reduced(push_char(value, delta)) }
// }
pub(super) fn items(cx: &Context<'_>) -> TokenStream {
    let runtime = cx.runtime;
    cx.state
        .fields()
        .filter_map(|field| {
            let Reducer::Function { path, takes } = &field.reducer else { return None };
            let (name, ty, reducer) =
                (format_ident!("__Reducer_{}", field.ident), &field.ty, cx.reducer(field));
            let (generics, where_clause) = (&cx.impl_generics, cx.where_clause);
            // These tokens have the span of the function's path: there rustc underlines types that do not fit.
            let at = path.segments.last().map_or_else(|| path.span(), |last| last.ident.span());
            let (value, delta) = (Ident::new("__value", at), Ident::new("__delta", at));
            let (outcome, arguments) =
                (UserSpans::of(path).runtime(runtime), quote_spanned!(at=> (#value, #delta)));
            let mentions = cx.type_params();
            let body = quote! {
                type Update = #takes;
                type Delta = #takes;
                fn prepare(
                    __update: #takes,
                    _: &#runtime::Stamp<'_>,
                ) -> ::core::result::Result<#takes, #runtime::ReduceError> {
                    ::core::result::Result::Ok(__update)
                }
                fn fold(
                    #value: &mut #ty,
                    #delta: #takes,
                ) -> ::core::result::Result<(), #runtime::ReduceError> {
                    #outcome::FoldOutcome::into_reduced(#path #arguments)
                }
            };
            let reducer_impl = cx.impl_for(quote!(#runtime::Reducer<#ty>), reducer, body);
            Some(quote! {
                pub struct #name #generics (::core::marker::PhantomData<fn() -> (#(#mentions,)*)>) #where_clause;
                #reducer_impl
            })
        })
        .collect()
}
