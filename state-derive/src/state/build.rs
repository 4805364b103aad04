//! Builds the model from the syntax.

use proc_macro2::{Ident, Span};
use quote::format_ident;
use syn::{GenericArgument, Lifetime, Path, PathArguments, Type, parse_quote_spanned};

use crate::attr::{Case, Problems, Runtime, unknown};

use super::attrs::FieldAttrs;
use super::bounds;
use super::built_in::BUILT_IN;
use super::model::{Codec, Field, Flat, InInput, Member, Reducer, Start, State, Writer, plain};
use super::parse::{RawField, Struct};

pub(super) fn build(raw: Struct, lifetimes: Vec<Lifetime>, problems: &mut Problems) -> State {
    let all_optional = !raw.fields.iter().any(|field| field.attrs.input.is_set());
    let case = raw.attrs.rename_all.get().copied();
    let skip_none = raw.attrs.skip_none.is_set();
    let mut members = Vec::new();
    let (mut fields, mut flats) = (0, 0);
    for field in raw.fields {
        if field.attrs.flatten.is_set() {
            members.push(Member::Flat(Box::new(flat_field(field, flats))));
            flats += 1;
        } else {
            let mut field = own_field(field, fields, case, all_optional, problems);
            field.skip_none |= skip_none && option(&field.ty).is_some();
            members.push(Member::Field(Box::new(field)));
            fields += 1;
        }
    }
    let mut state = State {
        runtime: Runtime::new(raw.attrs.krate.get()),
        ident: raw.ident,
        vis: raw.vis,
        generics: raw.generics,
        lifetimes,
        invariants: raw.attrs.invariants,
        version: raw.attrs.version.take(),
        aliases: raw.attrs.aliases.iter().map(syn::LitStr::value).collect(),
        migrate: raw.attrs.migrate.take(),
        schema: raw.attrs.schema.is_set(),
        members,
    };
    bounds::add(&mut state, raw.attrs.bound.take());
    state
}

fn flat_field(raw: RawField, index: usize) -> Flat {
    let in_input = if raw.attrs.input.is_set() { InInput::Required } else { InInput::Optional };
    let constant = constant(&raw.ident);
    Flat { ident: raw.ident, vis: raw.vis, ty: raw.ty, docs: raw.docs, index, constant, in_input }
}

fn own_field(
    raw: RawField,
    index: usize,
    case: Option<Case>,
    all_optional: bool,
    problems: &mut Problems,
) -> Field {
    let RawField { ident, vis, ty, docs, attrs } = raw;
    let reducer = reducer(&attrs, &ty, problems);
    let required = matches!(reducer, Reducer::Replace) && !attrs.default.is_set() && option(&ty).is_none();
    let in_input = match (attrs.input.is_set(), required) {
        (true, true) => InInput::Required,
        (true, false) => InInput::Optional,
        (false, _) if all_optional => InInput::Optional,
        (false, _) => InInput::Never,
    };
    let is_ephemeral = attrs.reducer.get().is_some_and(|path| path.is_ident("ephemeral"));
    let codec = codec(&attrs);
    let untracked = attrs.untracked.is_set();
    Field {
        index,
        constant: constant(&ident),
        names: names(&ident, &attrs, case),
        ephemeral: attrs.ephemeral.is_set() || is_ephemeral,
        dumped: !untracked && !attrs.exclude.is_set(),
        skip_none: attrs.skip_none.is_set() && option(&ty).is_some(),
        tracked: !untracked && (codec.write.is_none() || codec.read.is_some()),
        codec,
        in_input,
        output: attrs.output.is_set(),
        start: attrs.default.take().flatten().map_or(Start::Default, Start::Expr),
        from_context: attrs.from_context.take(),
        rules: attrs.rules,
        ident,
        vis,
        ty,
        docs,
        reducer,
    }
}

fn reducer(attrs: &FieldAttrs, ty: &Type, problems: &mut Problems) -> Reducer {
    let reducer = read_reducer(attrs, ty, problems);
    if let Some(key) = attrs.takes.key()
        && !matches!(reducer, Reducer::Function { .. })
    {
        problems
            .at(key, "`takes` needs a function as `reducer`: other reducers define their own update type");
    }
    reducer
}

