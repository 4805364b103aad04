//! Parses attribute syntax and reports mistakes of form. The combined meaning of attributes is in
//! [`model`](super::model).

use syn::{Attribute, Data, DeriveInput, Fields, Generics, Ident, Type, Visibility, parse_quote};

use crate::attr::{Problems, docs, items};

use super::attrs::{self, FieldAttrs, StateAttrs};
use super::{lifetimes, serde_attr};

/// The derived struct as written.
pub(super) struct Struct {
    pub(super) ident: Ident,
    pub(super) vis: Visibility,
    pub(super) generics: Generics,
    pub(super) attrs: StateAttrs,
    pub(super) fields: Vec<RawField>,
}

pub(super) struct RawField {
    pub(super) ident: Ident,
    pub(super) vis: Visibility,
    pub(super) ty: Type,
    pub(super) docs: Vec<Attribute>,
    pub(super) attrs: FieldAttrs,
}

/// Parses as much as possible. The result has no fields if the input is not a struct with named fields.
pub(super) fn parse(input: DeriveInput, problems: &mut Problems) -> Struct {
    let mut attrs = StateAttrs::default();
    items(&input.attrs, "state", problems, |problems, item| attrs::on_struct(&mut attrs, problems, item));
    items(&input.attrs, "serde", problems, |problems, item| {
        serde_attr::on_struct(&mut attrs, problems, item)
    });
    let shape = "a state must be a struct with named fields";
    let named = match input.data {
        Data::Struct(data) => match data.fields {
            Fields::Named(fields) => Some(fields.named),
            Fields::Unnamed(fields) => {
                problems.at(fields, format!("{shape}, not a tuple struct"));
                None
            }
            Fields::Unit => {
                problems.at(&input.ident, format!("{shape}: write `struct {} {{}}`", input.ident));
                None
            }
        },
        Data::Enum(data) => {
            problems.at(data.enum_token, format!("{shape}, not an enum"));
            None
        }
        Data::Union(data) => {
            problems.at(data.union_token, format!("{shape}, not a union"));
            None
        }
    };
    let fields = named.into_iter().flatten().filter_map(|field| raw_field(field, problems)).collect();
    Struct { ident: input.ident, vis: input.vis, generics: input.generics, attrs, fields }
}

fn raw_field(field: syn::Field, problems: &mut Problems) -> Option<RawField> {
    let mut attrs = FieldAttrs::default();
    items(&field.attrs, "state", problems, |problems, item| attrs::on_field(&mut attrs, problems, item));
    items(&field.attrs, "serde", problems, |problems, item| serde_attr::on_field(&mut attrs, problems, item));
    let docs = docs(&field.attrs);
    let mut ty = field.ty;
    if lifetimes::lacks_one(&ty) {
        problems.known_to_rustc();
        ty = parse_quote!(());
    }
    Some(RawField { ident: field.ident?, vis: field.vis, ty, docs, attrs })
}
