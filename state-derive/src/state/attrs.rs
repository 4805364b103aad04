//! Parses `#[state(..)]`.

use syn::{Expr, Ident, LitStr, Path, Type, WherePredicate};

use crate::attr::{Case, Item, Problems, Slot, unknown};

use super::built_in::is_reducer;
use super::rule::{self, Rule};

#[derive(Default)]
pub(super) struct StateAttrs {
    pub(super) krate: Slot<Path>,
    pub(super) rename_all: Slot<Case>,
    pub(super) invariants: Vec<Path>,
    pub(super) version: Slot<u32>,
    pub(super) migrate: Slot<Path>,
    pub(super) aliases: Vec<LitStr>,
    pub(super) schema: Slot<()>,
    pub(super) skip_none: Slot<()>,
    /// The bounds that replace those which the derive adds.
    pub(super) bound: Slot<Vec<WherePredicate>>,
}

#[derive(Default)]
pub(super) struct FieldAttrs {
    pub(super) input: Slot<()>,
    pub(super) output: Slot<()>,
    pub(super) reducer: Slot<Path>,
    pub(super) takes: Slot<Type>,
    pub(super) ephemeral: Slot<()>,
    pub(super) exclude: Slot<()>,
    pub(super) untracked: Slot<()>,
    pub(super) skip_none: Slot<()>,
    pub(super) from_context: Slot<Path>,
    pub(super) rename: Slot<LitStr>,
    pub(super) aliases: Vec<LitStr>,
    pub(super) serialize_with: Slot<Path>,
    pub(super) deserialize_with: Slot<Path>,
    pub(super) with: Slot<Path>,
    pub(super) default: Slot<Option<Expr>>,
    pub(super) rules: Vec<Rule>,
    pub(super) flatten: Slot<()>,
}

pub(super) const ON_STRUCT: [&str; 9] =
    ["crate", "rename_all", "invariant", "version", "migrate", "alias", "schema", "skip_none", "bound"];
pub(super) const ON_FIELD: [&str; 17] = [
    "input",
    "output",
    "reducer",
    "takes",
    "ephemeral",
    "exclude",
    "untracked",
    "skip_none",
    "from_context",
    "rename",
    "alias",
    "serialize_with",
    "deserialize_with",
    "with",
    "default",
    "validate",
    "flatten",
];

pub(super) fn on_struct(attrs: &mut StateAttrs, problems: &mut Problems, item: &Item<'_>) -> syn::Result<()> {
    let key = &item.key;
    match key.to_string().as_str() {
        "crate" => attrs.krate.set(problems, key, item.path()?),
        "rename_all" => attrs.rename_all.set(problems, key, Case::named(&item.string()?)?),
        "invariant" => attrs.invariants.push(item.path()?),
        "version" => {
            let version = version(item);
            // An invalid version still counts as set, so that no second mistake is reported.
            attrs.version.set(problems, key, *version.as_ref().unwrap_or(&1));
            version?;
        }
        "alias" => attrs.aliases.push(item.string()?),
        "migrate" => attrs.migrate.set(problems, key, item.path()?),
        "schema" => set_flag(&mut attrs.schema, problems, item)?,
        "skip_none" => set_flag(&mut attrs.skip_none, problems, item)?,
        "bound" => attrs.bound.set(problems, key, item.predicates()?),
        name if ON_FIELD.contains(&name) => {
            return Err(syn::Error::new(key.span(), format!("`{name}` belongs on a field")));
        }
        _ => return Err(unknown(key, "state attribute", &ON_STRUCT)),
    }
    Ok(())
}

pub(super) fn on_field(attrs: &mut FieldAttrs, problems: &mut Problems, item: &Item<'_>) -> syn::Result<()> {
    let key = &item.key;
    match key.to_string().as_str() {
        "input" => set_flag(&mut attrs.input, problems, item)?,
        "output" => set_flag(&mut attrs.output, problems, item)?,
        "ephemeral" => set_flag(&mut attrs.ephemeral, problems, item)?,
        "exclude" => set_flag(&mut attrs.exclude, problems, item)?,
        "untracked" => set_flag(&mut attrs.untracked, problems, item)?,
        "skip_none" => set_flag(&mut attrs.skip_none, problems, item)?,
        "flatten" => set_flag(&mut attrs.flatten, problems, item)?,
        "reducer" => attrs.reducer.set(problems, key, item.path()?),
        "takes" => attrs.takes.set(problems, key, item.ty()?),
        "from_context" => attrs.from_context.set(problems, key, item.path()?),
        "rename" if item.has_list() => return Err(one_name(key)),
        "rename" => attrs.rename.set(problems, key, item.string()?),
        "alias" => attrs.aliases.push(item.string()?),
        "serialize_with" => attrs.serialize_with.set(problems, key, item.path()?),
        "deserialize_with" => attrs.deserialize_with.set(problems, key, item.path()?),
        "with" => attrs.with.set(problems, key, item.path()?),
        "default" if item.has_value() => attrs.default.set(problems, key, Some(item.expr()?)),
        "default" => {
            item.flag()?;
            attrs.default.set(problems, key, None);
        }
        "validate" => {
            let rules = &mut attrs.rules;
            item.list(problems, |problems, item| rule::parse(rules, problems, item))?;
        }
        name if ON_STRUCT.contains(&name) => {
            return Err(syn::Error::new(key.span(), format!("`{name}` belongs on the struct")));
        }
        name => {
            return Err(match instead(item) {
                Some(instead) => {
                    syn::Error::new(key.span(), format!("unknown field attribute `{name}`: {instead}"))
                }
                None => unknown(key, "field attribute", &ON_FIELD),
            });
        }
    }
    Ok(())
}

/// Returns what to write in place of words that belong elsewhere, or that other libraries use.
fn instead(item: &Item<'_>) -> Option<String> {
    let name = item.key.to_string();
    Some(match name.as_str() {
        "skip" | "transient" => {
            "write `untracked` for a field that is in no checkpoint and no dump, or `exclude` for one that is in no dump"
                .to_owned()
        }
        "skip_serializing" => "write `exclude` for a field that is in no dump".to_owned(),
        "skip_serializing_if" => "write `skip_none` for an `Option` that is left out while it is `None`".to_owned(),
        "required" => "write `input` for a field that a run starts with".to_owned(),
        name if is_reducer(name) => format!("write `reducer = {name}`"),
        name if rule::is_rule(name) && item.has_list() => format!("write `validate({name}(..))`"),
        name if rule::is_rule(name) => format!("write `validate({name})`"),
        _ => return None,
    })
}

fn version(item: &Item<'_>) -> syn::Result<u32> {
    let number = item.number()?;
    match number.base10_parse() {
        Ok(0) => Err(syn::Error::new(
            number.span(),
            "versions start at 1: a state without a version has version 0",
        )),
        Ok(version) => Ok(version),
        Err(_) => Err(syn::Error::new(number.span(), "a version must be an integer of at most 32 bits")),
    }
}

pub(super) fn set_flag(slot: &mut Slot<()>, problems: &mut Problems, item: &Item<'_>) -> syn::Result<()> {
    item.flag()?;
    slot.set(problems, &item.key, ());
    Ok(())
}

/// Returns the error for `rename(serialize = .., deserialize = ..)`.
pub(super) fn one_name(key: &Ident) -> syn::Error {
    let message = "a field has one name for reading and writing: write `rename = \"..\"`, and `alias = \"..\"` for other names to read";
    syn::Error::new(key.span(), message)
}
