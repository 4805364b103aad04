use proc_macro2::TokenStream;
use quote::quote;

use crate::state::model::{Field, Member};

use super::context::Context;
use super::json::writer_path;
use super::update::serialize;

// fn __dump_fields<M: SerializeMap>(&self, map: &mut M) { map.serialize_entry("answer", &self.answer)?; Ok(()) }
pub(super) fn method(cx: &Context<'_>) -> TokenStream {
    let runtime = cx.runtime;
    let entries = cx.state.members.iter().map(|member| match member {
        Member::Field(field) if field.dumped => entry(cx, field, &quote!(self)),
        Member::Field(_) => TokenStream::new(),
        Member::Flat(flat) => {
            let (ident, state) = (&flat.ident, cx.flat(flat));
            quote!(#state::__dump_fields(&self.#ident, __to)?;)
        }
    });
    quote! {
        fn __dump_fields<__M: #runtime::serde::ser::SerializeMap>(
            &self,
            __to: &mut __M,
        ) -> ::core::result::Result<(), __M::Error> {
            #(#entries)*
            ::core::result::Result::Ok(())
        }
    }
}

/// Generates the statement that writes one field of the value `of` into the map `__to`.
pub(super) fn entry(cx: &Context<'_>, field: &Field, of: &TokenStream) -> TokenStream {
    let (runtime, ident, name) = (cx.runtime, &field.ident, field.name());
    let entry = match &field.codec.write {
        None => {
            let ty = cx.ty(field);
            quote!(#runtime::serde::ser::SerializeMap::serialize_entry::<_, #ty>(__to, #name, &#of.#ident)?;)
        }
        Some(writer) => {
            let writer = writer_path(cx, field, writer);
            quote!(#runtime::dump_with(__to, #name, |__serializer| #writer(&#of.#ident, __serializer))?;)
        }
    };
    if field.skip_none {
        return quote!(if ::core::option::Option::is_some(&#of.#ident) { #entry });
    }
    entry
}

// impl Serialize for Ticket { .. }: follows the dump rules. A user's `derive(Serialize)` would leak, and conflicts with
// it.
pub(super) fn item(cx: &Context<'_>) -> TokenStream {
    let runtime = cx.runtime;
    let body = quote! {
        #runtime::serde::Serialize::serialize(&#runtime::GraphState::dump(self), __serializer)
    };
    serialize(cx, &cx.this, body)
}
