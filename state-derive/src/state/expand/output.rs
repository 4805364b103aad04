use proc_macro2::TokenStream;
use quote::quote;
use syn::Ident;

use crate::generics::mentions_name;

use super::context::Context;
use super::dump;
use super::update::serialize;

// #[allow(..)]
// struct TicketOutput { answer: Option<String> }
pub(super) fn item(cx: &Context<'_>) -> TokenStream {
    if !cx.state.has_output() {
        return TokenStream::new();
    }
    let (vis, generics, where_clause, name) =
        (&cx.state.vis, &cx.state.generics, cx.where_clause, cx.state.output());
    let doc = format!("The output of a run over [`{}`]: the fields marked `output`.", cx.state.name());
    let fields = cx.state.fields().filter(|field| field.output).map(|field| {
        let (docs, vis, ident, ty) = (&field.docs, &field.vis, &field.ident, &field.ty);
        quote!(#(#docs)* #vis #ident: #ty,)
    });
    let phantom =
        phantom(cx).map(|params| quote!(__unused: ::core::marker::PhantomData<fn() -> (#(#params,)*)>));
    quote! {
        #[doc = #doc]
        // rustc has already reported all errors of these fields on the state.
        #[allow(missing_docs, non_snake_case)]
        #vis struct #name #generics #where_clause { #(#fields)* #phantom }
    }
}

/// Returns the type parameters that no output field uses. A struct must use all of its parameters.
fn phantom(cx: &Context<'_>) -> Option<Vec<Ident>> {
    let types = cx.state.fields().filter(|field| field.output).map(|field| &field.ty);
    let types = quote!(#(#types)*);
    let unused: Vec<_> =
        cx.type_params().filter(|param| !mentions_name(types.clone(), param)).cloned().collect();
    (!unused.is_empty()).then_some(unused)
}

// const __OWN_OUTPUT: bool = { let _ = |output: &TicketOutput| { let TicketOutput { answer: _ } = output; }; true };
// type __Output = <TicketOutput as Checked<__OWN_OUTPUT>>::Same;
//
// If the user has a type of this name too, rustc takes that one for the name. The constant reports it once: rustc takes the
// alias for any type then. A constant cannot use type parameters.
fn own(cx: &Context<'_>) -> TokenStream {
    if !has_alias(cx) {
        return TokenStream::new();
    }
    let (runtime, output, name) = (cx.runtime, &cx.output, cx.state.output());
    let idents = cx.state.fields().filter(|field| field.output).map(|field| &field.ident);
    quote! {
        const __OWN_OUTPUT: ::core::primitive::bool = {
            let _ = |__output: &#output| {
                let #name { #(#idents: _,)* } = __output;
            };
            true
        };
        type __Output = <#output as #runtime::Checked<__OWN_OUTPUT>>::Same;
    }
}

fn has_alias(cx: &Context<'_>) -> bool {
    cx.state.generics.params.is_empty() && cx.state.lifetimes.is_empty()
}

/// Returns the type of the output for bodies of functions.
fn checked(cx: &Context<'_>) -> TokenStream {
    let name = cx.state.output();
    if has_alias(cx) { quote!(__Output) } else { quote!(#name) }
}

// impl Clone, Debug, Serialize for TicketOutput
pub(super) fn impls(cx: &Context<'_>) -> TokenStream {
    if !cx.state.has_output() {
        return TokenStream::new();
    }
    let (runtime, output, own, checked) = (cx.runtime, &cx.output, own(cx), checked(cx));
    let this = has_alias(cx).then(|| quote!(let __this: &__Output = self;));
    let of = if has_alias(cx) { quote!(__this) } else { quote!(self) };
    let idents: Vec<_> = cx.state.fields().filter(|field| field.output).map(|field| &field.ident).collect();
    let phantom = phantom(cx).map(|_| quote!(__unused: ::core::marker::PhantomData));
    let clone = cx.impl_for(
        quote!(::core::clone::Clone),
        output,
        quote! {
            fn clone(&self) -> Self {
                #this
                #checked { #(#idents: ::core::clone::Clone::clone(&#of.#idents),)* #phantom }
            }
        },
    );
    let debug = cx.impl_for(
        quote!(::core::fmt::Debug),
        output,
        quote! {
            fn fmt(&self, __f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                #runtime::debug_json(self, __f)
            }
        },
    );
    let entries = cx.state.fields().filter(|field| field.output).map(|field| dump::entry(cx, field, &of));
    let body = quote! {
        #this
        let mut __map = #runtime::serde::Serializer::serialize_map(__serializer, ::core::option::Option::None)?;
        let __to = &mut __map;
        #(#entries)*
        #runtime::serde::ser::SerializeMap::end(__map)
    };
    let serialize = serialize(cx, output, body);
    quote!(#own #clone #debug #serialize)
}

// fn output(&self) -> TicketOutput { TicketOutput { answer: Clone::clone(&self.answer) } }
pub(super) fn method(cx: &Context<'_>) -> TokenStream {
    if !cx.state.has_output() {
        let runtime = cx.runtime;
        return quote! {
            type Output = Self;
            fn output(&self) -> Self { #runtime::GraphState::__duplicate(self) }
        };
    }
    let (output, checked) = (&cx.output, checked(cx));
    let idents = cx.state.fields().filter(|field| field.output).map(|field| &field.ident);
    let phantom = phantom(cx).map(|_| quote!(__unused: ::core::marker::PhantomData));
    quote! {
        type Output = #output;
        fn output(&self) -> #output {
            #checked { #(#idents: ::core::clone::Clone::clone(&self.#idents),)* #phantom }
        }
    }
}
