use proc_macro2::TokenStream;
use quote::quote;

use crate::state::model::Member;

use super::context::Context;
use super::setter;

// #[must_use]
// enum TicketUpdate { Written(Sealed<Writes<<TicketUpdate as Update<Ticket>>::Write>>) }
//
// An enum has no fields, so rustc names none when a user writes `TicketUpdate { .. }` or `update.answer`.
pub(super) fn item(cx: &Context<'_>) -> TokenStream {
    let (runtime, this, update) = (cx.runtime, &cx.this, &cx.update);
    let (vis, generics, where_clause, name) =
        (&cx.state.vis, &cx.state.generics, cx.where_clause, cx.state.update());
    let doc = format!("A partial update of [`{}`]: a setter for each field.", cx.state.name());
    quote! {
        #[doc = #doc]
        #[must_use = "an update does nothing until a node returns it"]
        #vis enum #name #generics #where_clause {
            #[doc(hidden)]
            Written(#runtime::Sealed<#runtime::Writes<<#update as #runtime::Update<#this>>::Write>>),
        }
    }
}

// impl Ticket { fn update() -> TicketUpdate { Default::default() } }
// impl TicketUpdate { fn answer(mut self, answer: impl ReplaceArgument<Option<String>>) -> Self { .. } }
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
            let (runtime, vis, ident) = (cx.runtime, &field.vis, &field.ident);
            let push = quote! {
                let Self::Written(__writes) = &mut self;
                #runtime::Sealed::get_mut(__writes).push(__Write::#ident(__change));
            };
            setter::field(cx, field, quote!(#vis), push)
        }
        Member::Flat(flat) => setter::flat(cx, flat),
    });
    let setters = cx.inherent(update, quote!(#(#setters)*));
    let traits = [contract(cx), common(cx), serde(cx)];
    quote!(#start #setters #(#traits)*)
}

fn contract(cx: &Context<'_>) -> TokenStream {
    let (runtime, this, update, write) = (cx.runtime, &cx.this, &cx.update, &cx.write);
    cx.impl_for(
        quote!(#runtime::Update<#this>),
        update,
        quote! {
            type Write = #write;
            #[inline]
            fn __from_writes(__writes: #runtime::Writes<#write>) -> Self {
                Self::Written(#runtime::Sealed::new(__writes))
            }
            #[inline]
            fn __into_writes(self) -> #runtime::Writes<#write> {
                let Self::Written(__writes) = self;
                #runtime::Sealed::open(__writes)
            }
            #[inline]
            fn __writes(&self) -> &#runtime::Writes<#write> {
                let Self::Written(__writes) = self;
                #runtime::Sealed::get(__writes)
            }
            #[inline]
            fn __writes_mut(&mut self) -> &mut #runtime::Writes<#write> {
                let Self::Written(__writes) = self;
                #runtime::Sealed::get_mut(__writes)
            }
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
                #runtime::Update::<#this>::__from_writes(::core::default::Default::default())
            }
        ),
    );
    let clone = cx.impl_for(
        quote!(::core::clone::Clone),
        update,
        quote! {
            fn clone(&self) -> Self {
                #runtime::Update::<#this>::__from_writes(::core::clone::Clone::clone(
                    #runtime::Update::<#this>::__writes(self),
                ))
            }
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
