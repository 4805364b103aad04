//! `graph!`: a graph written as text.
//!
//! The text has the whole topology, so the macro checks that alone. What the nodes return is checked by constants that
//! it generates.

mod check;
mod expand;
mod model;
mod parse;
mod reach;
#[cfg(test)]
mod tests;
mod together;

use std::collections::HashSet;

use proc_macro2::TokenStream;

use crate::attr::Problems;

pub(crate) fn graph(input: TokenStream) -> TokenStream {
    let mut problems = Problems::default();
    let text = match parse::parse(input, &mut problems) {
        Ok(text) => text,
        Err(error) => return error.into_compile_error(),
    };
    // A statement that cannot be read would make others look wrong.
    let unchecked = if problems.is_empty() { check::check(&text, &mut problems) } else { HashSet::new() };
    expand::expand(&text, problems.into_error(), &unchecked)
}
