use std::collections::BTreeSet;

use proc_macro2::TokenStream;
use quote::quote;

use crate::state::model::{Field, Reducer};

use super::context::Context;
use super::fields::docs_or;

// impl Ticket {
//     const ANSWER: Field<Ticket, Option<String>> = Field::__new("answer", 0, |__state| &__state.answer);
//     const NOTES: Field<Ticket, Vec<String>> = Field::__reduced("notes", 1, |__state| &__state.notes, false);
//     const CHAT: FlattenedField<Ticket, Chat> = FlattenedField::__new();
// }
pub(super) fn items(cx: &Context<'_>) -> TokenStream {
    constants(cx, |field| {
        let (runtime, ident) = (cx.runtime, &field.ident);
        let exclusive = match &field.reducer {
            Reducer::Replace => None,
            Reducer::BuiltIn { .. } | Reducer::Function { .. } => Some(quote!(false)),
            Reducer::Type(_) => {
                let (reducer, ty) = (cx.reducer(field), cx.ty(field));
                Some(quote!(<#reducer as #runtime::Reducer<#ty>>::EXCLUSIVE))
            }
        };
        (quote!(&__state.#ident), exclusive)
    })
}

/// Names neither the field, which the struct may lack if rustc could not read it, nor its reducer.
pub(super) fn of_fallback(cx: &Context<'_>) -> TokenStream {
    constants(cx, |_| (quote!(loop {}), None))
}

/// `parts` returns the expression that reads the field, and the expression that tells whether its writes are exclusive.
fn constants(cx: &Context<'_>, parts: impl Fn(&Field) -> (TokenStream, Option<TokenStream>)) -> TokenStream {
    let (krate, this) = (cx.runtime.krate(), &cx.this);
    // Duplicate constants are a reported mistake. The fallback contains only the first.
    let mut seen = BTreeSet::new();
    let fields: Vec<_> = cx.state.fields().filter(|field| seen.insert(field.constant.to_string())).collect();
    let constants = fields.into_iter().map(|field| {
        let (vis, constant, ty) = (&field.vis, &field.constant, &field.ty);
        let (name, index) = (field.name(), field.index);
        let docs = docs_or(&field.docs, || format!("The field `{}`.", field.name()));
        let (read, exclusive) = parts(field);
        let get = quote!(|__state| #read);
        let value = match exclusive {
            None => quote!(__new(#name, #index, #get)),
            Some(exclusive) => quote!(__reduced(#name, #index, #get, #exclusive)),
        };
        quote! {
            #(#docs)*
            #vis const #constant: #krate::Field<#this, #ty> = #krate::Field::#value;
        }
    });
    let flats = cx.state.flats().filter(|flat| seen.insert(flat.constant.to_string()));
    let flats = flats.map(|flat| {
        let (vis, constant, ty) = (&flat.vis, &flat.constant, &flat.ty);
        quote! {
            #[doc(hidden)]
            #vis const #constant: #krate::state::FlattenedField<#this, #ty> = #krate::state::FlattenedField::__new();
        }
    });
    cx.inherent(this, quote!(#(#constants)* #(#flats)*))
}
