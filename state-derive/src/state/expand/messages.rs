use proc_macro2::TokenStream;
use quote::quote;

use super::context::Context;

// For a state with exactly one conversation:
// impl HasMessages for Chat {
//     fn messages(&self) -> &[Message] { conversation(&self.messages) }
//     fn update_messages(update: MessagesUpdate) -> ChatUpdate { Chat::update().messages(update) }
// }
//
// With several conversations, the user chooses one. The owner of a flattened `MessagesState` has the impl anyway.
pub(super) fn item(cx: &Context<'_>) -> TokenStream {
    let (runtime, this, update) = (cx.runtime, &cx.this, &cx.update);
    let mut fields = cx.state.fields().filter(|field| field.reducer.is_add_messages());
    let (Some(field), None) = (fields.next(), fields.next()) else { return TokenStream::new() };
    let optional = crate::state::build::option(&field.ty).is_some();
    if optional || cx.state.runtime.is_own() || cx.state.flats().any(|flat| is_messages_state(&flat.ty)) {
        return TokenStream::new();
    }
    let ident = &field.ident;
    cx.impl_shared(
        quote!(#runtime::messages::HasMessages),
        this,
        quote! {
            #[inline]
            fn messages(&self) -> &[#runtime::messages::Message] { #runtime::messages::conversation(&self.#ident) }
            fn update_messages(__update: #runtime::messages::MessagesUpdate) -> #update {
                <#this>::update().#ident(__update)
            }
        },
    )
}

fn is_messages_state(ty: &syn::Type) -> bool {
    matches!(ty, syn::Type::Path(path) if path.path.segments.last().is_some_and(|last| last.ident == "MessagesState"))
}
