//! The words of `#[state(..)]` for rust-analyzer.

use proc_macro2::TokenStream;
use syn::{Attribute, Data, DeriveInput, Generics};

use crate::attr::{Runtime, Table, Words};

#[cfg(test)]
mod tests;

static STRUCT: Table = Table { module: "state", values: &[("invariant", ""), ("migrate", "")], lists: &[] };
static FIELD: Table = Table {
    module: "field",
    values: &[
        ("reducer", "reducer"),
        ("from_context", ""),
        ("serialize_with", ""),
        ("deserialize_with", ""),
        ("default", ""),
    ],
    lists: &[("validate", &RULE)],
};
static RULE: Table = Table {
    module: "rule",
    values: &[("custom", "")],
    lists: &[("length", &BOUND), ("range", &BOUND), ("inner", &RULE)],
};
static BOUND: Table = Table { module: "bound", values: &[], lists: &[] };

/// The generics and the attributes of the struct, and the attributes of its fields.
pub(super) struct Attributes {
    generics: Generics,
    of_struct: Vec<Attribute>,
    of_fields: Vec<Attribute>,
}

pub(super) fn attributes(input: &DeriveInput) -> Attributes {
    let fields = match &input.data {
        Data::Struct(data) => data.fields.iter().flat_map(|field| field.attrs.clone()).collect(),
        Data::Enum(_) | Data::Union(_) => Vec::new(),
    };
    Attributes { generics: input.generics.clone(), of_struct: input.attrs.clone(), of_fields: fields }
}

pub(super) fn words(attributes: &Attributes, runtime: &Runtime) -> Option<TokenStream> {
    let mut words = Words::new(runtime, &attributes.generics);
    words.add(&attributes.of_struct, "state", &STRUCT);
    words.add(&attributes.of_fields, "state", &FIELD);
    words.code()
}
