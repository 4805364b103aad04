use proc_macro2::TokenStream;
use quote::quote;

use crate::state::model::Member;

use super::context::Context;
use super::fields::{arms, cases};

// enum __Write { answer(Change<Replace, Option<String>>) }
// impl Clone for __Write { .. }
// enum __Undo { answer(Undo<Option<String>>) }
pub(super) fn items(cx: &Context<'_>) -> TokenStream {
    let (runtime, write, generics, where_clause) =
        (cx.runtime, &cx.write, &cx.impl_generics, cx.where_clause);
    let writes = arms(cx, |member| match member {
        Member::Field(field) => {
            let (ident, change) = (&field.ident, cx.change(field));
            quote!(#ident(#change),)
        }
        Member::Flat(flat) => {
            let (ident, write) = (&flat.ident, cx.flat_write(flat));
            quote!(#ident(#write),)
        }
    });
    let undos = arms(cx, |member| match member {
        Member::Field(field) => {
            let (ident, ty) = (&field.ident, cx.ty(field));
            quote!(#ident(#runtime::Undo<#ty>),)
        }
        Member::Flat(flat) => {
            let (ident, ty) = (&flat.ident, cx.flat_ty(flat));
            quote!(#ident(#runtime::UndoOf<#ty>),)
        }
    });
    let clone = cases(
        quote!(self),
        arms(cx, |member| {
            let ident = member.ident();
            quote!(Self::#ident(__write) => Self::#ident(::core::clone::Clone::clone(__write)),)
        }),
    );
    let clone = cx.impl_for(quote!(::core::clone::Clone), write, quote!(fn clone(&self) -> Self { #clone }));
    quote! {
        pub enum __Write #generics #where_clause { #(#writes)* }
        #clone
        pub enum __Undo #generics #where_clause { #(#undos)* }
    }
}
