use std::collections::BTreeSet;

use proc_macro2::TokenStream;
use quote::quote;

use super::context::Context;
use super::fields::docs_or;

// impl Ticket {
//     const ANSWER: Field<Ticket, Option<String>> = Field::__new("answer", 0, |__state| &__state.answer);
// }
pub(super) fn items(cx: &Context<'_>) -> TokenStream {
    let (runtime, this) = (cx.runtime, &cx.this);
    // Duplicate constants are a reported mistake. The fallback contains only the first.
    let mut seen = BTreeSet::new();
    let fields = cx.state.fields().filter(|field| seen.insert(field.constant.to_string()));
    let constants = fields.map(|field| {
        let (vis, constant, ident, ty) = (&field.vis, &field.constant, &field.ident, &field.ty);
        let (name, index) = (field.name(), field.index);
        let docs = docs_or(&field.docs, || format!("The field `{}`.", field.name()));
        quote! {
            #(#docs)*
            #vis const #constant: #runtime::Field<#this, #ty> =
                #runtime::Field::__new(#name, #index, |__state| &__state.#ident);
        }
    });
    cx.inherent(this, quote!(#(#constants)*))
}
