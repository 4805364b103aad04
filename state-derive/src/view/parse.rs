use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{Attribute, Data, DeriveInput, Expr, Fields, GenericArgument, Lifetime, Path, PathArguments, Type};

use crate::attr::{Problems, Runtime, Slot, items, unknown};
use crate::generics::mentions;

use super::model::{Field, Ownership, View};

pub(crate) fn parse(input: DeriveInput, problems: &mut Problems) -> View {
    let (of, krate) = read_struct(&input.attrs, problems);
    let mut view = View {
        name: input.ident,
        visibility: input.vis,
        generics: input.generics,
        runtime: Runtime::new(krate.as_ref()),
        of,
        fields: Vec::new(),
    };
    let wrong = "a view must be a struct with named fields";
    match input.data {
        Data::Struct(data) => match data.fields {
            Fields::Named(fields) => {
                let lifetime = view.lifetime().cloned();
                let fields = fields.named.into_iter();
                view.fields =
                    fields.filter_map(|field| read_field(field, lifetime.as_ref(), problems)).collect();
            }
            Fields::Unnamed(fields) => problems.at(fields, wrong),
            Fields::Unit => problems.at(&view.name, wrong),
        },
        Data::Enum(data) => problems.at(data.enum_token, wrong),
        Data::Union(data) => problems.at(data.union_token, wrong),
    }
    view
}

fn read_struct(attrs: &[Attribute], problems: &mut Problems) -> (Option<Type>, Option<Path>) {
    let mut of = Slot::default();
    let mut krate = Slot::default();
    items(attrs, "view", problems, |problems, item| {
        match item.key.to_string().as_str() {
            "of" => of.set(problems, &item.key, item.ty()?),
            "crate" => krate.set(problems, &item.key, item.path()?),
            "from" => {
                let message = "`from` belongs on a field: it names a field of the state";
                return Err(syn::Error::new(item.key.span(), message));
            }
            key if key.starts_with(char::is_uppercase) => {
                // Counts as set, so that no second mistake is reported.
                let state = item.key.clone();
                of.set(problems, &item.key, syn::parse_quote!(#state));
                return Err(syn::Error::new(item.key.span(), format!("write `#[view(of = {key})]`")));
            }
            _ => return Err(unknown(&item.key, "attribute", &["of", "crate"])),
        }
        Ok(())
    });
    (of.get().cloned(), krate.get().cloned())
}

fn read_field(field: syn::Field, lifetime: Option<&Lifetime>, problems: &mut Problems) -> Option<Field> {
    let mut from = Slot::default();
    items(&field.attrs, "view", problems, |problems, item| {
        match item.key.to_string().as_str() {
            "from" => from.set(problems, &item.key, read_path(item.expr()?)?),
            "of" | "crate" => {
                let message = format!("`{}` belongs on the struct", item.key);
                return Err(syn::Error::new(item.key.span(), message));
            }
            _ => return Err(unknown(&item.key, "attribute", &["from"])),
        }
        Ok(())
    });
    let name = field.ident?;
    let from = from.get().cloned().unwrap_or_else(|| quote!(#name));
    let ownership = lifetime.map_or(Ownership::Cloned, |lifetime| ownership(&field.ty, lifetime));
    Some(Field { name, ty: field.ty, from, ownership })
}

/// `chat.log`: the path of a field of the state.
fn read_path(path: Expr) -> syn::Result<TokenStream> {
    let mut inner = &path;
    loop {
        match inner {
            Expr::Field(field) => inner = &field.base,
            Expr::Group(group) => inner = &group.expr,
            Expr::Path(root) if root.path.get_ident().is_some() => return Ok(path.into_token_stream()),
            _ => {
                let message = "`from` takes a field of the state, or a nested one: `from = chat.log`";
                return Err(syn::Error::new_spanned(path, message));
            }
        }
    }
}

fn ownership(ty: &Type, lifetime: &Lifetime) -> Ownership {
    if !mentions(ty, lifetime) {
        Ownership::Cloned
    } else if is_borrowed(ty, lifetime) {
        Ownership::Borrowed
    } else {
        let inner = option_inner(ty).filter(|inner| is_borrowed(inner, lifetime));
        inner.map_or(Ownership::Unknown, |inner| Ownership::BorrowedInOption(Box::new(inner.clone())))
    }
}

/// Returns `true` if `ty` is `&'a T`.
fn is_borrowed(ty: &Type, lifetime: &Lifetime) -> bool {
    match ty {
        Type::Reference(reference) => {
            let outside = reference.lifetime.as_ref().is_some_and(|found| found.ident == lifetime.ident);
            outside && reference.mutability.is_none() && !mentions(&reference.elem, lifetime)
        }
        Type::Group(group) => is_borrowed(&group.elem, lifetime),
        Type::Paren(paren) => is_borrowed(&paren.elem, lifetime),
        _ => false,
    }
}

/// Returns the `T` of an `Option<T>`.
fn option_inner(ty: &Type) -> Option<&Type> {
    let path = match ty {
        Type::Path(path) => path,
        Type::Group(group) => return option_inner(&group.elem),
        _ => return None,
    };
    let last = path.path.segments.last().filter(|last| last.ident == "Option")?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
    match arguments.args.first() {
        Some(GenericArgument::Type(inner)) => Some(inner),
        _ => None,
    }
}
