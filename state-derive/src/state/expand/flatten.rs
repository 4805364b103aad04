use proc_macro2::TokenStream;
use quote::quote;

use super::context::Context;
use super::update::into_step;

// impl StateOrPacket for Ticket { type Role = IsState; }
// impl PartOf<Ticket> for Ticket { fn part(whole: &Ticket) -> &Ticket { whole } }
// and for each flattened Chat:
// impl PartOf<Ticket> for Chat { fn part(whole: &Ticket) -> &Chat { &whole.chat } }
// impl IntoUpdate<Ticket> for ChatUpdate { .. }
// impl IntoStep<Ticket> for ChatUpdate { .. }
pub(super) fn items(cx: &Context<'_>) -> TokenStream {
    let (runtime, this) = (cx.runtime, &cx.this);
    let role = cx.impl_for(quote!(#runtime::StateOrPacket), this, quote!(type Role = #runtime::IsState;));
    let whole = cx.impl_for(
        quote!(#runtime::PartOf<#this>),
        this,
        quote!(#[inline] fn part(__whole: &#this) -> &#this { __whole }),
    );
    let flats = cx.state.flats().map(|flat| {
        let (ident, ty, state, update) = (&flat.ident, cx.flat_ty(flat), cx.flat(flat), &cx.update);
        let part = cx.impl_for(
            quote!(#runtime::PartOf<#this>),
            &ty,
            quote!(#[inline] fn part(__whole: &#this) -> &#ty { &__whole.#ident }),
        );
        let lifted = quote!(#runtime::Update::__from_writes(
            #runtime::Update::<#ty>::__into_writes(self).map(__Write::#ident)
        ));
        let theirs = quote!(#state::Update);
        let into_update = cx.impl_for(
            quote!(#runtime::IntoUpdate<#this>),
            &theirs,
            quote!(fn into_update(self) -> #update { #lifted }),
        );
        let into_step = into_step(cx, &theirs, quote!(#runtime::IntoUpdate::<#this>::into_update(self)));
        quote!(#part #into_update #into_step)
    });
    quote!(#role #whole #(#flats)*)
}
