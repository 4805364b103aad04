use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{GenericParam, WherePredicate};

use crate::attr::Runtime;
use crate::state::bounds::{name, written};
use crate::state::model::State;

/// The traits that a type in the place of a parameter can implement, and the traits that come with them.
const KNOWN: [(&str, &[&str]); 18] = [
    ("static", &[]),
    ("Clone", &["Clone"]),
    ("Copy", &["Clone", "Copy"]),
    ("Send", &[]),
    ("Sync", &[]),
    ("Sized", &[]),
    ("Unpin", &[]),
    ("Debug", &["Debug"]),
    ("Default", &["Default"]),
    ("PartialEq", &["PartialEq"]),
    ("Eq", &["PartialEq", "Eq"]),
    ("PartialOrd", &["PartialEq", "PartialOrd"]),
    ("Ord", &["PartialEq", "Eq", "PartialOrd", "Ord"]),
    ("Hash", &["Hash"]),
    ("Serialize", &["Serialize"]),
    ("DeserializeOwned", &["Deserialize"]),
    ("FieldValue", &["Clone"]),
    ("StoredValue", &["Clone", "Serialize", "Deserialize"]),
];

/// Returns `true` if a type with the bounds of a parameter can stand for it, for each parameter.
///
/// A constant cannot be generic. With a type in the place of the parameter, the check of a field can be one.
pub(super) fn are_possible(state: &State) -> bool {
    let clause = state.generics.where_clause.iter().flat_map(|clause| &clause.predicates);
    let mut on_others = clause.filter(|predicate| match predicate {
        WherePredicate::Type(predicate) => {
            let ty = predicate.bounded_ty.to_token_stream().to_string();
            !state.generics.type_params().any(|param| param.ident == ty)
        }
        _ => true,
    });
    let is_known = |bound| name(bound).is_some_and(|name| KNOWN.iter().any(|(known, _)| *known == name));
    on_others.next().is_none()
        && state.generics.params.iter().all(|param| match param {
            GenericParam::Type(param) => written(&state.generics, &param.ident).into_iter().all(is_known),
            _ => false,
        })
}

// struct T;
// impl Clone for T { fn clone(&self) -> Self { loop {} } }
//
// It has the name of the parameter, which the messages of rustc then contain.
pub(super) fn items(state: &State) -> TokenStream {
    if !are_possible(state) {
        return TokenStream::new();
    }
    let params = state.generics.type_params().map(|param| {
        let param = &param.ident;
        let names: Vec<_> = written(&state.generics, param).into_iter().filter_map(name).collect();
        let is_asked = |of: &str| {
            KNOWN.iter().any(|(known, traits)| names.iter().any(|name| name == known) && traits.contains(&of))
        };
        let impls = IMPLS
            .iter()
            .filter(|of| is_asked(of))
            .map(|of| implementation(&state.runtime, of, &param.to_token_stream()));
        quote! {
            pub struct #param;
            #(#impls)*
        }
    });
    quote!(#(#params)*)
}

const IMPLS: [&str; 11] = [
    "Clone",
    "Copy",
    "Debug",
    "Default",
    "PartialEq",
    "Eq",
    "PartialOrd",
    "Ord",
    "Hash",
    "Serialize",
    "Deserialize",
];

fn implementation(runtime: &Runtime, of: &str, ty: &TokenStream) -> TokenStream {
    let serde = quote!(#runtime::serde);
    let ordering = quote!(::core::cmp::Ordering);
    let (of, body) = match of {
        "Clone" => (
            quote!(::core::clone::Clone),
            quote!(
                fn clone(&self) -> Self {
                    loop {}
                }
            ),
        ),
        "Copy" => (quote!(::core::marker::Copy), TokenStream::new()),
        "Debug" => (
            quote!(::core::fmt::Debug),
            quote!(
                fn fmt(&self, _: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    loop {}
                }
            ),
        ),
        "Default" => (
            quote!(::core::default::Default),
            quote!(
                fn default() -> Self {
                    loop {}
                }
            ),
        ),
        "PartialEq" => (
            quote!(::core::cmp::PartialEq),
            quote!(
                fn eq(&self, _: &Self) -> ::core::primitive::bool {
                    loop {}
                }
            ),
        ),
        "Eq" => (quote!(::core::cmp::Eq), TokenStream::new()),
        "PartialOrd" => (
            quote!(::core::cmp::PartialOrd),
            quote!(fn partial_cmp(&self, _: &Self) -> ::core::option::Option<#ordering> { loop {} }),
        ),
        "Ord" => (quote!(::core::cmp::Ord), quote!(fn cmp(&self, _: &Self) -> #ordering { loop {} })),
        "Hash" => (
            quote!(::core::hash::Hash),
            quote!(
                fn hash<__H: ::core::hash::Hasher>(&self, _: &mut __H) {
                    loop {}
                }
            ),
        ),
        "Serialize" => (
            quote!(#serde::Serialize),
            quote! {
                fn serialize<__S: #serde::Serializer>(
                    &self,
                    _: __S,
                ) -> ::core::result::Result<__S::Ok, __S::Error> { loop {} }
            },
        ),
        _ => {
            return quote! {
                impl<'__de> #serde::Deserialize<'__de> for #ty {
                    fn deserialize<__D: #serde::Deserializer<'__de>>(
                        _: __D,
                    ) -> ::core::result::Result<Self, __D::Error> { loop {} }
                }
            };
        }
    };
    quote!(impl #of for #ty { #body })
}
