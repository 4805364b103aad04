use proc_macro2::TokenStream;
use quote::quote;

use crate::state::model::{Field, Flat, Given, Member};

use super::context::Context;
use super::fields::start_value;
use super::input::slot;
use super::json;

// impl Input<Ticket> for TicketInput {
//     fn into_start(self) -> Start<Ticket> {
//         Start { state: Ticket { question: self.__question, .. }, update: self.__update, given: vec![0] }
//     }
//     fn into_update(self) -> TicketUpdate { .. }
//     fn from_json(value: Value) -> Result<Self, InputError> { .. }
// }
pub(super) fn item(cx: &Context<'_>) -> TokenStream {
    let (runtime, this) = (cx.runtime, &cx.this);
    let methods = [into_start(cx), into_update(cx), from_json(cx)];
    cx.impl_for(quote!(#runtime::Input<#this>), &cx.input, quote!(#(#methods)*))
}

fn into_start(cx: &Context<'_>) -> TokenStream {
    let (runtime, this, state) = (cx.runtime, &cx.this, &cx.state.ident);
    let given = required(cx).map(|field| field.index);
    let values = cx.state.members.iter().map(|member| {
        let (ident, slot) = (member.ident(), slot(member.ident()));
        match member {
            Member::Field(field) if field.given == Given::Always => quote!(#ident: self.#slot,),
            Member::Field(field) => {
                let value = start_value(cx, field);
                quote!(#ident: #value,)
            }
            Member::Flat(_) => quote!(#ident: #slot.state,),
        }
    });
    let flats = cx.state.flats().map(|flat| {
        let (ident, slot, ty, offset) = (&flat.ident, slot(&flat.ident), cx.flat_ty(flat), cx.offset(flat));
        quote! {
            let #slot = #runtime::Input::<#ty>::into_start(self.#slot);
            __given.extend(::core::iter::Iterator::map(
                ::core::iter::IntoIterator::into_iter(#slot.given),
                |__index| #offset + __index,
            ));
            __update.__writes.extend(#runtime::Update::<#ty>::__into_writes(#slot.update).map(__Write::#ident));
        }
    });
    quote! {
        fn into_start(self) -> #runtime::Start<#this> {
            let mut __update = self.__update;
            let mut __given: #runtime::Vec<::core::primitive::usize> = #runtime::Vec::from([#(#given),*]);
            #(#flats)*
            #runtime::Start { state: #state { #(#values)* }, update: __update, given: __given }
        }
    }
}

fn into_update(cx: &Context<'_>) -> TokenStream {
    let (runtime, update, write) = (cx.runtime, &cx.update, &cx.write);
    let required = required(cx).map(|field| {
        let (ident, slot) = (&field.ident, slot(&field.ident));
        quote!(__writes.push(__Write::#ident(#runtime::Change::Update(self.#slot)));)
    });
    let flats = cx.state.flats().map(|flat| {
        let (ident, slot, ty) = (&flat.ident, slot(&flat.ident), cx.flat_ty(flat));
        quote! {
            let __update = #runtime::Input::<#ty>::into_update(self.#slot);
            __writes.extend(#runtime::Update::<#ty>::__into_writes(__update).map(__Write::#ident));
        }
    });
    quote! {
        fn into_update(self) -> #update {
            let mut __writes: #runtime::Writes<#write> = ::core::default::Default::default();
            #(#required)*
            #(#flats)*
            __writes.extend(self.__update.__writes);
            #runtime::Update::__from_writes(__writes)
        }
    }
}

fn from_json(cx: &Context<'_>) -> TokenStream {
    let (runtime, name, update) = (cx.runtime, cx.state.name(), cx.state.update());
    let reads = cx.state.members.iter().map(|member| match member {
        Member::Field(field) => read(cx, field),
        Member::Flat(flat) => read_flat(cx, flat),
    });
    let slots = cx.state.members.iter().filter_map(|member| match member {
        Member::Field(field) if field.given != Given::Always => None,
        _ => Some(slot(member.ident())),
    });
    quote! {
        fn from_json(
            __value: #runtime::serde_json::Value,
        ) -> ::core::result::Result<Self, #runtime::InputError> {
            let mut __object = #runtime::JsonInput::new(#name, __value);
            let mut __writes = ::core::default::Default::default();
            #(#reads)*
            __object.finish(move || {
                ::core::option::Option::Some(Self { #(#slots: #slots?,)* __update: #update { __writes } })
            })
        }
    }
}

fn read(cx: &Context<'_>, field: &Field) -> TokenStream {
    let (runtime, this, write, names) = (cx.runtime, &cx.this, &cx.write, &field.names);
    match field.given {
        Given::Never => TokenStream::new(),
        Given::Maybe if !field.tracked => TokenStream::new(),
        Given::Maybe => quote! {
            __object.optional(
                &[#(#names),*],
                |__key, __value| <#write as #runtime::FieldWrite<#this>>::__parse(__key, __value, false),
                &mut __writes,
            );
        },
        Given::Always => {
            let (slot, ty, parser) = (slot(&field.ident), cx.ty(field), json::required(cx, field));
            quote! {
                let #slot: ::core::option::Option<#ty> =
                    __object.required_with(&[#(#names),*], |__key, __value| #parser);
            }
        }
    }
}

fn read_flat(cx: &Context<'_>, flat: &Flat) -> TokenStream {
    let (slot, ty) = (slot(&flat.ident), cx.flat_ty(flat));
    quote!(let #slot = __object.flattened::<#ty>();)
}

fn required<'a>(cx: &'a Context<'_>) -> impl Iterator<Item = &'a Field> {
    cx.state.fields().filter(|field| field.given == Given::Always)
}
