//! Generates the JSON form of a single write.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};

use crate::state::model::{Field, Member, Reducer, Writer};

use super::context::Context;
use super::fields::{arms, cases};

// fn __is_dumped(&self) -> bool { match self { Self::answer(_) => true } }
// fn __dump<M: SerializeMap>(&self, map: &mut M) { match self { Self::answer(write) => map.serialize_entry("answer", write) } }
// fn __parse(key: &str, value: Value, of: JsonOf) -> Parsed<Self> {
//     match key { "answer" => parse_change(key, value, of).map(Self::answer), _ => Parsed::Unknown(value) }
// }
pub(super) fn methods(cx: &Context<'_>) -> TokenStream {
    let runtime = cx.runtime;
    let is_dumped = cases(
        quote!(self),
        arms(cx, |member| match member {
            Member::Field(field) => {
                let (ident, dumped) = (&field.ident, field.dumped);
                quote!(Self::#ident(_) => #dumped,)
            }
            Member::Flat(flat) => {
                let ident = &flat.ident;
                quote!(Self::#ident(__write) => #runtime::FieldWrite::__is_dumped(__write),)
            }
        }),
    );
    let dump = cases(
        quote!(self),
        arms(cx, |member| match member {
            Member::Field(field) => dump(cx, field),
            Member::Flat(flat) => {
                let ident = &flat.ident;
                quote!(Self::#ident(__write) => #runtime::FieldWrite::__dump(__write, __map),)
            }
        }),
    );
    let parse = parse(cx);
    quote! {
        fn __is_dumped(&self) -> ::core::primitive::bool { #is_dumped }
        fn __dump<__M: #runtime::serde::ser::SerializeMap>(
            &self,
            __map: &mut __M,
        ) -> ::core::result::Result<(), __M::Error> {
            #dump
        }
        fn __parse(
            __key: &::core::primitive::str,
            __value: #runtime::JsonValue,
            __of: #runtime::JsonOf,
        ) -> #runtime::Parsed<Self> {
            #parse
        }
    }
}

fn dump(cx: &Context<'_>, field: &Field) -> TokenStream {
    let (runtime, ident, name) = (cx.runtime, &field.ident, field.name());
    if !field.dumped {
        return quote!(Self::#ident(_) => ::core::result::Result::Ok(()),);
    }
    let Some(writer) = &field.codec.write else {
        return quote! {
            Self::#ident(__write) => #runtime::serde::ser::SerializeMap::serialize_entry(__map, #name, __write),
        };
    };
    let writer = writer_path(cx, field, writer);
    let through = quote!(#runtime::dump_with(__map, #name, |__to| #writer(__value, __to)));
    let plain = quote!(#runtime::serde::ser::SerializeMap::serialize_entry(__map, #name, __value));
    let (update, delta) = if takes_whole_values(field) { (&through, &through) } else { (&plain, &plain) };
    quote! {
        Self::#ident(__write) => match __write {
            #runtime::Change::Update(__value) => #update,
            #runtime::Change::Delta(__value) => #delta,
            #runtime::Change::Overwrite(__value) => #through,
        },
    }
}

fn parse(cx: &Context<'_>) -> TokenStream {
    let runtime = cx.runtime;
    let arms = cx.state.fields().filter(|field| field.tracked).map(|field| {
        let (ident, names, reducer, ty) = (&field.ident, &field.names, cx.reducer(field), cx.ty(field));
        let parsed = match &field.codec.read {
            None => quote!(#runtime::parse_change::<#reducer, #ty>(__key, __value, __of)),
            Some(read) => {
                let function =
                    if takes_whole_values(field) { quote!(parse_with) } else { quote!(parse_overwrite_with) };
                quote! {
                    #runtime::#function::<#reducer, #ty>(__key, __value, __of, |__from| #read(__from))
                }
            }
        };
        let withheld = (!field.dumped).then(|| quote!(.withheld(__key)));
        quote!(#(#names)|* => #parsed #withheld.map(Self::#ident),)
    });
    let flats = cx.state.flats().map(|flat| {
        let (ident, ty, write) = (&flat.ident, cx.flat_ty(flat), cx.flat_write(flat));
        quote! {
            let __value = match <#write as #runtime::FieldWrite<#ty>>::__parse(__key, __value, __of) {
                #runtime::Parsed::Unknown(__value) => __value,
                __parsed => return __parsed.map(Self::#ident),
            };
        }
    });
    quote! {
        match __key {
            #(#arms)*
            _ => {
                #(#flats)*
                #runtime::Parsed::Unknown(__value)
            }
        }
    }
}

/// Generates the expression that reads a required field's value from `__value`.
pub(super) fn required(cx: &Context<'_>, field: &Field) -> TokenStream {
    let (runtime, ty) = (cx.runtime, cx.ty(field));
    let parsed = match &field.codec.read {
        None => quote!(#runtime::parse_value::<#ty>(__key, __value)),
        Some(read) => quote!(#runtime::parse_value_with::<#ty>(__key, __value, |__from| #read(__from))),
    };
    let withheld = (!field.dumped).then(|| quote!(.withheld(__key)));
    quote!(#parsed #withheld)
}

/// Generates the path of the function that writes the field's value.
pub(super) fn writer_path(cx: &Context<'_>, field: &Field, writer: &Writer) -> TokenStream {
    let runtime = cx.runtime;
    let optional = crate::state::build::option(&field.ty).is_some();
    match (writer, optional) {
        (Writer::Path(path), _) => quote!(#path),
        (Writer::Display, false) => quote!(#runtime::display),
        (Writer::Display, true) => quote!(#runtime::display_option),
        (Writer::Debug, false) => quote!(#runtime::debug),
        (Writer::Debug, true) => quote!(#runtime::debug_option),
    }
}

/// Returns `true` if the reducer's update has the field's type, so that the field's own functions apply to it too.
pub(super) fn takes_whole_values(field: &Field) -> bool {
    match &field.reducer {
        Reducer::Replace => true,
        reducer @ Reducer::BuiltIn { .. } => !reducer.is_add_messages(),
        Reducer::Function { takes, .. } => {
            takes.to_token_stream().to_string() == field.ty.to_token_stream().to_string()
        }
        Reducer::Type(_) => false,
    }
}
