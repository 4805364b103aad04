//! Reads attributes, for all derives.
//!
//! No function here stops at the first mistake: [`items`] continues after a broken item, and [`Problems`] collects all
//! mistakes.

mod case;
mod ends;
mod items;
mod local;
mod problems;
mod reader;
mod runtime;
mod slot;
mod suggest;
mod words;

pub(crate) use case::Case;
pub(crate) use ends::ends;
pub(crate) use items::{Item, items, walk};
pub(crate) use local::{local, tuple_field};
pub(crate) use problems::Problems;
pub(crate) use reader::reader;
pub(crate) use runtime::Runtime;
pub(crate) use slot::Slot;
pub(crate) use suggest::unknown;
pub(crate) use words::{Table, Words};

use syn::Attribute;

/// Returns the doc comments among `attrs`, to copy them to generated items.
pub(crate) fn docs(attrs: &[Attribute]) -> Vec<Attribute> {
    attrs.iter().filter(|attr| attr.path().is_ident("doc")).cloned().collect()
}
