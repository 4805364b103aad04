use syn::parse::ParseStream;
use syn::punctuated::Punctuated;
use syn::{Attribute, Data, DeriveInput, Expr, ExprLit, Fields, Lit, Meta, Path, Token, Type, Variant};

use crate::attr::{Problems, Runtime, Slot, items, unknown};

use super::model::{Exit, Place, Route};

pub(crate) fn parse(input: DeriveInput, problems: &mut Problems) -> Route {
    let krate = read_crate(&input.attrs, problems);
    for attr in attributes(&input.attrs, "to") {
        problems.at(attr, "`#[to(..)]` belongs on a variant, each says where it goes");
    }
    let exits = match input.data {
        Data::Enum(data) => {
            if data.variants.is_empty() {
                problems.at(&input.ident, "a route needs a variant: each one is a way out of the node");
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
    problems.at(token, "a route is an enum: each variant is a way out of the node");
}

fn read_crate(attrs: &[Attribute], problems: &mut Problems) -> Option<Path> {
    let mut krate = Slot::default();
    items(attrs, "route", problems, |problems, item| {
        match item.key.to_string().as_str() {
            "crate" => krate.set(problems, &item.key, item.path()?),
            "label" => {
                let message = "`label` belongs on a variant: it names one way out";
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
                let message = "where a variant goes stands in an attribute of its own: `#[to(..)]`";
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

fn read_to(attrs: &[Attribute], problems: &mut Problems) -> Option<Vec<Place>> {
    let mut found: Option<Vec<Place>> = None;
    for attr in attributes(attrs, "to") {
        if found.is_some() {
            problems.at(attr, "`#[to(..)]` is given twice: several nodes are one list, `#[to(a, b)]`");
            continue;
        }
        let Meta::List(list) = &attr.meta else {
            problems.at(attr, "write `#[to(node)]`, or `#[to(END)]` to end the branch");
            found = Some(Vec::new());
            continue;
        };
        let places = problems.ok(attr.parse_args_with(|input: ParseStream<'_>| {
            if input.is_empty() {
                let message = "`#[to()]` names no node: write `#[to(END)]` to end the branch";
                return Err(syn::Error::new_spanned(list, message));
            }
            Punctuated::<Expr, Token![,]>::parse_terminated(input)
        }));
        let places = places.into_iter().flatten().filter_map(|place| problems.ok(read_place(place)));
        found = Some(places.collect());
    }
    found
}

fn read_place(place: Expr) -> syn::Result<Place> {
    match place {
        Expr::Path(path) => Ok(Place::Value(path)),
        Expr::Group(group) => read_place(*group.expr),
        Expr::Lit(ExprLit { lit: Lit::Str(name), .. }) => Ok(Place::Named(name)),
        other => {
            let message =
                "a destination is the path of a node, `END`, or the name that a node was given, as a string";
            Err(syn::Error::new_spanned(other, message))
        }
    }
}

fn read_payload(fields: Fields, problems: &mut Problems) -> Option<Type> {
    let wrong = "a variant carries nothing, or one unnamed field: `Name(Payload)`";
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
            problems.at(several, format!("{wrong}; put several values into a struct of their own"));
            None
        }
    }
}

fn attributes<'a>(attrs: &'a [Attribute], name: &'a str) -> impl Iterator<Item = &'a Attribute> {
    attrs.iter().filter(move |attr| attr.path().is_ident(name))
}