fn read_reducer(attrs: &FieldAttrs, ty: &Type, problems: &mut Problems) -> Reducer {
    let Some(path) = attrs.reducer.get() else {
        return Reducer::Replace;
    };
    let Some(last) = path.segments.last() else {
        return Reducer::Replace;
    };
    let written = path.clone();
    if path.get_ident().is_some_and(|name| name == "ephemeral") {
        return Reducer::Replace;
    }
    if let Some((_, name)) = BUILT_IN.iter().find(|(key, _)| path.is_ident(key)) {
        let optional = if *name == "AnyValue" { None } else { option(ty).cloned() };
        return Reducer::BuiltIn { name, written, optional };
    }
    let is_type = plain(&last.ident).starts_with(char::is_uppercase) || !last.arguments.is_none();
    if is_type {
        return Reducer::Type(written);
    }
    if let Some(name) = path.get_ident()
        && let Some(error) = misspelt(name)
    {
        problems.push(error);
        return Reducer::Replace;
    }
    Reducer::Function { path: written, takes: attrs.takes.get().unwrap_or(ty).clone() }
}

/// Treats a bare name that is one typo away from a built-in reducer as that typo, not as a user's function.
fn misspelt(name: &Ident) -> Option<syn::Error> {
    let known: Vec<_> = BUILT_IN.iter().map(|(key, _)| *key).chain(["ephemeral"]).collect();
    let text = name.to_string();
    // `max_by` and `merged` are function names: only typos inside the word count.
    let slip = known.iter().any(|key| key.len() > 3 && key.len().abs_diff(text.len()) <= 1);
    let error = unknown(name, "reducer", &known);
    (slip && error.to_string().contains("did you mean")).then(|| {
        let message = format!("{error} (if it is your own function, write `self::{name}`)");
        syn::Error::new(name.span(), message)
    })
}

fn codec(attrs: &FieldAttrs) -> Codec {
    if let Some(module) = attrs.with.get() {
        // A function that is missing is reported at the module.
        let at = module.segments.last().map_or_else(Span::call_site, |name| name.ident.span());
        return Codec {
            write: Some(Writer::Path(parse_quote_spanned!(at=> #module::serialize))),
            read: Some(parse_quote_spanned!(at=> #module::deserialize)),
        };
    }
    let write = attrs.serialize_with.get().map(|path| match path.get_ident() {
        Some(name) if name == "display" => Writer::Display,
        Some(name) if name == "debug" => Writer::Debug,
        _ => Writer::Path(path.clone()),
    });
    Codec { write, read: attrs.deserialize_with.get().cloned() }
}

fn names(ident: &Ident, attrs: &FieldAttrs, case: Option<Case>) -> Vec<String> {
    let own = plain(ident);
    let name = match (attrs.rename.get(), case) {
        (Some(name), _) => name.value(),
        (None, Some(case)) => case.apply(&own),
        (None, None) => own,
    };
    std::iter::once(name).chain(attrs.aliases.iter().map(syn::LitStr::value)).collect()
}

/// The field's constant: `question` → `QUESTION`, `r#type` → `TYPE`.
pub(crate) fn constant(ident: &Ident) -> Ident {
    let name = plain(ident).to_uppercase();
    format_ident!("{name}", span = ident.span())
}

/// Returns `T` of a type that is written as `Option<T>`. A derive cannot see through aliases.
pub(crate) fn option(ty: &Type) -> Option<&Type> {
    let path = match ty {
        Type::Path(path) if path.qself.is_none() => &path.path,
        Type::Group(group) => return option(&group.elem),
        Type::Paren(paren) => return option(&paren.elem),
        _ => return None,
    };
    if !is_option(path) {
        return None;
    }
    match &path.segments.last()?.arguments {
        PathArguments::AngleBracketed(arguments) => match arguments.args.first() {
            Some(GenericArgument::Type(inner)) if arguments.args.len() == 1 => Some(inner),
            _ => None,
        },
        _ => None,
    }
}

fn is_option(path: &Path) -> bool {
    let names: Vec<_> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    matches!(names.as_slice(), ["Option"] | ["std" | "core", "option", "Option"] | ["option", "Option"])
}
