use proc_macro2::{Ident, TokenStream};
use quote::quote;

use crate::attr::reader;
use crate::state::model::{Field, Flat, InInput, Member};

use super::context::Context;
use super::fields::docs_or;
use super::setter;
use super::span::UserSpans;
use super::update::{deserialize, serialize};

// #[must_use]
// enum TicketInput { Given(Sealed<(<TicketInput as Held>::Given, TicketUpdate)>) }
pub(super) fn item(cx: &Context<'_>) -> TokenStream {
    let (runtime, vis, generics, where_clause, name, input, update) = (
        cx.runtime,
        &cx.state.vis,
        &cx.state.generics,
        cx.where_clause,
        cx.state.input(),
        &cx.input,
        &cx.update,
    );
    let doc = format!("The input of a run over [`{}`].", cx.state.name());
    quote! {
        #[doc = #doc]
        #[must_use = "an input does nothing until a run starts with it"]
        #vis enum #name #generics #where_clause {
            #[doc(hidden)]
            Given(#runtime::Sealed<(<#input as #runtime::Held>::Given, #update)>),
        }
    }
}

// struct __Given { question: String }
// impl Held for TicketInput { type Given = __Given; }
fn held(cx: &Context<'_>) -> TokenStream {
    let (runtime, generics, where_clause, given) =
        (cx.runtime, &cx.impl_generics, cx.where_clause, &cx.given);
    let parts = held_members(cx).map(|member| {
        let ident = member.ident();
        match member {
            Member::Field(field) => {
                let ty = &field.ty;
                quote!(#ident: #ty,)
            }
            Member::Flat(flat) => {
                let state = cx.flat(flat);
                quote!(#ident: #state::Input,)
            }
        }
    });
    let params = cx.type_params();
    let idents: Vec<_> = held_members(cx).map(Member::ident).collect();
    let clone = cx.impl_for(
        quote!(::core::clone::Clone),
        given,
        quote! {
            fn clone(&self) -> Self {
                Self {
                    #(#idents: ::core::clone::Clone::clone(&self.#idents),)*
                    __unused: ::core::marker::PhantomData,
                }
            }
        },
    );
    let held = cx.impl_for(quote!(#runtime::Held), &cx.input, quote!(type Given = #given;));
    quote! {
        pub struct __Given #generics #where_clause {
            #(#parts)*
            __unused: ::core::marker::PhantomData<fn() -> (#(#params,)*)>,
        }
        #clone
        #held
    }
}

/// Returns the required fields and the flattened states, in source order.
pub(super) fn held_members<'a>(cx: &Context<'a>) -> impl Iterator<Item = &'a Member> {
    cx.state.members.iter().filter(|member| match member {
        Member::Field(field) => field.in_input == InInput::Required,
        Member::Flat(_) => true,
    })
}

// impl Ticket { fn input(question: impl IntoValue<String>) -> TicketInput { .. } }
// impl TicketInput { fn notes(mut self, ..) -> Self { .. } }
// impl Default (when nothing is required), Clone, Debug, Serialize, Deserialize for TicketInput
pub(super) fn impls(cx: &Context<'_>) -> TokenStream {
    let setters = cx.state.members.iter().filter_map(|member| match member {
        Member::Field(field) if field.in_input == InInput::Optional => Some(optional(cx, field)),
        Member::Flat(flat) if flat.in_input == InInput::Optional => Some(flat_setter(cx, flat)),
        _ => None,
    });
    let setters = cx.inherent(&cx.input, quote!(#(#setters)*));
    let parts = [held(cx), into_input(cx), constructor(cx), default(cx), clone_and_debug(cx), serde(cx)];
    quote!(#setters #(#parts)*)
}

// impl IntoInput<Ticket> for TicketInput { fn into_input(self) -> TicketInput { self } }
pub(super) fn into_input(cx: &Context<'_>) -> TokenStream {
    let (runtime, this, input) = (cx.runtime, &cx.this, &cx.input);
    cx.impl_shared(quote!(#runtime::IntoInput<#this>), input, quote!(fn into_input(self) -> #input { self }))
}

fn constructor(cx: &Context<'_>) -> TokenStream {
    let (runtime, vis, input) = (cx.runtime, &cx.state.vis, &cx.input);
    let mut arguments = Vec::new();
    let mut values = Vec::new();
    for member in held_members(cx) {
        let ident = member.ident();
        match member {
            Member::Field(field) => {
                let (krate, spans, ty) = (runtime.krate(), UserSpans::of(&field.ty), &field.ty);
                let bound = spans.around(quote!(#krate::state::IntoValue<), quote!(#ty), quote!(>));
                arguments.push(quote!(#ident: impl #bound));
                values.push(quote!(#ident: #runtime::IntoValue::<#ty>::into_value(#ident),));
            }
            Member::Flat(flat) if flat.in_input == InInput::Required => {
                arguments.push(flat_argument(cx, flat, ident));
                values.push(quote!(#ident,));
            }
            Member::Flat(flat) => {
                let spans = UserSpans::of(&flat.ty);
                let (runtime, state) = (spans.runtime(cx.runtime), cx.flat(flat));
                let input = spans.all(quote!(::Input));
                let nothing = spans.around(
                    quote!(<),
                    quote!(#state #input),
                    quote!(as #runtime::OptionalInput>::nothing),
                );
                values.push(quote!(#ident: #nothing(),));
            }
        }
    }
    let doc = format!("Creates the input of a run over [`{}`] from its required fields.", cx.state.name());
    let name = cx.state.input();
    cx.inherent(
        &cx.this,
        quote! {
            #[doc = #doc]
            #vis fn input(#(#arguments),*) -> #input {
                #name::Given(#runtime::Sealed::new((
                    __Given { #(#values)* __unused: ::core::marker::PhantomData },
                    ::core::default::Default::default(),
                )))
            }
        },
    )
}

/// Shows the written type instead of its alias in rustdoc and rust-analyzer.
fn flat_argument(cx: &Context<'_>, flat: &Flat, ident: &Ident) -> TokenStream {
    let (krate, ty, state, reader) = (cx.runtime.krate(), &flat.ty, cx.flat(flat), reader());
    quote! {
        #[cfg(not(#reader))] #ident: #state::Input,
        #[cfg(#reader)] #ident: <#ty as #krate::GraphState>::Input
    }
}

fn optional(cx: &Context<'_>, field: &Field) -> TokenStream {
    let (runtime, this, update) = (cx.runtime, &cx.this, &cx.update);
    let (vis, ident) = (&cx.state.vis, &field.ident);
    let push = quote! {
        let Self::Given(__given) = &mut self;
        <#update as #runtime::Update<#this>>::__writes_mut(&mut #runtime::Sealed::get_mut(__given).1)
            .push(__Write::#ident(__change));
    };
    setter::field(cx, field, quote!(#vis), push)
}

fn flat_setter(cx: &Context<'_>, flat: &Flat) -> TokenStream {
    let (vis, ident, argument) = (&cx.state.vis, &flat.ident, flat_argument(cx, flat, &flat.ident));
    let runtime = cx.runtime;
    let docs = docs_or(&flat.docs, || format!("Sets the input of `{ident}`."));
    quote! {
        #(#docs)*
        #vis fn #ident(mut self, #argument) -> Self {
            let Self::Given(__given) = &mut self;
            #runtime::Sealed::get_mut(__given).0.#ident = #ident;
            self
        }
    }
}

fn default(cx: &Context<'_>) -> TokenStream {
    let required = cx.state.members.iter().any(|member| match member {
        Member::Field(field) => field.in_input == InInput::Required,
        Member::Flat(flat) => flat.in_input == InInput::Required,
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
    let clone = cx.impl_for(
        quote!(::core::clone::Clone),
        input,
        quote! {
            fn clone(&self) -> Self {
                let Self::Given(__given) = self;
                Self::Given(#runtime::Sealed::new(::core::clone::Clone::clone(#runtime::Sealed::get(__given))))
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

// The input is serialized like the equivalent update: an object by field, without excluded and untracked fields.
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
