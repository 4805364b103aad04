//! The bounds that the derive adds for type parameters, by the fields that use them.
//!
//! As in serde, a bound is on the parameter, or on an associated type of it, and not on the field's type.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote_spanned};
use syn::spanned::Spanned;
use syn::{GenericArgument, Generics, Ident, Path, PathArguments, Type, TypeParamBound, WherePredicate};

use super::model::{Field, InInput, Member, Reducer, Start, State};

/// A trait that a parameter may have to implement.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Bound {
    Clone,
    Send,
    Sync,
    Static,
    /// [`VALUE`].
    FieldValue,
    Default,
    Eq,
    Hash,
    Ord,
    Serialize,
    Deserialize,
    /// [`VALUE`] and [`SERDE`].
    StoredValue,
    JsonSchema,
}

/// The bounds of the value of any field.
const VALUE: [Bound; 4] = [Bound::Clone, Bound::Send, Bound::Sync, Bound::Static];

const SERDE: [Bound; 2] = [Bound::Serialize, Bound::Deserialize];

/// Collections that are empty by default, whatever their items are.
const EMPTY: [&str; 10] = [
    "Option",
    "Vec",
    "VecDeque",
    "LinkedList",
    "BinaryHeap",
    "BTreeMap",
    "BTreeSet",
    "HashMap",
    "HashSet",
    "PhantomData",
];

/// Adds the bounds to the where-clause, or those that the user has written in place of them.
pub(super) fn add(state: &mut State, by_user: Option<Vec<WherePredicate>>) {
    let predicates = by_user.unwrap_or_else(|| missing(state));
    if !predicates.is_empty() {
        state.generics.make_where_clause().predicates.extend(predicates);
    }
}

