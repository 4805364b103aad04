use proc_macro2::TokenStream;
use quote::quote;
use syn::Ident;

use crate::generics::free_name;

use super::context::Context;
use super::span::UserSpans;

// impl StateOrPacket for Ticket { type Role = IsState; }
// impl Holds<Ticket> for Ticket { type Part = TicketUpdate; fn held(&self) -> &Ticket { self } fn lift(..) -> .. { update } }
// impl<S: Holds<Ticket, Part = TicketUpdate>> IntoUpdate<S>, IntoStep<S> for TicketUpdate { .. }
// impl KnownWays for TicketUpdate { .. }
// and for each flattened Chat:
// impl Holds<Chat> for Ticket { type Part = ChatUpdate; fn held(&self) -> &Chat { &self.chat } fn lift(..) -> .. { .. } }
pub(super) fn items(cx: &Context<'_>) -> TokenStream {
    let (runtime, this, update) = (cx.runtime, &cx.this, &cx.update);
    let whole = holds_itself(cx);
    let flats = cx.state.flats().map(|flat| {
        let (ident, ty, state) = (&flat.ident, cx.flat_ty(flat), cx.flat(flat));
        // Uses the type as written: rustc distinguishes two impls by it, and does not look into a foreign projection.
        let written = &flat.ty;
        cx.impl_shared(
            quote!(#runtime::Holds<#written>),
            this,
            quote! {
                type Part = #state::Update;
                #[inline]
                fn held(&self) -> &#ty { &self.#ident }
                fn lift(__update: Self::Part) -> #update {
                    #runtime::Update::__from_writes(
                        #runtime::Update::<#ty>::__into_writes(__update).map(__Write::#ident)
                    )
                }
            },
        )
    });
    quote!(#whole #(#flats)*)
}

/// Generates the impl that makes a struct a state for nodes. The fallback needs it too.
pub(super) fn holds_itself(cx: &Context<'_>) -> TokenStream {
    let (runtime, this, update) = (cx.runtime, &cx.this, &cx.update);
    let shared = cx.impl_shared(quote!(#runtime::Shared), this, TokenStream::new());
    let role = cx.impl_shared(quote!(#runtime::StateOrPacket), this, quote!(type Role = #runtime::IsState;));
    let holds = cx.impl_shared(
        quote!(#runtime::Holds<#this>),
        this,
        quote! {
            type Part = #update;
            #[inline]
            fn held(&self) -> &#this { self }
            #[inline]
            fn lift(__update: #update) -> #update { __update }
        },
    );
    let (name, generics) = (&cx.state.ident, &cx.state.generics);
    let (names, where_clause) = (quote!(#name #generics #runtime), cx.where_clause);
    let owner = free_name("S", quote!(#names #where_clause));
    let into_update = for_owners(
        cx,
        &owner,
        quote!(IntoUpdate),
        quote! {
            #[inline]
            fn into_update(self) -> #owner::Update { #owner::lift(self) }
        },
    );
    let into_step = for_owners(
        cx,
        &owner,
        quote!(IntoStep),
        quote! {
            fn exits() -> ::core::option::Option<#runtime::Vec<#runtime::Exit>> { ::core::option::Option::None }
            #[inline]
            fn into_step(self) -> ::core::result::Result<#runtime::Step<#owner>, #runtime::NodeError> {
                ::core::result::Result::Ok(#runtime::Step::update(#owner::lift(self)))
            }
        },
    );
    let krate = runtime.krate();
    let ways = cx.impl_for(
        quote!(#krate::graph::text::KnownWays),
        update,
        quote! {
            const WAYS: #krate::graph::text::WaysOut = #krate::graph::text::WaysOut::ByEdges;
        },
    );
    quote!(#shared #role #holds #into_update #into_step #ways)
}

// impl<S: Holds<Ticket, Part = TicketUpdate>> IntoStep<S> for TicketUpdate { .. }
//
// The impl belongs to the part, not to its owners: impls of two owners for a foreign update would overlap.
//
// With the span of the derive, rustc would advise to implement the trait by hand.
fn for_owners(cx: &Context<'_>, owner: &Ident, of_trait: TokenStream, body: TokenStream) -> TokenStream {
    let (runtime, this, update) = (cx.runtime, &cx.this, &cx.update);
    let spans = UserSpans::of(&cx.state.ident);
    cx.impl_with(
        spans.all(quote!(#owner: #runtime::Holds<#this, Part = #update>)),
        spans.all(quote!(#runtime::#of_trait<#owner>)),
        update,
        body,
    )
}
