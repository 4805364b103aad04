use syn::parse::ParseStream;
use syn::punctuated::Punctuated;
use syn::{Attribute, Data, DeriveInput, Expr, ExprLit, Fields, Lit, Meta, Path, Token, Type, Variant};

use crate::attr::{Problems, Runtime, Slot, items, unknown};

use super::model::{Destination, Exit, Route};

pub(crate) fn parse(input: DeriveInput, problems: &mut Problems) -> Route {
    let krate = read_crate(&input.attrs, problems);
    for attr in attributes(&input.attrs, "to") {
        problems.at(attr, "`#[to(..)]` belongs on a variant, not on the enum");
    }
    let exits = match input.data {
        Data::Enum(data) => {
            if data.variants.is_empty() {
                problems.at(&input.ident, "a route needs at least one variant");
            }
            data.variants.into_iter().map(|variant| read_variant(variant, problems)).collect()
        }
        Data::Struct(data) => {
            not_an_enum(data.struct_token, problems);
            Vec::new()
        }
        Data::Union(data) => {
            not_an_enum(data.union_token, problems);
            Vec::new()
        }
    };
    Route { name: input.ident, generics: input.generics, runtime: Runtime::new(krate.as_ref()), exits }
}

fn not_an_enum(token: impl quote::ToTokens, problems: &mut Problems) {
    problems.at(token, "a route must be an enum: each variant names the next node");
}

fn read_crate(attrs: &[Attribute], problems: &mut Problems) -> Option<Path> {
    let mut krate = Slot::default();
    items(attrs, "route", problems, |problems, item| {
        match item.key.to_string().as_str() {
            "crate" => krate.set(problems, &item.key, item.path()?),
            "label" => {
                let message = "`label` belongs on a variant";
                return Err(syn::Error::new(item.key.span(), message));
            }
            _ => return Err(unknown(&item.key, "attribute", &["crate"])),
        }
        Ok(())
    });
    krate.get().cloned()
}

fn read_variant(variant: Variant, problems: &mut Problems) -> Exit {
    let mut label = Slot::default();
    items(&variant.attrs, "route", problems, |problems, item| {
        match item.key.to_string().as_str() {
            "label" => label.set(problems, &item.key, item.string()?),
            "crate" => {
                let message = "`crate` belongs on the enum";
                return Err(syn::Error::new(item.key.span(), message));
            }
            "to" => {
                let message = "`to` is a separate attribute: write `#[to(node)]` on the variant";
                return Err(syn::Error::new(item.key.span(), message));
            }
            _ => return Err(unknown(&item.key, "attribute", &["label"])),
        }
        Ok(())
    });
    let to = read_to(&variant.attrs, problems);
    let payload = read_payload(variant.fields, problems);
    Exit { variant: variant.ident, label: label.get().cloned(), to, payload }
}

fn read_to(attrs: &[Attribute], problems: &mut Problems) -> Option<Vec<Destination>> {
    let mut found: Option<Vec<Destination>> = None;
    for attr in attributes(attrs, "to") {
        if found.is_some() {
            problems.at(attr, "duplicate `#[to(..)]`: list several nodes in one attribute, `#[to(a, b)]`");
            continue;
        }
        let Meta::List(list) = &attr.meta else {
            problems.at(attr, "write `#[to(node)]`, or `#[to(END)]` to end the branch");
            found = Some(Vec::new());
            continue;
        };
        let destinations = problems.ok(attr.parse_args_with(|input: ParseStream<'_>| {
            if input.is_empty() {
                let message =
                    "`#[to()]` names no node: write `#[to(node)]`, or `#[to(END)]` to end the branch";
                return Err(syn::Error::new_spanned(list, message));
            }
            Punctuated::<Expr, Token![,]>::parse_terminated(input)
        }));
        let destinations = destinations
            .into_iter()
            .flatten()
            .filter_map(|destination| problems.ok(read_destination(destination)));
        found = Some(destinations.collect());
    }
    found
}

fn read_destination(destination: Expr) -> syn::Result<Destination> {
    match destination {
        Expr::Path(path) => Ok(Destination::Path(path)),
        Expr::Group(group) => read_destination(*group.expr),
        Expr::Lit(ExprLit { lit: Lit::Str(name), .. }) => Ok(Destination::Name(name)),
        other => {
            let message = "expected the path of a node, `END`, or a node's name as a string";
            Err(syn::Error::new_spanned(other, message))
        }
    }
}

fn read_payload(fields: Fields, problems: &mut Problems) -> Option<Type> {
    let wrong = "a variant of a route has no field, or one unnamed field: `Name(Payload)`";
    match fields {
        Fields::Unit => None,
        Fields::Unnamed(fields) if fields.unnamed.len() == 1 => {
            fields.unnamed.into_iter().next().map(|field| field.ty)
        }
        Fields::Unnamed(fields) if fields.unnamed.is_empty() => {
            problems.at(fields, wrong);
            None
        }
        several => {
            problems.at(several, format!("{wrong}; put several values into one struct"));
            None
        }
    }
}

fn attributes<'a>(attrs: &'a [Attribute], name: &'a str) -> impl Iterator<Item = &'a Attribute> {
    attrs.iter().filter(move |attr| attr.path().is_ident(name))
}