fn missing(state: &State) -> Vec<WherePredicate> {
    let mut found: Vec<(Type, Vec<Bound>)> = Vec::new();
    // `derive(Clone)` asks for a parameter that is `Clone`, whatever uses it.
    for param in state.generics.type_params().map(|param| &param.ident) {
        insert(&syn::parse_quote!(#param), &VALUE, &mut found);
    }
    for member in &state.members {
        for (ty, bounds) in needed(state, member) {
            visit(&state.generics, ty, &bounds, &mut found);
        }
    }
    let mut predicates: Vec<WherePredicate> = Vec::new();
    for (ty, bounds) in found {
        let written = match &ty {
            Type::Path(path) => path.path.get_ident().map(|ident| written(&state.generics, ident)),
            _ => None,
        };
        let names: Vec<_> = written.iter().flatten().filter_map(|bound| name(bound)).collect();
        let missing = Bound::together(&bounds, |bound| names.iter().any(|name| bound.is(name)));
        let missing: Vec<_> = missing.into_iter().map(|bound| bound.path(state, &ty)).collect();
        if !missing.is_empty() {
            predicates.push(syn::parse_quote_spanned!(ty.span()=> #ty: #(#missing)+*));
        }
    }
    predicates
}

/// Returns the bounds of a parameter, inline and in the where-clause.
pub(super) fn written<'a>(generics: &'a Generics, param: &Ident) -> Vec<&'a TypeParamBound> {
    let inline = generics.type_params().filter(|known| known.ident == *param).flat_map(|known| &known.bounds);
    let clause = generics.where_clause.iter().flat_map(|clause| &clause.predicates);
    let clause = clause.filter_map(|predicate| match predicate {
        WherePredicate::Type(predicate) => match &predicate.bounded_ty {
            Type::Path(path) if path.path.is_ident(param) => Some(&predicate.bounds),
            _ => None,
        },
        _ => None,
    });
    inline.chain(clause.flatten()).collect()
}

/// Returns the last name of a trait, or the name of a lifetime.
pub(super) fn name(bound: &TypeParamBound) -> Option<String> {
    match bound {
        TypeParamBound::Trait(bound) => bound.path.segments.last().map(|last| last.ident.to_string()),
        TypeParamBound::Lifetime(lifetime) => Some(lifetime.ident.to_string()),
        _ => None,
    }
}

/// Returns the types that a member writes, with the bounds that it needs of their parameters.
fn needed<'a>(state: &State, member: &'a Member) -> Vec<(&'a Type, Vec<Bound>)> {
    let field = match member {
        Member::Field(field) => field,
        Member::Flat(flat) => {
            let mut bounds = [VALUE.as_slice(), SERDE.as_slice()].concat();
            bounds.extend(state.schema.then_some(Bound::JsonSchema));
            return vec![(&flat.ty, bounds)];
        }
    };
    let mut bounds = VALUE.to_vec();
    let through = field.codec.write.is_some();
    bounds.extend((field.tracked && !through).then_some(Bound::Serialize));
    bounds.extend((field.tracked && field.codec.read.is_none()).then_some(Bound::Deserialize));
    bounds.extend((state.schema && field.tracked && !through).then_some(Bound::JsonSchema));
    let mut types = Vec::new();
    if let Reducer::Function { takes, .. } = &field.reducer {
        types.push((takes, bounds.clone()));
    }
    bounds.extend(has_default(field).then_some(Bound::Default));
    types.push((&field.ty, bounds));
    types
}

/// Returns `true` if the field starts with the default of its type.
fn has_default(field: &Field) -> bool {
    let needs = field.in_input != InInput::Required || field.ephemeral || !field.tracked;
    needs && matches!(field.start, Start::Default)
}

/// Finds the parameters in a type, and the associated types of parameters.
fn visit(generics: &Generics, ty: &Type, bounds: &[Bound], found: &mut Vec<(Type, Vec<Bound>)>) {
    let mut inner = |ty: &Type, bounds: &[Bound]| visit(generics, ty, bounds, found);
    match ty {
        Type::Path(path) if path.qself.is_none() && is_param(generics, &path.path) => {
            insert(ty, bounds, found)
        }
        Type::Path(path) => match &path.qself {
            Some(qself) if crate::generics::mentions_params(generics, &qself.ty) => insert(ty, bounds, found),
            _ => arguments(&path.path, bounds, &mut inner),
        },
        Type::Array(array) => inner(&array.elem, bounds),
        Type::Slice(slice) => inner(&slice.elem, bounds),
        Type::Group(group) => inner(&group.elem, bounds),
        Type::Paren(paren) => inner(&paren.elem, bounds),
        Type::Tuple(tuple) => tuple.elems.iter().for_each(|elem| inner(elem, bounds)),
        // Pointers to functions are values of their own, and a trait object says what it needs.
        _ => {}
    }
}

fn is_param(generics: &Generics, path: &Path) -> bool {
    let first = path.segments.first();
    path.leading_colon.is_none()
        && first.is_some_and(|first| generics.type_params().any(|param| param.ident == first.ident))
}

fn arguments(path: &Path, bounds: &[Bound], inner: &mut impl FnMut(&Type, &[Bound])) {
    for segment in &path.segments {
        let PathArguments::AngleBracketed(arguments) = &segment.arguments else { continue };
        let name = segment.ident.to_string();
        let mut bounds = bounds.to_vec();
        if EMPTY.contains(&name.as_str()) {
            bounds.retain(|bound| *bound != Bound::Default);
        }
        if name == "PhantomData" {
            bounds.retain(|bound| VALUE.contains(bound));
        }
        let keys: &[Bound] = match name.as_str() {
            "BTreeMap" | "BTreeSet" | "BinaryHeap" => &[Bound::Ord],
            "HashMap" | "HashSet" => &[Bound::Eq, Bound::Hash],
            _ => &[],
        };
        let types = arguments.args.iter().filter_map(|argument| match argument {
            GenericArgument::Type(ty) => Some(ty),
            _ => None,
        });
        for (nth, ty) in types.enumerate() {
            let keys = if nth == 0 { keys } else { &[] };
            inner(ty, &[&bounds[..], keys].concat());
        }
    }
}

fn insert(ty: &Type, bounds: &[Bound], found: &mut Vec<(Type, Vec<Bound>)>) {
    let text = ty.to_token_stream().to_string();
    let known = found.iter_mut().find(|(known, _)| known.to_token_stream().to_string() == text);
    match known {
        Some((_, known)) => {
            known.extend(bounds);
            known.sort();
            known.dedup();
        }
        None => {
            let mut bounds = bounds.to_vec();
            bounds.sort();
            bounds.dedup();
            found.push((ty.clone(), bounds));
        }
    }
}

impl Bound {
    /// Returns the missing bounds, with one trait for those that it includes: a type that does not fit is one error.
    fn together(bounds: &[Self], is_written: impl Fn(&Self) -> bool) -> Vec<Self> {
        let is_stored = SERDE.iter().all(|bound| bounds.contains(bound));
        let mut missing: Vec<_> = bounds.iter().copied().filter(|bound| !is_written(bound)).collect();
        let mut replace = |parts: &[Self], by: Self| {
            if missing.iter().any(|bound| parts.contains(bound)) {
                missing.retain(|bound| !parts.contains(bound));
                missing.insert(0, by);
            }
        };
        if is_stored {
            replace(&[VALUE.as_slice(), SERDE.as_slice()].concat(), Self::StoredValue);
        } else {
            replace(&VALUE, Self::FieldValue);
        }
        missing
    }

    /// Returns `true` if a user calls the trait so.
    pub(super) fn is(self, name: &str) -> bool {
        match self {
            Self::Clone => matches!(name, "Clone" | "Copy" | "FieldValue" | "StoredValue"),
            Self::Send => matches!(name, "Send" | "FieldValue" | "StoredValue"),
            Self::Sync => matches!(name, "Sync" | "FieldValue" | "StoredValue"),
            Self::Static => matches!(name, "static" | "FieldValue" | "StoredValue"),
            Self::FieldValue => name == "FieldValue",
            Self::StoredValue => name == "StoredValue",
            Self::Default => name == "Default",
            Self::Eq => matches!(name, "Eq" | "Ord"),
            Self::Hash => name == "Hash",
            Self::Ord => name == "Ord",
            Self::Serialize => matches!(name, "Serialize" | "StoredValue"),
            Self::Deserialize => matches!(name, "DeserializeOwned" | "StoredValue"),
            Self::JsonSchema => name == "JsonSchema",
        }
    }

    fn path(self, state: &State, at: &Type) -> TokenStream {
        let (at, runtime) = (at.span(), &state.runtime);
        match self {
            Self::Clone => quote_spanned!(at=> ::core::clone::Clone),
            Self::Send => quote_spanned!(at=> ::core::marker::Send),
            Self::Sync => quote_spanned!(at=> ::core::marker::Sync),
            Self::Static => quote_spanned!(at=> 'static),
            Self::FieldValue => quote_spanned!(at=> #runtime::FieldValue),
            Self::StoredValue => quote_spanned!(at=> #runtime::StoredValue),
            Self::Default => quote_spanned!(at=> ::core::default::Default),
            Self::Eq => quote_spanned!(at=> ::core::cmp::Eq),
            Self::Hash => quote_spanned!(at=> ::core::hash::Hash),
            Self::Ord => quote_spanned!(at=> ::core::cmp::Ord),
            Self::Serialize => quote_spanned!(at=> #runtime::serde::Serialize),
            Self::Deserialize => quote_spanned!(at=> #runtime::serde::de::DeserializeOwned),
            Self::JsonSchema => quote_spanned!(at=> #runtime::JsonSchema),
        }
    }
}
