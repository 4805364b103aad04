use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use crate::state::model::{Field, Flat, Given, Member, plain};

use super::context::Context;
use super::fields::docs_or;
use super::update::{deserialize, serialize, setter};

// #[must_use]
// struct TicketInput { __question: String, __update: TicketUpdate }
pub(super) fn item(cx: &Context<'_>) -> TokenStream {
    let (vis, generics, where_clause, name, update) =
        (&cx.state.vis, &cx.state.generics, cx.where_clause, cx.state.input(), &cx.update);
    let doc = format!("What a run over [`{}`] starts with.", cx.state.name());
    let required = cx.state.fields().filter(|field| field.given == Given::Always).map(|field| {
        let (slot, ty) = (slot(&field.ident), &field.ty);
        quote!(#slot: #ty,)
    });
    let flats = cx.state.flats().map(|flat| {
        let (slot, state) = (slot(&flat.ident), cx.flat(flat));
        quote!(#slot: #state::Input,)
    });
    quote! {
        #[doc = #doc]
        #[must_use = "an input does nothing until a run starts with it"]
        #vis struct #name #generics #where_clause { #(#required)* #(#flats)* __update: #update }
    }
}

/// The input's own field for a required field or a flattened state.
pub(super) fn slot(ident: &Ident) -> Ident {
    format_ident!("__{}", plain(ident))
}

/// The required fields and the flattened states, in source order.
fn slots(cx: &Context<'_>) -> impl Iterator<Item = Ident> {
    let held = |member: &&Member| match member {
        Member::Field(field) => field.given == Given::Always,
        Member::Flat(_) => true,
    };
    cx.state.members.iter().filter(held).map(|member| slot(member.ident()))
}

// impl Ticket { fn input(question: impl IntoValue<String>) -> TicketInput { .. } }
// impl TicketInput { fn notes(mut self, ..) -> Self { .. } }
// impl Default (when nothing is required), Clone, Debug, Serialize, Deserialize for TicketInput
pub(super) fn impls(cx: &Context<'_>) -> TokenStream {
    let setters = cx.state.members.iter().filter_map(|member| match member {
        Member::Field(field) if field.given == Given::Maybe => Some(optional(cx, field)),
        Member::Flat(flat) if flat.given == Given::Maybe => Some(flat_setter(cx, flat)),
        _ => None,
    });
    let setters = cx.inherent(&cx.input, quote!(#(#setters)*));
    let parts = [constructor(cx), default(cx), clone_and_debug(cx), serde(cx)];
    quote!(#setters #(#parts)*)
}

fn constructor(cx: &Context<'_>) -> TokenStream {
    let (runtime, vis, input) = (cx.runtime, &cx.state.vis, &cx.input);
    let mut arguments = Vec::new();
    let mut values = Vec::new();
    for member in &cx.state.members {
        let (ident, slot) = (member.ident(), slot(member.ident()));
        match member {
            Member::Field(field) if field.given == Given::Always => {
                let ty = &field.ty;
                arguments.push(quote!(#ident: impl #runtime::IntoValue<#ty>));
                values.push(quote!(#slot: #runtime::IntoValue::<#ty>::into_value(#ident),));
            }
            Member::Flat(flat) if flat.given == Given::Always => {
                let state = cx.flat(flat);
                arguments.push(quote!(#ident: #state::Input));
                values.push(quote!(#slot: #ident,));
            }
            Member::Flat(flat) => {
                let state = cx.flat(flat);
                values.push(quote!(#slot: <#state::Input as #runtime::OptionalInput>::nothing(),));
            }
            Member::Field(_) => {}
        }
    }
    let doc = format!("What a run over [`{}`] starts with: the required fields.", cx.state.name());
    let input_ident = cx.state.input();
    cx.inherent(
        &cx.this,
        quote! {
            #[doc = #doc]
            #vis fn input(#(#arguments),*) -> #input {
                #input_ident { #(#values)* __update: ::core::default::Default::default() }
            }
        },
    )
}

fn optional(cx: &Context<'_>, field: &Field) -> TokenStream {
    let (vis, ident) = (&cx.state.vis, &field.ident);
    setter(cx, field, quote!(#vis), quote!(self.__update.__writes.push(__Write::#ident(__change));))
}

fn flat_setter(cx: &Context<'_>, flat: &Flat) -> TokenStream {
    let (vis, ident, slot, state) = (&cx.state.vis, &flat.ident, slot(&flat.ident), cx.flat(flat));
    let docs = docs_or(&flat.docs, || format!("Gives the input of `{ident}`."));
    quote! {
        #(#docs)*
        #vis fn #ident(mut self, __input: #state::Input) -> Self {
            self.#slot = __input;
            self
        }
    }
}

fn default(cx: &Context<'_>) -> TokenStream {
    let required = cx.state.members.iter().any(|member| match member {
        Member::Field(field) => field.given == Given::Always,
        Member::Flat(flat) => flat.given == Given::Always,
    });
    if required {
        return TokenStream::new();
    }
    let state = &cx.state.ident;
    let (_, generics, _) = cx.state.generics.split_for_impl();
    let turbofish = generics.as_turbofish();
    cx.impl_for(
        quote!(::core::default::Default),
        &cx.input,
        quote!(fn default() -> Self { #state #turbofish::input() }),
    )
}

fn clone_and_debug(cx: &Context<'_>) -> TokenStream {
    let (runtime, input) = (cx.runtime, &cx.input);
    let name = cx.state.input().to_string();
    let slots = slots(cx);
    let clone = cx.impl_for(
        quote!(::core::clone::Clone),
        input,
        quote! {
            fn clone(&self) -> Self {
                Self {
                    #(#slots: ::core::clone::Clone::clone(&self.#slots),)*
                    __update: ::core::clone::Clone::clone(&self.__update),
                }
            }
        },
    );
    let this = &cx.this;
    let debug = cx.impl_for(
        quote!(::core::fmt::Debug),
        input,
        quote! {
            fn fmt(&self, __f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                let __update = #runtime::Input::<#this>::into_update(::core::clone::Clone::clone(self));
                #runtime::debug_update::<#this>(#name, &__update, __f)
            }
        },
    );
    quote!(#clone #debug)
}

// The input is written as the update that it amounts to: an object by field, without what must not leave the process.
fn serde(cx: &Context<'_>) -> TokenStream {
    let (runtime, this, input) = (cx.runtime, &cx.this, &cx.input);
    let body = quote! {
        let __update = #runtime::Input::<#this>::into_update(::core::clone::Clone::clone(self));
        #runtime::serialize_update::<#this, __S>(&__update, __serializer)
    };
    let serialize = serialize(cx, input, body);
    let deserialize =
        deserialize(cx, input, quote!(#runtime::deserialize_input::<#this, __D>(__deserializer)));
    quote!(#serialize #deserialize)
}
