//! The expansion after a mistake: every name exists and accepts any value, so that the mistakes are the only errors.

use std::collections::BTreeSet;

use proc_macro2::TokenStream;
use quote::quote;
use syn::Ident;

use crate::generics::params;
use crate::state::model::{InInput, Member, State};

use super::context::Context;
use super::{assert, constants, flatten, lints, output, update};

// struct TicketUpdate { .. }
// struct TicketInput { .. }
// impl TicketUpdate { fn answer<T>(self, _: T) -> Self { self } }
// impl GraphState for Ticket { fn output(&self) { loop {} } .. }
pub(in crate::state) fn fallback(state: &State, mistakes: Option<syn::Error>) -> TokenStream {
    let cx = &Context::new(state);
    let types = if state.lifetimes.is_empty() {
        [update::item(cx), input_item(cx), output::item(cx)]
    } else {
        [state.update(), state.input(), state.output()].map(|name| borrowing_item(cx, &name))
    };
    let mistakes = mistakes.into_iter().flatten().map(syn::Error::into_compile_error);
    let checked = assert::checked_state(cx, &quote!({ #(let _: () = #mistakes;)* true }));
    let parts = [checked, constants::of_fallback(cx), setters(cx), contracts(cx), conversions(cx)];
    let lints = lints();
    quote! {
        #(#types)*
        #[doc(hidden)]
        #lints
        const _: () = { #(#parts)* };
    }
}

fn input_item(cx: &Context<'_>) -> TokenStream {
    let (runtime, vis, generics, where_clause, name, update) =
        (cx.runtime, &cx.state.vis, &cx.state.generics, cx.where_clause, cx.state.input(), &cx.update);
    quote! {
        #[doc(hidden)]
        #vis enum #name #generics #where_clause {
            #[doc(hidden)]
            Given(#runtime::Sealed<#update>),
        }
    }
}

/// A type with the lifetimes of the struct.
fn borrowing_item(cx: &Context<'_>, name: &Ident) -> TokenStream {
    let (vis, lifetimes, where_clause) = (&cx.state.vis, &cx.state.lifetimes, cx.where_clause);
    let (others, params) = (params(&cx.state.generics, &quote!('static)), cx.type_params());
    quote! {
        #[doc(hidden)]
        #vis struct #name<#(#lifetimes,)* #others>(
            ::core::marker::PhantomData<(#(&#lifetimes (),)* #(fn() -> #params,)*)>,
        ) #where_clause;
    }
}

fn setters(cx: &Context<'_>) -> TokenStream {
    let (vis, update, input) = (&cx.state.vis, &cx.update, &cx.input);
    let mut seen = BTreeSet::new();
    let members: Vec<&Member> =
        cx.state.members.iter().filter(|member| seen.insert(member.ident().to_string())).collect();
    let setter = |ident: &Ident| quote!(#vis fn #ident<__T>(self, _: __T) -> Self { loop {} });
    let setters: Vec<_> = members.iter().map(|member| setter(member.ident())).collect();
    let arguments = members
        .iter()
        .filter(|member| in_input(member) == InInput::Required)
        .map(|_| quote!(_: impl ::core::marker::Sized));
    let on_state = cx.inherent(
        &cx.this,
        quote! {
            #vis fn update() -> #update { loop {} }
            #vis fn input(#(#arguments),*) -> #input { loop {} }
        },
    );
    let on_update = cx.inherent(update, quote!(#(#setters)*));
    let on_input = cx.inherent(input, quote!(#(#setters)*));
    quote!(#on_state #on_update #on_input)
}

fn in_input(member: &Member) -> InInput {
    match member {
        Member::Field(field) => field.in_input,
        Member::Flat(flat) => flat.in_input,
    }
}

fn contracts(cx: &Context<'_>) -> TokenStream {
    let (runtime, this, update, input) = (cx.runtime, &cx.this, &cx.update, &cx.input);
    let of_state = quote!(#runtime::GraphState);
    let name = cx.state.name();
    let output = if cx.state.has_output() { cx.output.clone() } else { quote!(Self) };
    let state = cx.impl_shared(
        of_state,
        this,
        quote! {
            const NAME: &'static ::core::primitive::str = #name;
            const FIELD_COUNT: ::core::primitive::usize = 0;
            type Update = #update;
            type Input = #input;
            type Output = #output;
            fn field(_: ::core::primitive::usize) -> ::core::option::Option<&'static #runtime::FieldSpec> { loop {} }
            fn validate_field(&self, _: ::core::primitive::usize, _: &mut #runtime::Report) {}
            fn check_invariant(&self) -> ::core::result::Result<(), #runtime::Violation> { loop {} }
            fn clear_ephemeral(
                &mut self,
                _: ::core::primitive::usize,
            ) -> ::core::option::Option<#runtime::FallbackWrite> { loop {} }
            fn rebuild_untracked(
                &mut self,
                _: &dyn ::core::any::Any,
            ) -> ::core::result::Result<(), &'static #runtime::FieldSpec> { loop {} }
            fn output(&self) -> #output { loop {} }
            fn __duplicate(&self) -> Self { loop {} }
            fn __dump_fields<__M: #runtime::serde::ser::SerializeMap>(
                &self,
                _: &mut __M,
            ) -> ::core::result::Result<(), __M::Error> { loop {} }
            fn __encode_field(
                &self,
                _: ::core::primitive::usize,
                _: &mut #runtime::Vec<::core::primitive::u8>,
            ) -> ::core::result::Result<
                ::core::option::Option<#runtime::Encoding>,
                #runtime::EncodeError,
            > { loop {} }
            fn __restore(
                _: &mut #runtime::Restore,
            ) -> ::core::result::Result<Self, #runtime::RestoreError> { loop {} }
            fn __versions(_: &mut #runtime::Vec<(&'static ::core::primitive::str, ::core::primitive::u32)>) {}
            fn __migrate(
                _: &[(#runtime::String, ::core::primitive::u32)],
                _: &mut #runtime::Stored,
            ) -> ::core::result::Result<(), #runtime::MigrationError> { loop {} }
        },
    );
    let update_impl = cx.impl_for(
        quote!(#runtime::Update<#this>),
        update,
        quote! {
            type Write = #runtime::FallbackWrite;
            fn __from_writes(_: #runtime::Writes<#runtime::FallbackWrite>) -> Self { loop {} }
            fn __into_writes(self) -> #runtime::Writes<#runtime::FallbackWrite> { loop {} }
            fn __writes(&self) -> &#runtime::Writes<#runtime::FallbackWrite> { loop {} }
            fn __writes_mut(&mut self) -> &mut #runtime::Writes<#runtime::FallbackWrite> { loop {} }
        },
    );
    let input_impl = cx.impl_shared(
        quote!(#runtime::Input<#this>),
        input,
        quote! {
            fn into_start(self) -> #runtime::Start<#this> { loop {} }
            fn into_update(self) -> #update { loop {} }
            fn __read(
                _: #runtime::JsonInput,
            ) -> ::core::result::Result<
                (Self, #runtime::Vec<#runtime::UnknownKey>),
                #runtime::InputError,
            > { loop {} }
        },
    );
    let into_input = super::input::into_input(cx);
    quote!(#state #update_impl #input_impl #into_input)
}

fn conversions(cx: &Context<'_>) -> TokenStream {
    let (this, update, input) = (&cx.this, &cx.update, &cx.input);
    let outputs = cx.state.has_output().then_some(&cx.output);
    let types = [Some(update), Some(input), outputs];
    let common = types.into_iter().flatten().map(|ty| {
        let clone = cx.impl_for(
            quote!(::core::clone::Clone),
            ty,
            quote!(
                fn clone(&self) -> Self {
                    loop {}
                }
            ),
        );
        let debug = cx.impl_for(
            quote!(::core::fmt::Debug),
            ty,
            quote!(
                fn fmt(&self, _: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    loop {}
                }
            ),
        );
        let serialize = update::serialize(cx, ty, quote!(loop {}));
        quote!(#clone #debug #serialize)
    });
    let default = [update, input].map(|ty| {
        let default = cx.impl_for(
            quote!(::core::default::Default),
            ty,
            quote!(
                fn default() -> Self {
                    loop {}
                }
            ),
        );
        let deserialize = update::deserialize(cx, ty, quote!(loop {}));
        quote!(#default #deserialize)
    });
    let holds = flatten::holds_itself(cx);
    let serialize = update::serialize(cx, this, quote!(loop {}));
    quote!(#(#common)* #(#default)* #holds #serialize)
}
