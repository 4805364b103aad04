//! `#[derive(StateUpdate)]`: a struct with the values of some fields of a state, as an update.

mod check;
mod expand;
mod model;
mod parse;
#[cfg(test)]
mod tests;

use proc_macro2::TokenStream;
use syn::DeriveInput;

use crate::attr::Problems;

pub(crate) fn derive(input: DeriveInput) -> TokenStream {
    let mut problems = Problems::default();
    let update = parse::parse(input, &mut problems);
    check::check(&update, &mut problems);
    match problems.into_error() {
        None => expand::expand(&update),
        Some(error) => {
            let mut tokens = error.into_compile_error();
            tokens.extend(expand::fallback(&update));
            tokens
        }
    }
}
