//! Generates the checkpoint format of whole fields and single writes.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use crate::state::model::{Field, Member, Reducer, plain};

use super::context::Context;
use super::fields::{arms, cases, start_value};
use super::json::{takes_whole_values, writer_path};
use super::start::local;

// const __STORED_answer: FieldPlace = FieldPlace::__new(0, &["answer"], false);
pub(super) fn places(cx: &Context<'_>) -> TokenStream {
    let runtime = cx.runtime;
    let places = stored_fields(cx).map(|field| {
        let (place, index, names, excluded) = (place(field), field.index, &field.names, !field.dumped);
        quote! {
            const #place: #runtime::FieldPlace = #runtime::FieldPlace::__new(#index, &[#(#names),*], #excluded);
        }
    });
    quote!(#(#places)*)
}

fn place(field: &Field) -> Ident {
    format_ident!("__STORED_{}", plain(&field.ident))
}

fn stored_fields<'a>(cx: &'a Context<'_>) -> impl Iterator<Item = &'a Field> {
    cx.state.fields().filter(|field| field.tracked)
}

/// Returns the type that a checkpoint stores for a write to the field.
pub(super) fn stored_as(cx: &Context<'_>, field: &Field) -> TokenStream {
    let runtime = cx.runtime;
    if matches!(field.reducer, Reducer::Replace) {
        return quote!(#runtime::StoredAs::Value);
    }
    let (reducer, ty) = (cx.reducer(field), cx.ty(field));
    quote!(<#reducer as #runtime::Reducer<#ty>>::STORED)
}

// fn __encode(&self, into: &mut Vec<u8>) -> Result<Option<(Form, Encoding)>, EncodeError> {
//     match self { Self::answer(write) => encode_change(&__STORED_answer, write, into) }
// }
// fn __decode(key: &str, form: Form, payload: &Payload) -> Decoded<Self> {
//     match key { "answer" => decode_change(&__STORED_answer, form, payload).map(Self::answer), _ => Decoded::Unknown }
// }
pub(super) fn of_writes(cx: &Context<'_>) -> TokenStream {
    let runtime = cx.runtime;
    let encode = cases(
        quote!(self),
        arms(cx, |member| {
            let ident = member.ident();
            match member {
                Member::Field(field) if !field.tracked => {
                    quote!(Self::#ident(_) => ::core::result::Result::Ok(::core::option::Option::None),)
                }
                Member::Field(field) => {
                    let encoded = encode_change(cx, field);
                    quote!(Self::#ident(__write) => #encoded,)
                }
                Member::Flat(_) => {
                    quote!(Self::#ident(__write) => #runtime::FieldWrite::__encode(__write, __into),)
                }
            }
        }),
    );
    let decode = stored_fields(cx).map(|field| {
        let (ident, names, decoded) = (&field.ident, &field.names, decode_change(cx, field));
        quote!(#(#names)|* => #decoded.map(Self::#ident),)
    });
    let flats = cx.state.flats().map(|flat| {
        let (ident, ty, write) = (&flat.ident, cx.flat_ty(flat), cx.flat_write(flat));
        quote! {
            match <#write as #runtime::FieldWrite<#ty>>::__decode(__key, __form, __payload) {
                #runtime::Decoded::Unknown => {}
                __decoded => return __decoded.map(Self::#ident),
            }
        }
    });
    quote! {
        fn __encode(
            &self,
            __into: &mut #runtime::Vec<::core::primitive::u8>,
        ) -> ::core::result::Result<
            ::core::option::Option<(#runtime::Form, #runtime::Encoding)>,
            #runtime::EncodeError,
        > {
            #encode
        }
        fn __decode(
            __key: &::core::primitive::str,
            __form: #runtime::Form,
            __payload: &#runtime::StoredPayload,
        ) -> #runtime::Decoded<Self> {
            match __key {
                #(#decode)*
                _ => {
                    #(#flats)*
                    #runtime::Decoded::Unknown
                }
            }
        }
    }
}

fn encode_change(cx: &Context<'_>, field: &Field) -> TokenStream {
    let (runtime, place, reducer, ty) = (cx.runtime, place(field), cx.reducer(field), cx.ty(field));
    let Some(writer) = &field.codec.write else {
        return quote!(#runtime::encode_change::<#reducer, #ty>(&#place, __write, __into));
    };
    let function =
        if takes_whole_values(field) { quote!(encode_change_with) } else { quote!(encode_overwrite_with) };
    let writer = writer_path(cx, field, writer);
    quote! {
        #runtime::#function::<#reducer, #ty>(&#place, __write, __into, |__value, __to| #writer(__value, __to))
    }
}

fn decode_change(cx: &Context<'_>, field: &Field) -> TokenStream {
    let (runtime, place, reducer, ty) = (cx.runtime, place(field), cx.reducer(field), cx.ty(field));
    let Some(read) = &field.codec.read else {
        return quote!(#runtime::decode_change::<#reducer, #ty>(&#place, __form, __payload));
    };
    let function =
        if takes_whole_values(field) { quote!(decode_change_with) } else { quote!(decode_overwrite_with) };
    quote! {
        #runtime::#function::<#reducer, #ty>(&#place, __form, __payload, |__from| #read(__from))
    }
}

// fn __encode_field(&self, index: usize, into: &mut Vec<u8>) -> Result<Option<Encoding>, EncodeError> {
//     match index { 0 => encode_value(&__STORED_answer, &self.answer, into).map(Some), _ => Ok(None) }
// }
// fn __restore(stored: &mut Restore) -> Result<Self, RestoreError> {
//     Ok(Ticket { answer: stored.field::<Replace, Option<String>>(&__STORED_answer, || Some(StartValue::start()))? })
// }
pub(super) fn of_state(cx: &Context<'_>) -> TokenStream {
    let (runtime, state, index) = (cx.runtime, &cx.state.ident, format_ident!("__index"));
    let encode = stored_fields(cx).map(|field| {
        let (index, encoded) = (field.index, encode_value(cx, field));
        quote!(#index => #encoded.map(::core::option::Option::Some),)
    });
    let descend = cx.descend(&index, |flat| {
        let (ident, state) = (&flat.ident, cx.flat(flat));
        quote!(#state::__encode_field(&self.#ident, __rest, __into))
    });
    let values = cx.state.members.iter().map(|member| {
        let (local, value) = (local(member.ident()), restored(cx, member));
        quote!(let #local = #value;)
    });
    let moved = cx.state.members.iter().map(|member| {
        let (ident, local) = (member.ident(), local(member.ident()));
        quote!(#ident: #local,)
    });
    quote! {
        fn __encode_field(
            &self,
            #index: ::core::primitive::usize,
            __into: &mut #runtime::Vec<::core::primitive::u8>,
        ) -> ::core::result::Result<::core::option::Option<#runtime::Encoding>, #runtime::EncodeError> {
            match #index {
                #(#encode)*
                _ => {
                    #descend
                    ::core::result::Result::Ok(::core::option::Option::None)
                }
            }
        }
        fn __restore(
            __stored: &mut #runtime::Restore,
        ) -> ::core::result::Result<Self, #runtime::RestoreError> {
            // Not in the literal: its code to drop the values before each failure would grow with the square of the fields.
            #(#values)*
            ::core::result::Result::Ok(#state { #(#moved)* })
        }
    }
}

fn encode_value(cx: &Context<'_>, field: &Field) -> TokenStream {
    let (runtime, place, ident) = (cx.runtime, place(field), &field.ident);
    match &field.codec.write {
        None => {
            let ty = cx.ty(field);
            quote!(#runtime::encode_value::<#ty>(&#place, &self.#ident, __into))
        }
        Some(writer) => {
            let writer = writer_path(cx, field, writer);
            quote!(#runtime::encode_value_with(&#place, __into, |__to| #writer(&self.#ident, __to)))
        }
    }
}

fn restored(cx: &Context<'_>, member: &Member) -> TokenStream {
    let runtime = cx.runtime;
    let field = match member {
        Member::Field(field) => field,
        Member::Flat(flat) => {
            let (ty, offset) = (cx.flat_ty(flat), cx.offset(flat));
            return ok_or_return(quote!(#runtime::Restore::flattened::<#ty>(__stored, #offset)));
        }
    };
    if !field.tracked {
        return start_value(cx, field);
    }
    let (place, reducer, ty) = (place(field), cx.reducer(field), cx.ty(field));
    let start = if field.has_start() {
        let start = start_value(cx, field);
        quote!(|| ::core::option::Option::Some(#start))
    } else {
        quote!(|| ::core::option::Option::None)
    };
    let Some(read) = &field.codec.read else {
        return ok_or_return(quote!(#runtime::Restore::field::<#reducer, #ty>(__stored, &#place, #start)));
    };
    let method = if takes_whole_values(field) { quote!(field_with) } else { quote!(field_value_with) };
    ok_or_return(quote! {
        #runtime::Restore::#method::<#reducer, #ty>(__stored, &#place, #start, |__from| #read(__from))
    })
}

/// Generates `result?`, as a `match`: the conversions of `?` are half of the code of a state with many fields.
fn ok_or_return(result: TokenStream) -> TokenStream {
    quote! {
        match #result {
            ::core::result::Result::Ok(__value) => __value,
            ::core::result::Result::Err(__error) => return ::core::result::Result::Err(__error),
        }
    }
}
