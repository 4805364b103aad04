//! Reading attributes: what the derives share.
//!
//! Nothing here stops at the first mistake: [`items`] goes on behind a broken item, and everything lands in
//! [`Problems`].

mod case;
mod ends;
mod items;
mod krate;
mod problems;
mod slot;
mod suggest;

pub(crate) use case::Case;
pub(crate) use ends::ends;
pub(crate) use items::{Item, items, walk};
pub(crate) use krate::Runtime;
pub(crate) use problems::Problems;
pub(crate) use slot::Slot;
pub(crate) use suggest::unknown;

use syn::Attribute;

/// The doc comments among `attrs`, to be carried over to generated items.
pub(crate) fn docs(attrs: &[Attribute]) -> Vec<Attribute> {
    attrs.iter().filter(|attr| attr.path().is_ident("doc")).cloned().collect()
}
