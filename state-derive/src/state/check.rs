//! Reports mistakes in well-formed input.

use std::collections::BTreeMap;

use proc_macro2::Ident;

use crate::attr::Problems;

use super::attrs::FieldAttrs;
use super::build::option;
use super::model::{State, plain};
use super::parse::{RawField, Struct};
use super::rule::{Rule, RuleKind};

/// Reports contradictions between attributes.
pub(super) fn syntax(raw: &Struct, problems: &mut Problems) {
    if let Some(key) = raw.attrs.schema.key()
        && !cfg!(feature = "schema")
    {
        problems.at(key, "`schema` needs the feature `schema` of `superstep`");
    }
    if let (Some(key), false) = (raw.attrs.migrate.key(), raw.attrs.version.is_set()) {
        problems.at(key, "`migrate` needs `version`: checkpoints with a lower version are migrated");
    }
    if let (Some(alias), false) = (raw.attrs.aliases.first(), raw.attrs.version.is_set()) {
        problems.at(alias, "`alias` needs `version`: it is the name that an older version had");
    }
    skip_none(raw, problems);
    for field in &raw.fields {
        if field.attrs.flatten.is_set() {
            flattened(&field.attrs, problems);
        } else {
            own_field(&field.attrs, problems);
        }
        for name in field.attrs.rename.get().into_iter().chain(&field.attrs.aliases) {
            if name.value().starts_with('$') {
                problems.at(name, "names that begin with `$` are reserved for updates: `$overwrite`");
            }
            if name.value().is_empty() {
                problems.at(name, "a name must not be empty");
            }
        }
        rules(&field.attrs.rules, problems);
    }
}

fn flattened(attrs: &FieldAttrs, problems: &mut Problems) {
    let FieldAttrs { rules, aliases, .. } = attrs;
    let keys = [
        attrs.output.key(),
        attrs.reducer.key(),
        attrs.takes.key(),
        attrs.ephemeral.key(),
        attrs.exclude.key(),
        attrs.untracked.key(),
        attrs.skip_none.key(),
        attrs.from_context.key(),
        attrs.rename.key(),
        attrs.serialize_with.key(),
        attrs.deserialize_with.key(),
        attrs.with.key(),
        attrs.default.key(),
    ];
    let why = "set it on the fields of the flattened state";
    for key in keys.into_iter().flatten() {
        problems.at(key, format!("`{key}` cannot be combined with `flatten`: {why}"));
    }
    if let Some(rule) = rules.first() {
        problems.at(&rule.key, format!("`validate` cannot be combined with `flatten`: {why}"));
    }
    if let Some(alias) = aliases.first() {
        problems.at(alias, format!("`alias` cannot be combined with `flatten`: {why}"));
    }
}

fn own_field(attrs: &FieldAttrs, problems: &mut Problems) {
    let mut clash = |a: Option<&Ident>, b: Option<&Ident>, why: &str| {
        if let (Some(a), Some(b)) = (a, b) {
            problems.at(a, format!("`{a}` cannot be combined with `{b}`: {why}"));
        }
    };
    let untracked = attrs.untracked.key();
    let not_serialized = "an untracked field is never serialized";
    clash(attrs.exclude.key(), untracked, "an untracked field is never dumped");
    clash(attrs.output.key(), untracked, "an untracked field cannot leave the process");
    clash(attrs.output.key(), attrs.exclude.key(), "an excluded field cannot leave the process");
    clash(attrs.skip_none.key(), untracked, "an untracked field is never dumped");
    clash(attrs.skip_none.key(), attrs.exclude.key(), "an excluded field is never dumped");
    clash(attrs.with.key(), untracked, not_serialized);
    clash(attrs.serialize_with.key(), untracked, not_serialized);
    clash(attrs.deserialize_with.key(), untracked, not_serialized);
    clash(attrs.serialize_with.key(), attrs.with.key(), "`with` already sets both functions");
    clash(attrs.deserialize_with.key(), attrs.with.key(), "`with` already sets both functions");
    if attrs.deserialize_with.key().is_none() {
        let why = "without `deserialize_with`, the function would never be used";
        clash(attrs.serialize_with.key(), attrs.exclude.key(), why);
    }
    if attrs.reducer.get().is_some_and(|path| path.is_ident("ephemeral")) {
        clash(attrs.ephemeral.key(), attrs.reducer.key(), "both mean the same");
    }
    if let (Some(alias), true) = (attrs.aliases.first(), untracked.is_some()) {
        problems.at(alias, format!("`alias` cannot be combined with `untracked`: {not_serialized}"));
    }
    if let (Some(key), None) = (attrs.from_context.key(), untracked) {
        problems.at(key, "`from_context` needs `untracked`: other fields are restored from checkpoints");
    }
}

