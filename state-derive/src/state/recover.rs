//! Reads a struct that is not Rust, as far as possible, so that its update and its setters exist.
//!
//! rustc has reported the mistake by then, and goes on with what it has understood of the struct.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::quote_spanned;
use syn::parse::discouraged::Speculative;
use syn::parse::{ParseStream, Parser};
use syn::{
    Attribute, Data, DataStruct, DeriveInput, Field, Fields, FieldsNamed, Generics, Ident, Token, Visibility,
};
use syn::{braced, parse_quote};

/// Returns the struct with the fields that can be read. A field of which only the name can be read has the type `()`.
pub(super) fn read(tokens: TokenStream) -> syn::Result<DeriveInput> {
    structure.parse2(tokens)
}

fn structure(input: ParseStream<'_>) -> syn::Result<DeriveInput> {
    let (attrs, vis) = (input.call(Attribute::parse_outer)?, input.parse()?);
    let (struct_token, ident) = (input.parse()?, input.parse()?);
    let mut generics: Generics = input.parse()?;
    generics.where_clause = input.parse()?;
    let content;
    let brace_token = braced!(content in input);
    let mut named = syn::punctuated::Punctuated::new();
    while !content.is_empty() {
        named.extend(field(&content));
    }
    let fields = Fields::Named(FieldsNamed { brace_token, named });
    let data = Data::Struct(DataStruct { struct_token, fields, semi_token: None });
    Ok(DeriveInput { attrs, vis, ident, generics, data })
}

/// Reads one field and the comma after it, or skips what is not a field.
fn field(input: ParseStream<'_>) -> Option<Field> {
    let whole = input.fork();
    if let Ok(field) = whole.call(Field::parse_named)
        && (whole.is_empty() || whole.peek(Token![,]) || whole.fork().call(name).is_ok())
    {
        input.advance_to(&whole);
        drop(input.parse::<Option<Token![,]>>());
        return Some(field);
    }
    let named = input.fork().call(name).ok();
    skip(input);
    named.map(|(attrs, vis, ident)| Field { attrs, vis, ..parse_quote!(#ident: ()) })
}

fn name(input: ParseStream<'_>) -> syn::Result<(Vec<Attribute>, Visibility, Ident)> {
    Ok((input.call(Attribute::parse_outer)?, input.parse()?, input.parse()?))
}

fn skip(input: ParseStream<'_>) {
    while let Ok(token) = input.parse::<TokenTree>() {
        if matches!(token, TokenTree::Punct(punct) if matches!(punct.as_char(), ',' | ';')) {
            break;
        }
    }
}

/// Returns an error that rustc shows only if there is no other: a lint of code without a mistake.
///
/// It is for a struct that rustc can read and this macro cannot.
pub(super) fn unless_reported(error: &syn::Error) -> TokenStream {
    let (at, message): (Span, String) = (error.span(), error.to_string());
    quote_spanned! {at=>
        const _: () = {
            #[must_use = #message]
            fn struct_that_the_derive_cannot_read() -> ::core::primitive::bool { true }
            #[deny(unused_must_use)]
            #[allow(dead_code)]
            fn derive() { struct_that_the_derive_cannot_read(); }
        };
    }
}
