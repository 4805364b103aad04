use proc_macro2::TokenStream;
use quote::quote;

use crate::state::model::Member;

use super::context::Context;
use super::fields::{arms, cases};
use super::{json, stored};

// impl FieldWrite<Ticket> for __Write {
//     type Undo = __Undo;
//     fn field(&self) -> usize { match self { Self::answer(_) => 0 } }
//
//     fn kind(&self) -> WriteKind { match self { Self::answer(write) => Change::kind(write) } }
//     fn prepare(self, stamp) { Ok(match self { Self::answer(write) => Self::answer(Change::prepare(write, stamp)?) }) }
//
//     fn apply(self, state) { Ok(match self { Self::answer(write) => __Undo::answer(Change::apply(write, &mut state.answer)?) }) }
//
//     fn undo(undo, state) { match undo { __Undo::answer(undo) => Undo::undo(undo, &mut state.answer) } }
//
//     fn __value(&self) -> &dyn Any { match self { Self::answer(write) => Change::value(write) } }
//     .. json, stored ..
// }
pub(super) fn item(cx: &Context<'_>) -> TokenStream {
    let (runtime, this, undo) = (cx.runtime, &cx.this, &cx.undo);
    let value = by_value(cx);
    let field = cases(
        quote!(self),
        arms(cx, |member| match member {
            Member::Field(field) => {
                let (ident, index) = (&field.ident, field.index);
                quote!(Self::#ident(_) => #index,)
            }
            Member::Flat(flat) => {
                let (ident, offset) = (&flat.ident, cx.offset(flat));
                quote!(Self::#ident(__write) => #offset + #runtime::FieldWrite::field(__write),)
            }
        }),
    );
    let kind = cases(quote!(self), arms(cx, |member| on(cx, member, quote!(kind), quote!())));
    let any = cases(
        quote!(self),
        arms(cx, |member| match member {
            Member::Field(_) => on(cx, member, quote!(value), quote!()),
            Member::Flat(_) => on(cx, member, quote!(__value), quote!()),
        }),
    );
    let (json, stored) = (json::methods(cx), stored::of_writes(cx));
    let body = quote! {
        type Undo = #undo;
        #[inline]
        fn field(&self) -> ::core::primitive::usize { #field }
        #[inline]
        fn kind(&self) -> #runtime::WriteKind { #kind }
        #value
        fn __value(&self) -> &dyn ::core::any::Any { #any }
        #json
        #stored
    };
    cx.impl_for(quote!(#runtime::FieldWrite<#this>), &cx.write, body)
}

/// `Self::answer(write) => Change::kind(write),`
fn on(cx: &Context<'_>, member: &Member, method: TokenStream, more: TokenStream) -> TokenStream {
    let (runtime, ident) = (cx.runtime, member.ident());
    match member {
        Member::Field(_) => quote!(Self::#ident(__write) => #runtime::Change::#method(__write #more),),
        Member::Flat(_) => quote!(Self::#ident(__write) => #runtime::FieldWrite::#method(__write #more),),
    }
}

/// Generates the methods that consume the write.
fn by_value(cx: &Context<'_>) -> TokenStream {
    let (runtime, this, undo) = (cx.runtime, &cx.this, &cx.undo);
    let consumed =
        |place, arms: Vec<_>| if arms.is_empty() { quote!(match #place {}) } else { cases(place, arms) };
    let prepare = consumed(
        quote!(self),
        arms(cx, |member| {
            let ident = member.ident();
            let call = match member {
                Member::Field(_) => quote!(#runtime::Change::prepare),
                Member::Flat(_) => quote!(#runtime::FieldWrite::prepare),
            };
            quote!(Self::#ident(__write) => Self::#ident(#call(__write, __stamp)?),)
        }),
    );
    let apply = consumed(
        quote!(self),
        arms(cx, |member| {
            let ident = member.ident();
            let call = match member {
                Member::Field(_) => quote!(#runtime::Change::apply),
                Member::Flat(_) => quote!(#runtime::FieldWrite::apply),
            };
            quote!(Self::#ident(__write) => __Undo::#ident(#call(__write, &mut __state.#ident)?),)
        }),
    );
    let take_back = consumed(
        quote!(__undo),
        arms(cx, |member| {
            let ident = member.ident();
            let call = match member {
                Member::Field(_) => quote!(#runtime::Undo::undo),
                Member::Flat(flat) => {
                    let (ty, write) = (cx.flat_ty(flat), cx.flat_write(flat));
                    quote!(<#write as #runtime::FieldWrite<#ty>>::undo)
                }
            };
            quote!(__Undo::#ident(__undo) => #call(__undo, &mut __state.#ident),)
        }),
    );
    let error = quote!(#runtime::ReduceError);
    quote! {
        #[inline]
        fn prepare(self, __stamp: &#runtime::Stamp<'_>) -> ::core::result::Result<Self, #error> {
            ::core::result::Result::Ok(#prepare)
        }
        #[inline]
        fn apply(self, __state: &mut #this) -> ::core::result::Result<#undo, #error> {
            ::core::result::Result::Ok(#apply)
        }
        #[inline]
        fn undo(__undo: #undo, __state: &mut #this) { #take_back }
    }
}
