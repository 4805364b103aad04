//! Parses the attribute and the function.

use proc_macro2::TokenStream;
use quote::quote;
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::{
    Attribute, Expr, ExprLit, FnArg, GenericArgument, ItemFn, Lit, LitStr, Meta, Pat, Path, PathArguments,
    Type,
};

use crate::attr::{Problems, Slot, docs, items, unknown, walk};

use super::model::{Kind, Param, Tool};

pub(super) fn parse(attributes: TokenStream, function: ItemFn, problems: &mut Problems) -> Tool {
    let (mut name, mut description) = (Slot::<LitStr>::default(), Slot::<LitStr>::default());
    let mut krate = Slot::<Path>::default();
    let read = |input: ParseStream<'_>| {
        walk(input, problems, |problems, item| {
            match item.key.to_string().as_str() {
                "name" => name.set(problems, &item.key, item.string()?),
                "description" => description.set(problems, &item.key, item.string()?),
                "crate" => krate.set(problems, &item.key, item.path()?),
                _ => return Err(unknown(&item.key, "attribute", &["name", "description", "crate"])),
            }
            Ok(())
        });
        Ok(())
    };
    let parsed = read.parse2(attributes);
    problems.ok(parsed);

    let ItemFn { attrs, vis, sig: mut signature, block, .. } = function;
    let params = signature.inputs.iter_mut().filter_map(|input| param(input, problems)).collect();
    let own_docs = docs(&attrs);
    let attrs = attrs.into_iter().filter(|attr| !attr.path().is_ident("doc")).collect();
    Tool {
        runtime: match krate.get() {
            Some(path) => quote!(#path::__private),
            None => quote!(::superstep_agent::__private),
        },
        vis,
        name: name.get().map_or_else(|| signature.ident.unraw().to_string(), LitStr::value),
        description: description.get().map_or_else(|| doc_text(&own_docs), LitStr::value),
        docs: own_docs,
        attrs,
        params,
        signature,
        block,
    }
}

/// Reads a parameter. Moves the attributes of an argument from the function to the model.
fn param(input: &mut FnArg, problems: &mut Problems) -> Option<Param> {
    let FnArg::Typed(typed) = input else { return None };
    let mut all = Slot::<()>::default();
    items(&typed.attrs, "tool", problems, |problems, item| {
        if item.key != "all" {
            return Err(unknown(&item.key, "attribute", &["all"]));
        }
        item.flag()?;
        all.set(problems, &item.key, ());
        Ok(())
    });
    let is_argument_attr =
        |attr: &Attribute| ["doc", "serde", "schemars"].iter().any(|name| attr.path().is_ident(name));
    let (argument_attrs, mut others): (Vec<Attribute>, Vec<Attribute>) =
        std::mem::take(&mut typed.attrs).into_iter().partition(is_argument_attr);
    others.retain(|attr| !attr.path().is_ident("tool"));
    typed.attrs = others;
    let ident = match &*typed.pat {
        Pat::Ident(pattern) if pattern.by_ref.is_none() && pattern.subpat.is_none() => {
            Some(pattern.ident.clone())
        }
        _ => None,
    };
    let kind = if all.is_set() {
        Kind::AllArguments
    } else if is_provided(&typed.ty) {
        Kind::Provided
    } else {
        Kind::Argument(argument_attrs)
    };
    Some(Param { ident, ty: (*typed.ty).clone(), kind })
}

/// Returns `true` if a parameter borrows from the run: a reference, or a type with a lifetime.
fn is_provided(ty: &Type) -> bool {
    match ty {
        Type::Reference(_) => true,
        Type::Path(path) => path.path.segments.last().is_some_and(|last| match &last.arguments {
            PathArguments::AngleBracketed(list) => list
                .args
                .iter()
                .any(|arg| matches!(arg, GenericArgument::Lifetime(lifetime) if lifetime.ident != "static")),
            _ => false,
        }),
        _ => false,
    }
}

/// Returns doc comments as a string.
fn doc_text(docs: &[Attribute]) -> String {
    let line = |attr: &Attribute| match &attr.meta {
        Meta::NameValue(meta) => match &meta.value {
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value().trim().to_owned()),
            _ => None,
        },
        _ => None,
    };
    docs.iter().filter_map(line).collect::<Vec<_>>().join("\n").trim().to_owned()
}
