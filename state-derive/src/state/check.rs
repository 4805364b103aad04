//! Everything that is wrong although it is well formed.

use std::collections::BTreeMap;

use proc_macro2::Ident;
use syn::GenericParam;

use crate::attr::Problems;

use super::model::{State, plain};
use super::parse::{FieldAttrs, Struct};
use super::rule::{Rule, RuleKind};

/// What is contradictory as it is written.
pub(super) fn syntax(raw: &Struct, problems: &mut Problems) {
    for param in &raw.generics.params {
        if let GenericParam::Lifetime(param) = param {
            problems.at(
                &param.lifetime,
                "a state borrows nothing: it is `'static`, so that runs can outlive their callers",
            );
        }
    }
    if let Some(key) = raw.attrs.schema.key()
        && !cfg!(feature = "schema")
    {
        problems.at(key, "`schema` needs the feature `schema` of `superstep`");
    }
    if let (Some(key), false) = (raw.attrs.migrate.key(), raw.attrs.version.is_set()) {
        problems.at(key, "`migrate` needs `version`: a checkpoint says by it whether it is to be migrated");
    }
    if let (Some(alias), false) = (raw.attrs.aliases.first(), raw.attrs.version.is_set()) {
        problems.at(alias, "`alias` needs `version`: it says under which name an older version was kept");
    }
    for field in &raw.fields {
        if field.attrs.flatten.is_set() {
            flattened(&field.attrs, problems);
        } else {
            own(&field.attrs, problems);
        }
        for name in field.attrs.rename.get().into_iter().chain(&field.attrs.aliases) {
            if name.value().starts_with('$') {
                problems.at(name, "names that begin with `$` are kept for updates: `$overwrite`");
            }
            if name.value().is_empty() {
                problems.at(name, "a name has at least one letter");
            }
        }
        rules(&field.attrs.rules, problems);
    }
}

fn flattened(attrs: &FieldAttrs, problems: &mut Problems) {
    let FieldAttrs { rules, aliases, .. } = attrs;
    let given = [
        attrs.output.key(),
        attrs.reducer.key(),
        attrs.takes.key(),
        attrs.ephemeral.key(),
        attrs.exclude.key(),
        attrs.untracked.key(),
        attrs.from_context.key(),
        attrs.rename.key(),
        attrs.serialize_with.key(),
        attrs.deserialize_with.key(),
        attrs.with.key(),
        attrs.default.key(),
    ];
    let why = "a flattened state's fields have attributes of their own";
    for key in given.into_iter().flatten() {
        problems.at(key, format!("`{key}` does not go with `flatten`: {why}"));
    }
    if let Some(rule) = rules.first() {
        problems.at(&rule.key, format!("`validate` does not go with `flatten`: {why}"));
    }
    if let Some(alias) = aliases.first() {
        problems.at(alias, format!("`alias` does not go with `flatten`: {why}"));
    }
}

fn own(attrs: &FieldAttrs, problems: &mut Problems) {
    let mut clash = |a: Option<&Ident>, b: Option<&Ident>, why: &str| {
        if let (Some(a), Some(b)) = (a, b) {
            problems.at(a, format!("`{a}` does not go with `{b}`: {why}"));
        }
    };
    let untracked = attrs.untracked.key();
    let nowhere = "an untracked field never becomes JSON";
    clash(attrs.exclude.key(), untracked, "an untracked field is in no dump anyway");
    clash(attrs.output.key(), untracked, "an output leaves the process, an untracked field does not");
    clash(
        attrs.output.key(),
        attrs.exclude.key(),
        "an output leaves the process, an excluded field does not",
    );
    clash(attrs.with.key(), untracked, nowhere);
    clash(attrs.serialize_with.key(), untracked, nowhere);
    clash(attrs.deserialize_with.key(), untracked, nowhere);
    clash(attrs.serialize_with.key(), attrs.with.key(), "`with` names both directions");
    clash(attrs.deserialize_with.key(), attrs.with.key(), "`with` names both directions");
    if attrs.deserialize_with.key().is_none() {
        let why =
            "the field is not dumped, and without `deserialize_with` nothing else would use the function";
        clash(attrs.serialize_with.key(), attrs.exclude.key(), why);
    }
    if attrs.reducer.get().is_some_and(|path| path.is_ident("ephemeral")) {
        clash(attrs.ephemeral.key(), attrs.reducer.key(), "it is said twice");
    }
    if let (Some(alias), true) = (attrs.aliases.first(), untracked.is_some()) {
        problems.at(alias, format!("`alias` does not go with `untracked`: {nowhere}"));
    }
    if let (Some(key), None) = (attrs.from_context.key(), untracked) {
        problems.at(key, "`from_context` needs `untracked`: other fields come from a checkpoint");
    }
}

/// A rule of which each field can have one.
fn rules(rules: &[Rule], problems: &mut Problems) {
    let mut seen: Vec<&Ident> = Vec::new();
    for rule in rules {
        match &rule.kind {
            RuleKind::Custom(_) | RuleKind::Pattern(_) | RuleKind::Text(_) => continue,
            RuleKind::Inner(inner) => self::rules(inner, problems),
            RuleKind::Length { .. } | RuleKind::Range { .. } | RuleKind::Plain => {}
        }
        if seen.contains(&&rule.key) {
            problems.at(&rule.key, format!("`{}` is given twice", rule.key));
        }
        seen.push(&rule.key);
    }
}

/// What collides once it is understood.
pub(super) fn meaning(state: &State, problems: &mut Problems) {
    let mut constants: BTreeMap<String, &Ident> = BTreeMap::new();
    let mut names: BTreeMap<&str, &Ident> = BTreeMap::new();
    for field in state.fields() {
        let constant = field.constant.to_string();
        match constants.get(&constant) {
            Some(other) => problems.at(
                &field.ident,
                format!(
                    "`{}` and `{}` would share the constant `{constant}`",
                    plain(other),
                    plain(&field.ident)
                ),
            ),
            None => drop(constants.insert(constant, &field.ident)),
        }
        for name in &field.names {
            match names.get(name.as_str()) {
                Some(other) if **other == field.ident => {
                    problems.at(&field.ident, format!("`{name}` is twice among the names of this field"));
                }
                Some(other) => problems.at(
                    &field.ident,
                    format!(
                        "`{}` and `{}` are both called `{name}` in JSON",
                        plain(other),
                        plain(&field.ident)
                    ),
                ),
                None => drop(names.insert(name, &field.ident)),
            }
        }
    }
    let mut parts: BTreeMap<String, &Ident> = BTreeMap::new();
    for flat in state.flats() {
        let ty = &flat.ty;
        let written = quote::quote!(#ty).to_string();
        match parts.get(&written) {
            Some(other) => problems.at(
                ty,
                format!(
                    "`{}` is this state already: nodes and JSON could not tell the two apart",
                    plain(other)
                ),
            ),
            None => drop(parts.insert(written.clone(), &flat.ident)),
        }
        if state.generics.type_params().any(|param| param.ident == written) {
            problems
                .at(ty, "a type parameter cannot be flattened: impls for it would be impls for every type");
        }
    }
}
