//! `graph!`: a graph written as text.
//!
//! The text has the whole topology, so the macro checks that alone. What the nodes return is checked by constants that
//! it generates.

mod check;
mod expand;
mod mistakes;
mod model;
mod parse;
mod reach;
#[cfg(test)]
mod tests;
mod together;

use proc_macro2::TokenStream;

use crate::attr::Problems;

use self::check::Checked;

pub(crate) fn graph(input: TokenStream) -> TokenStream {
    let mut problems = Problems::default();
    let text = match parse::parse(input, &mut problems) {
        Ok(text) => text,
        Err(error) => return error.into_compile_error(),
    };
    // A statement that cannot be read would make others look wrong.
    let checked = if problems.is_empty() { check::check(&text, &mut problems) } else { Checked::default() };
    expand::expand(&text, problems.into_error(), &checked)
}
