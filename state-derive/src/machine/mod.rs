//! `#[derive(Machine)]`: a struct without fields that lists the nodes of a state machine.

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
    let machine = parse::parse(input, &mut problems);
    check::check(&machine, &mut problems);
    match problems.into_error() {
        None => expand::expand(&machine),
        Some(error) => {
            let mut tokens = error.into_compile_error();
            tokens.extend(expand::fallback(&machine));
            tokens
        }
    }
}
