use proc_macro2::TokenStream;
use quote::{ToTokens, quote};

use crate::state::model::{Field, Flat, Member, Reducer};

use super::context::Context;
use super::fields::docs_or;
use super::span::UserSpans;

// #[must_use]
// struct TicketUpdate { __writes: Writes<<TicketUpdate as Update<Ticket>>::Write> }
pub(super) fn item(cx: &Context<'_>) -> TokenStream {
    let (runtime, this, update) = (cx.runtime, &cx.this, &cx.update);
    let (vis, generics, where_clause, name) =
        (&cx.state.vis, &cx.state.generics, cx.where_clause, cx.state.update());
    let doc = format!("A partial update of [`{}`]: a setter for each field.", cx.state.name());
    quote! {
        #[doc = #doc]
        #[must_use = "an update does nothing until a node returns it"]
        #vis struct #name #generics #where_clause {
            __writes: #runtime::Writes<<#update as #runtime::Update<#this>>::Write>,
        }
    }
}

// impl Ticket { fn update() -> TicketUpdate { Default::default() } }
// impl TicketUpdate { fn answer(mut self, value: impl IntoChange<Replace, Option<String>>) -> Self { .. } }
// impl Update<Ticket> for TicketUpdate { .. }
// impl Update<Ticket>, Default, Clone, Debug, Serialize, Deserialize for TicketUpdate
pub(super) fn impls(cx: &Context<'_>) -> TokenStream {
    let (update, vis) = (&cx.update, &cx.state.vis);
    let doc = format!("An update of [`{}`] that writes no field yet.", cx.state.name());
    let start = cx.inherent(
        &cx.this,
        quote! {
            #[doc = #doc]
            #[inline]
            #vis fn update() -> #update { ::core::default::Default::default() }
        },
    );
    let setters = cx.state.members.iter().map(|member| match member {
        Member::Field(field) => {
            let (vis, ident) = (&field.vis, &field.ident);
            setter(cx, field, quote!(#vis), quote!(self.__writes.push(__Write::#ident(__change));))
        }
        Member::Flat(flat) => flat_setter(cx, flat),
    });
    let setters = cx.inherent(update, quote!(#(#setters)*));
    let traits = [contract(cx), common(cx), serde(cx)];
    quote!(#start #setters #(#traits)*)
}

// #[inline] fn answer(mut self, value: impl IntoChange<Replace, Option<String>>) -> Self { .. self }
//
// rustdoc prints types as written, so it gets a parameter without the alias.
pub(super) fn setter(cx: &Context<'_>, field: &Field, vis: TokenStream, push: TokenStream) -> TokenStream {
    let (runtime, ident, ty, reducer) = (cx.runtime, &field.ident, cx.ty(field), cx.reducer(field));
    let docs = docs_or(&field.docs, || format!("Writes `{}`.", field.name()));
    let is_custom = field.reducer.is_custom();
    let marker = is_custom.then(|| quote!(<__M>));
    let spans = UserSpans::of(&field.ty);
    let bound = |reducer: TokenStream, ty: TokenStream| {
        let runtime = spans.runtime(cx.runtime);
        if is_custom {
            let takes = quote!(<#reducer as #runtime::Reducer<#ty>>::Update);
            let takes = match &field.reducer {
                Reducer::Function { takes, .. } => quote!(#takes),
                _ => takes,
            };
            spans.around(quote!(#runtime::IntoCustomChange<), quote!(#reducer, #ty, #takes), quote!(, __M>))
        } else {
            spans.around(quote!(#runtime::IntoChange<), quote!(#reducer, #ty), quote!(>))
        }
    };
    let (written, shown) = (bound(reducer, ty), bound(cx.shown_reducer(field), field.ty.to_token_stream()));
    let into_change = if is_custom {
        quote!(#runtime::IntoCustomChange::into_change)
    } else {
        quote!(#runtime::IntoChange::into_change)
    };
    quote! {
        #(#docs)*
        #[inline]
        #vis fn #ident #marker(
            mut self,
            #[cfg(not(doc))] __value: impl #written,
            #[cfg(doc)] __value: impl #shown,
        ) -> Self {
            let __change = #into_change(__value);
            #push
            self
        }
    }
}

// fn chat(mut self, update: impl IntoUpdate<Chat>) -> Self { .. self }
fn flat_setter(cx: &Context<'_>, flat: &Flat) -> TokenStream {
    let (runtime, ident, ty, vis) = (cx.runtime, &flat.ident, cx.flat_ty(flat), &flat.vis);
    let docs = docs_or(&flat.docs, || format!("Adds an update of `{ident}`."));
    quote! {
        #(#docs)*
        #vis fn #ident(mut self, __value: impl #runtime::IntoUpdate<#ty>) -> Self {
            let __writes = #runtime::Update::<#ty>::__into_writes(#runtime::IntoUpdate::<#ty>::into_update(__value));
            ::core::iter::Extend::extend(&mut self.__writes, __writes.map(__Write::#ident));
            self
        }
    }
}

fn contract(cx: &Context<'_>) -> TokenStream {
    let (runtime, this, update, write) = (cx.runtime, &cx.this, &cx.update, &cx.write);
    cx.impl_for(
        quote!(#runtime::Update<#this>),
        update,
        quote! {
            type Write = #write;
            #[inline]
            fn __from_writes(__writes: #runtime::Writes<#write>) -> Self { Self { __writes } }
            #[inline]
            fn __into_writes(self) -> #runtime::Writes<#write> { self.__writes }
            #[inline]
            fn __writes(&self) -> &#runtime::Writes<#write> { &self.__writes }
        },
    )
}

fn common(cx: &Context<'_>) -> TokenStream {
    let (runtime, this, update) = (cx.runtime, &cx.this, &cx.update);
    let name = cx.state.update().to_string();
    let default = cx.impl_for(
        quote!(::core::default::Default),
        update,
        quote!(
            #[inline]
            fn default() -> Self {
                Self { __writes: ::core::default::Default::default() }
            }
        ),
    );
    let clone = cx.impl_for(
        quote!(::core::clone::Clone),
        update,
        quote! {
            fn clone(&self) -> Self { Self { __writes: ::core::clone::Clone::clone(&self.__writes) } }
        },
    );
    let debug = cx.impl_for(
        quote!(::core::fmt::Debug),
        update,
        quote! {
            fn fmt(&self, __f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                #runtime::debug_update::<#this>(#name, self, __f)
            }
        },
    );
    quote!(#default #clone #debug)
}

fn serde(cx: &Context<'_>) -> TokenStream {
    let (runtime, this, update) = (cx.runtime, &cx.this, &cx.update);
    let serialize =
        serialize(cx, update, quote!(#runtime::serialize_update::<#this, __S>(self, __serializer)));
    let deserialize =
        deserialize(cx, update, quote!(#runtime::deserialize_update::<#this, __D>(__deserializer)));
    quote!(#serialize #deserialize)
}

pub(super) fn serialize(cx: &Context<'_>, ty: &TokenStream, body: TokenStream) -> TokenStream {
    let runtime = cx.runtime;
    cx.impl_for(
        quote!(#runtime::serde::Serialize),
        ty,
        quote! {
            fn serialize<__S: #runtime::serde::Serializer>(
                &self,
                __serializer: __S,
            ) -> ::core::result::Result<__S::Ok, __S::Error> {
                #body
            }
        },
    )
}

pub(super) fn deserialize(cx: &Context<'_>, ty: &TokenStream, body: TokenStream) -> TokenStream {
    let (runtime, where_clause) = (cx.runtime, cx.where_clause);
    let mut generics = cx.state.generics.clone();
    generics.params.insert(0, syn::parse_quote!('__de));
    let (generics, _, _) = generics.split_for_impl();
    quote! {
        #[automatically_derived]
        impl #generics #runtime::serde::Deserialize<'__de> for #ty #where_clause {
            fn deserialize<__D: #runtime::serde::Deserializer<'__de>>(
                __deserializer: __D,
            ) -> ::core::result::Result<Self, __D::Error> {
                #body
            }
        }
    }
}
