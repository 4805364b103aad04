//! The keys of maps, which are the names of a JSON object.

use syn::{GenericArgument, PathArguments, Type};

use crate::attr::Problems;

use super::build::option;
use super::model::State;

/// Returns the type of the keys, if `ty` is written as a map or as an optional one.
pub(super) fn map_key(ty: &Type) -> Option<&Type> {
    let Type::Path(path) = option(ty).unwrap_or(ty) else { return None };
    let last = path.path.segments.last()?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
    let mut types = arguments.args.iter().filter_map(|argument| match argument {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    });
    let (key, _value) = (types.next()?, types.next()?);
    (last.ident == "HashMap" || last.ident == "BTreeMap").then_some(key)
}

/// Reports keys that are never a string in JSON. `compile()` reports the others.
pub(super) fn check(state: &State, problems: &mut Problems) {
    for field in state.fields().filter(|field| field.tracked && field.codec.is_derived()) {
        if let Some(key) = map_key(&field.ty).filter(|key| is_compound(key)) {
            problems.at(
                key,
                "JSON has no such keys, so checkpoints cannot store this map: use keys of the type `String`, a number, or an \
                 enum without data, or `Vec<(K, V)>` instead of the map; or set `#[state(with = path)]` or `#[state(untracked)]`",
            );
        }
    }
}

fn is_compound(key: &Type) -> bool {
    const COMPOUND: [&str; 7] = ["Vec", "VecDeque", "Option", "HashMap", "BTreeMap", "HashSet", "BTreeSet"];
    match key {
        Type::Tuple(_) | Type::Array(_) => true,
        Type::Path(path) => path.path.segments.last().is_some_and(|last| {
            !last.arguments.is_none() && COMPOUND.iter().any(|compound| last.ident == compound)
        }),
        _ => false,
    }
}
