use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};

use crate::state::model::Field;
use crate::state::rule::source;

use super::context::Context;
use super::fields::start_value;
use super::span::UserSpans;
use super::{dump, migrate, output, stored, validate, wiring};

// impl GraphState for Ticket {
//     const NAME: &'static str = "Ticket";
//     const FIELD_COUNT: usize = 1;
//     const FALLIBLE: bool = false || <Replace as Reducer<Option<String>>>::FALLIBLE;
//     type Update = TicketUpdate;
//     type Input = TicketInput;
//     fn field(index: usize) -> Option<&'static FieldSpec> { const { &[..] }.get(index) }
//     fn clear_ephemeral(&mut self, index: usize) -> Option<__Undo> { None }
//     fn rebuild_untracked(&mut self, context: &dyn Any) -> Result<(), &'static FieldSpec> { Ok(()) }
//     .. validate, output, dump, stored, migrate ..
// }
pub(super) fn item(cx: &Context<'_>) -> TokenStream {
    let (runtime, name, update, input) = (cx.runtime, cx.state.name(), &cx.update, &cx.input);
    let (own, flats) = (cx.own_fields(), cx.state.flats().map(|flat| cx.flat(flat)));
    let methods = [
        fallible(cx),
        specs(cx),
        clear_ephemeral(cx),
        rebuild_untracked(cx),
        validate::methods(cx),
        output::method(cx),
        dump::method(cx),
        duplicate(cx),
        stored::of_state(cx),
        migrate::methods(cx),
        wiring::check(cx),
    ];
    let body = quote! {
        const NAME: &'static ::core::primitive::str = #name;
        const FIELD_COUNT: ::core::primitive::usize = #own #(+ #flats::FIELD_COUNT)*;
        type Update = #update;
        type Input = #input;
        #(#methods)*
    };
    cx.impl_shared(quote!(#runtime::GraphState), &cx.this, body)
}

// fn __duplicate(&self) -> Self { Clone::clone(self) }, which reports a missing `Clone` at the state's name
fn duplicate(cx: &Context<'_>) -> TokenStream {
    quote_spanned! {cx.state.ident.span()=>
        fn __duplicate(&self) -> Self {
            ::core::clone::Clone::clone(self)
        }
    }
}

fn fallible(cx: &Context<'_>) -> TokenStream {
    let runtime = cx.runtime;
    let checked = !cx.state.invariants.is_empty() || cx.state.fields().any(|field| !field.rules.is_empty());
    let reducers = cx.state.fields().filter(|field| field.reducer.written().is_some()).map(|field| {
        let (reducer, ty) = (cx.reducer(field), cx.ty(field));
        quote!(<#reducer as #runtime::Reducer<#ty>>::FALLIBLE)
    });
    let flats = cx.state.flats().map(|flat| cx.flat(flat));
    quote! {
        const FALLIBLE: ::core::primitive::bool = #checked #(|| #reducers)* #(|| #flats::FALLIBLE)*;
    }
}

fn specs(cx: &Context<'_>) -> TokenStream {
    let (runtime, own, index) = (cx.runtime, cx.own_fields(), format_ident!("__index"));
    let specs = cx.state.fields().map(|field| spec(cx, field));
    let descend = cx.descend(&index, |flat| {
        let state = cx.flat(flat);
        quote!(#state::field(__rest))
    });
    quote! {
        fn field(#index: ::core::primitive::usize) -> ::core::option::Option<&'static #runtime::FieldSpec> {
            // A `static` cannot use type parameters.
            let __fields: &'static [#runtime::FieldSpec; #own] = const { &[#(#specs),*] };
            #descend
            __fields.get(#index)
        }
    }
}

fn spec(cx: &Context<'_>, field: &Field) -> TokenStream {
    let (runtime, name) = (cx.runtime, field.name());
    let reducer = field.reducer.written().map(|path| {
        let text = source(path);
        quote!(.__reducer(#text))
    });
    let ephemeral = field.ephemeral.then(|| quote!(.__ephemeral()));
    let excluded = (field.tracked && !field.dumped).then(|| quote!(.__excluded()));
    let untracked = (!field.tracked).then(|| quote!(.__untracked()));
    let stored = field.tracked.then(|| {
        let stored = stored::stored_as(cx, field);
        quote!(.__stored(#stored))
    });
    let required = (!field.has_start()).then(|| quote!(.__required()));
    quote!(#runtime::FieldSpec::__new(#name) #reducer #ephemeral #excluded #untracked #stored #required)
}

fn clear_ephemeral(cx: &Context<'_>) -> TokenStream {
    let (runtime, undo, index) = (cx.runtime, &cx.undo, format_ident!("__index"));
    let arms = cx.state.fields().filter(|field| field.ephemeral).map(|field| {
        let (index, ident, value) = (field.index, &field.ident, start_value(cx, field));
        quote! {
            #index => ::core::option::Option::Some(__Undo::#ident(#runtime::Undo::Value(
                ::core::mem::replace(&mut self.#ident, #value),
            ))),
        }
    });
    let descend = cx.descend(&index, |flat| {
        let (ident, state) = (&flat.ident, cx.flat(flat));
        quote!(#state::clear_ephemeral(&mut self.#ident, __rest).map(__Undo::#ident))
    });
    quote! {
        fn clear_ephemeral(&mut self, #index: ::core::primitive::usize) -> ::core::option::Option<#undo> {
            match #index {
                #(#arms)*
                _ => {
                    #descend
                    ::core::option::Option::None
                }
            }
        }
    }
}

fn rebuild_untracked(cx: &Context<'_>) -> TokenStream {
    let runtime = cx.runtime;
    let own = cx.state.fields().filter_map(|field| {
        let (path, ident, index) = (field.from_context.as_ref()?, &field.ident, field.index);
        let from_context = UserSpans::of(path).all(quote!(#runtime::from_context));
        Some(quote! {
            #from_context(&mut self.#ident, #path, __context, <Self as #runtime::GraphState>::field(#index))?;
        })
    });
    let flats = cx.state.flats().map(|flat| {
        let (ident, state) = (&flat.ident, cx.flat(flat));
        quote!(#state::rebuild_untracked(&mut self.#ident, __context)?;)
    });
    quote! {
        fn rebuild_untracked(
            &mut self,
            __context: &dyn ::core::any::Any,
        ) -> ::core::result::Result<(), &'static #runtime::FieldSpec> {
            #(#own)*
            #(#flats)*
            ::core::result::Result::Ok(())
        }
    }
}
