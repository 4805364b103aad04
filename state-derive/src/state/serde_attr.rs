//! `#[serde(..)]`: attributes with the same meaning on a state are supported, all others are refused.

use proc_macro2::Span;
use syn::parse_quote;

use crate::attr::{Case, Item, Problems};

use super::attrs::{FieldAttrs, StateAttrs, one_name, set_flag};

pub(super) fn on_struct(attrs: &mut StateAttrs, problems: &mut Problems, item: &Item<'_>) -> syn::Result<()> {
    match item.key.to_string().as_str() {
        "rename_all" if item.has_list() => return Err(one_name(&item.key)),
        "rename_all" => attrs.rename_all.set(problems, &item.key, Case::named(&item.string()?)?),
        "crate" => return Err(refused(item, "use `#[state(crate = ..)]`")),
        "default" => return Err(refused(item, "use `#[state(default)]` on the fields")),
        "bound" => return Err(refused(item, "use `#[state(bound(..))]`")),
        "deny_unknown_fields" => return Err(refused(item, "unknown fields are always refused")),
        _ => return Err(refused(item, "use `#[state(..)]`")),
    }
    Ok(())
}

pub(super) fn on_field(attrs: &mut FieldAttrs, problems: &mut Problems, item: &Item<'_>) -> syn::Result<()> {
    let key = &item.key;
    match key.to_string().as_str() {
        "rename" if item.has_list() => return Err(one_name(key)),
        "rename" => attrs.rename.set(problems, key, item.string()?),
        "alias" => attrs.aliases.push(item.string()?),
        "default" if item.has_value() => {
            let path = item.quoted_path()?;
            attrs.default.set(problems, key, Some(parse_quote!(#path())));
        }
        "default" => {
            item.flag()?;
            attrs.default.set(problems, key, None);
        }
        "skip" => set_flag(&mut attrs.untracked, problems, item)?,
        "skip_serializing" => set_flag(&mut attrs.exclude, problems, item)?,
        "with" => attrs.with.set(problems, key, item.quoted_path()?),
        "serialize_with" => attrs.serialize_with.set(problems, key, item.quoted_path()?),
        "deserialize_with" => attrs.deserialize_with.set(problems, key, item.quoted_path()?),
        "flatten" => return Err(refused(item, "use `#[state(flatten)]` with another state")),
        "skip_serializing_if" => {
            let path = item.quoted_path()?;
            if !path.segments.iter().map(|segment| segment.ident.to_string()).eq(["Option", "is_none"]) {
                return Err(refused(
                    item,
                    "use `#[state(skip_none)]` for `Option::is_none`, or `#[state(exclude)]`",
                ));
            }
            attrs.skip_none.set(problems, key, ());
        }
        "skip_deserializing" => {
            return Err(refused(
                item,
                "use `#[state(untracked)]`, or `#[state(serialize_with = ..)]` to dump it",
            ));
        }
        _ => return Err(refused(item, "use `#[state(with = ..)]`")),
    }
    Ok(())
}

fn refused(item: &Item<'_>, instead: &str) -> syn::Error {
    let span: Span = item.key.span();
    syn::Error::new(span, format!("`#[serde({})]` is not supported on a state: {instead}", item.key))
}
