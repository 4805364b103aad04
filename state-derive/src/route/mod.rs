//! `#[derive(Route)]`: an enum whose variants name the next node.

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
    let route = parse::parse(input, &mut problems);
    check::check(&route, &mut problems);
    match problems.into_error() {
        None => expand::expand(&route),
        Some(error) => {
            let mut tokens = error.into_compile_error();
            tokens.extend(expand::fallback(&route));
            tokens
        }
    }
}
