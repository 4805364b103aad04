use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use crate::state::model::{Field, Flat, InInput, Member};

use super::context::Context;
use super::fields::start_value;
use super::input::held_members;
use super::json;

// impl Input<Ticket> for TicketInput {
//     fn into_start(self) -> Start<Ticket> {
//         Start { state: Ticket { question: held.question, .. }, update, given: vec![0] }
//     }
//     fn into_update(self) -> TicketUpdate { .. }
//     fn __read(object: JsonInput) -> Result<(Self, Vec<UnknownKey>), InputError> { .. }
// }
pub(super) fn item(cx: &Context<'_>) -> TokenStream {
    let (runtime, this) = (cx.runtime, &cx.this);
    let methods = [into_start(cx), into_update(cx), read_json(cx)];
    cx.impl_shared(quote!(#runtime::Input<#this>), &cx.input, quote!(#(#methods)*))
}

fn into_start(cx: &Context<'_>) -> TokenStream {
    let (runtime, this, state) = (cx.runtime, &cx.this, &cx.state.ident);
    let given = required(cx).map(|field| field.index);
    let values = cx.state.members.iter().map(|member| {
        let ident = member.ident();
        match member {
            Member::Field(field) if field.in_input == InInput::Required => quote!(#ident: __held.#ident,),
            Member::Field(field) => {
                let value = start_value(cx, field);
                quote!(#ident: #value,)
            }
            Member::Flat(_) => {
                let local = local(ident);
                quote!(#ident: #local.state,)
            }
        }
    });
    let flats = cx.state.flats().map(|flat| {
        let (ident, local, ty, offset) = (&flat.ident, local(&flat.ident), cx.flat_ty(flat), cx.offset(flat));
        quote! {
            let #local = #runtime::Input::<#ty>::into_start(__held.#ident);
            ::core::iter::Extend::extend(
                &mut __given,
                ::core::iter::Iterator::map(
                    ::core::iter::IntoIterator::into_iter(#local.given),
                    |__index| #offset + __index,
                ),
            );
            ::core::iter::Extend::extend(&mut __writes, #runtime::Update::<#ty>::__into_writes(#local.update).map(__Write::#ident));
        }
    });
    quote! {
        fn into_start(self) -> #runtime::Start<#this> {
            let Self::Given(__sealed) = self;
            let (__held, __update) = #runtime::Sealed::open(__sealed);
            let mut __writes = #runtime::Update::<#this>::__into_writes(__update);
            let mut __given: #runtime::Vec<::core::primitive::usize> = ::core::convert::From::from([#(#given),*]);
            #(#flats)*
            #runtime::Start {
                state: #state { #(#values)* },
                update: #runtime::Update::<#this>::__from_writes(__writes),
                given: __given,
            }
        }
    }
}

fn into_update(cx: &Context<'_>) -> TokenStream {
    let (runtime, this, update, write) = (cx.runtime, &cx.this, &cx.update, &cx.write);
    let required = required(cx).map(|field| {
        let ident = &field.ident;
        quote!(__writes.push(__Write::#ident(#runtime::Change::Update(__held.#ident)));)
    });
    let flats = cx.state.flats().map(|flat| {
        let (ident, ty) = (&flat.ident, cx.flat_ty(flat));
        quote! {
            let __update = #runtime::Input::<#ty>::into_update(__held.#ident);
            ::core::iter::Extend::extend(&mut __writes, #runtime::Update::<#ty>::__into_writes(__update).map(__Write::#ident));
        }
    });
    quote! {
        fn into_update(self) -> #update {
            let Self::Given(__sealed) = self;
            let (__held, __given) = #runtime::Sealed::open(__sealed);
            let mut __writes: #runtime::Writes<#write> = ::core::default::Default::default();
            #(#required)*
            #(#flats)*
            ::core::iter::Extend::extend(&mut __writes, #runtime::Update::<#this>::__into_writes(__given));
            #runtime::Update::__from_writes(__writes)
        }
    }
}

fn read_json(cx: &Context<'_>) -> TokenStream {
    let (runtime, this) = (cx.runtime, &cx.this);
    let reads = cx.state.members.iter().map(|member| match member {
        Member::Field(field) => read(cx, field),
        Member::Flat(flat) => read_flat(cx, flat),
    });
    let (idents, locals): (Vec<_>, Vec<_>) =
        held_members(cx).map(|member| (member.ident(), local(member.ident()))).unzip();
    quote! {
        fn __read(
            mut __object: #runtime::JsonInput,
        ) -> ::core::result::Result<(Self, #runtime::Vec<#runtime::UnknownKey>), #runtime::InputError> {
            let mut __writes = ::core::default::Default::default();
            #(#reads)*
            __object.finish::<#this>(move || {
                // Not in the literal: its code to drop the values before each `?` would grow with the square of the fields.
                #(let #locals = #locals?;)*
                ::core::option::Option::Some(Self::Given(#runtime::Sealed::new((
                    __Given { #(#idents: #locals,)* __unused: ::core::marker::PhantomData },
                    #runtime::Update::<#this>::__from_writes(__writes),
                ))))
            })
        }
    }
}

fn read(cx: &Context<'_>, field: &Field) -> TokenStream {
    let (this, write, names) = (&cx.this, &cx.write, &field.names);
    match field.in_input {
        InInput::Never => TokenStream::new(),
        InInput::Optional if !field.tracked => TokenStream::new(),
        InInput::Optional => quote! {
            __object.optional::<#this, #write>(&[#(#names),*], &mut __writes);
        },
        InInput::Required if !field.tracked => {
            let (local, ty) = (local(&field.ident), cx.ty(field));
            quote!(let #local: ::core::option::Option<#ty> = __object.untracked(&[#(#names),*]);)
        }
        InInput::Required => {
            let (local, ty, parser) = (local(&field.ident), cx.ty(field), json::required(cx, field));
            quote! {
                let #local: ::core::option::Option<#ty> =
                    __object.required_with(&[#(#names),*], |__key, __value| #parser);
            }
        }
    }
}

fn read_flat(cx: &Context<'_>, flat: &Flat) -> TokenStream {
    let (local, ty) = (local(&flat.ident), cx.flat_ty(flat));
    quote!(let #local = __object.flattened::<#ty>();)
}

fn required<'a>(cx: &'a Context<'_>) -> impl Iterator<Item = &'a Field> {
    cx.state.fields().filter(|field| field.in_input == InInput::Required)
}

/// Returns the name of a local variable for the field.
pub(super) fn local(ident: &Ident) -> Ident {
    format_ident!("__of_{}", ident)
}
