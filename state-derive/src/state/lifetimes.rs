//! Lifetimes in the struct, which a state cannot have.

use quote::{ToTokens, quote};
use syn::{DeriveInput, GenericArgument, GenericParam, Lifetime, PathArguments, Type};

use crate::attr::Problems;
use crate::generics;

/// Reports the lifetime parameters, and returns them and the struct with `'static` in their place.
pub(super) fn without(mut input: DeriveInput, problems: &mut Problems) -> (DeriveInput, Vec<Lifetime>) {
    let written = input.generics.clone();
    let lifetimes: Vec<_> = written.lifetimes().map(|param| param.lifetime.clone()).collect();
    if lifetimes.is_empty() {
        return (input, lifetimes);
    }
    for lifetime in &lifetimes {
        problems.at(lifetime, "a state cannot have a lifetime parameter: it must be `'static`");
    }
    let others = written.params.iter().filter(|param| !matches!(param, GenericParam::Lifetime(_)));
    input.generics.params = others.cloned().collect();
    let replaced = generics::replace_all(&written, input.to_token_stream(), &quote!('static));
    // Cannot fail: only lifetimes were replaced by lifetimes.
    (syn::parse2(replaced).unwrap_or(input), lifetimes)
}

/// Returns `true` if the type of a field has a reference without a lifetime, as in `&str`, which rustc reports.
pub(super) fn lacks_one(ty: &Type) -> bool {
    let argument = |argument: &GenericArgument| match argument {
        GenericArgument::Type(ty) => lacks_one(ty),
        GenericArgument::Lifetime(lifetime) => lifetime.ident == "_",
        _ => false,
    };
    match ty {
        Type::Reference(reference) => {
            reference.lifetime.as_ref().is_none_or(|lifetime| lifetime.ident == "_")
                || lacks_one(&reference.elem)
        }
        Type::Path(path) => path.path.segments.iter().any(|segment| match &segment.arguments {
            PathArguments::AngleBracketed(arguments) => arguments.args.iter().any(argument),
            // In the type of a function, each lifetime has a default.
            _ => false,
        }),
        Type::Array(array) => lacks_one(&array.elem),
        Type::Slice(slice) => lacks_one(&slice.elem),
        Type::Group(group) => lacks_one(&group.elem),
        Type::Paren(paren) => lacks_one(&paren.elem),
        Type::Tuple(tuple) => tuple.elems.iter().any(lacks_one),
        _ => false,
    }
}
