//! `#[derive(StateView)]`: a struct with a part of a state, borrowed or cloned.

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
    let view = parse::parse(input, &mut problems);
    check::check(&view, &mut problems);
    match problems.into_error() {
        None => expand::expand(&view),
        Some(error) => {
            let mut tokens = error.into_compile_error();
            tokens.extend(expand::fallback(&view));
            tokens
        }
    }
}