/// Reports a `skip_none` that leaves nothing out.
fn skip_none(raw: &Struct, problems: &mut Problems) {
    for field in &raw.fields {
        let Some(key) = field.attrs.skip_none.key() else { continue };
        if raw.attrs.skip_none.is_set() {
            problems.at(key, "`skip_none` on the struct already covers this field");
        } else if option(&field.ty).is_none() && !field.attrs.flatten.is_set() {
            problems.at(key, "`skip_none` needs a field of the type `Option<..>`");
        }
    }
    let dumped = |field: &&RawField| {
        let attrs = &field.attrs;
        !attrs.flatten.is_set() && !attrs.exclude.is_set() && !attrs.untracked.is_set()
    };
    if let Some(key) = raw.attrs.skip_none.key()
        && !raw.fields.iter().filter(dumped).any(|field| option(&field.ty).is_some())
    {
        let why = "no dumped field of this state has the type `Option<..>`";
        problems.at(key, format!("`skip_none` would leave nothing out: {why}"));
    }
}

/// Reports rules that a field has twice.
fn rules(rules: &[Rule], problems: &mut Problems) {
    let mut seen: Vec<&Ident> = Vec::new();
    for rule in rules {
        match &rule.kind {
            RuleKind::Custom(_) | RuleKind::Pattern(_) | RuleKind::Text(_) => continue,
            RuleKind::Inner(inner) => self::rules(inner, problems),
            RuleKind::Length { .. } | RuleKind::Range { .. } | RuleKind::Plain => {}
        }
        if seen.contains(&&rule.key) {
            problems.at(&rule.key, format!("duplicate `{}`", rule.key));
        }
        seen.push(&rule.key);
    }
}

/// Reports collisions of names and flattened states.
pub(super) fn meaning(state: &State, problems: &mut Problems) {
    let mut constants: BTreeMap<String, &Ident> = BTreeMap::new();
    let mut names: BTreeMap<&str, &Ident> = BTreeMap::new();
    let own = state.fields().map(|field| (&field.ident, &field.constant));
    for (ident, constant) in own.chain(state.flats().map(|flat| (&flat.ident, &flat.constant))) {
        let constant = constant.to_string();
        match constants.get(&constant) {
            Some(other) => problems.at(
                ident,
                format!(
                    "fields `{}` and `{}` would share the constant `{constant}`: rename one",
                    plain(other),
                    plain(ident)
                ),
            ),
            None => drop(constants.insert(constant, ident)),
        }
    }
    for field in state.fields() {
        for name in &field.names {
            match names.get(name.as_str()) {
                Some(other) if **other == field.ident => {
                    problems.at(&field.ident, format!("duplicate name `{name}` on this field"));
                }
                Some(other) => problems.at(
                    &field.ident,
                    format!(
                        "fields `{}` and `{}` have the same name `{name}` in JSON",
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
                format!("field `{}` already flattens this state: flatten each state only once", plain(other)),
            ),
            None => drop(parts.insert(written.clone(), &flat.ident)),
        }
        if state.generics.type_params().any(|param| param.ident == written) {
            problems.at(ty, "a type parameter cannot be flattened: use a concrete state");
        }
    }
}
