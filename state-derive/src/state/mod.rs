//! `#[derive(GraphState)]`: tokens → [`parse`] → [`build`] → [`model`] → [`check`] → [`expand`].

use proc_macro2::TokenStream;
use quote::quote;
use syn::DeriveInput;

use crate::attr::Problems;

mod attrs;
pub(crate) mod build;
mod check;
mod expand;
mod model;
mod parse;
mod rule;
mod self_type;
mod serde_attr;
#[cfg(test)]
mod tests;

pub(crate) fn derive(input: DeriveInput) -> TokenStream {
    let mut problems = Problems::default();
    let raw = parse::parse(self_type::named(input), &mut problems);
    check::syntax(&raw, &mut problems);
    let state = build::build(raw, &mut problems);
    check::meaning(&state, &mut problems);
    match problems.into_error() {
        None => expand::expand(&state),
        Some(error) => {
            let errors = error.into_compile_error();
            let fallback = expand::fallback(&state);
            quote!(#errors #fallback)
        }
    }
}
