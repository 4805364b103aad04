//! `#[tool]`: an async function that a language model can call.

mod check;
mod expand;
mod model;
mod parse;
#[cfg(test)]
mod tests;

use proc_macro2::TokenStream;
use syn::ItemFn;

use crate::attr::Problems;

/// Returns the tool's name and its expansion.
pub(crate) fn tool(attributes: TokenStream, item: TokenStream) -> (String, TokenStream) {
    let function: ItemFn = match syn::parse2(item.clone()) {
        Ok(function) => function,
        Err(_) => {
            let error =
                syn::Error::new_spanned(&item, "`#[tool]` needs an async function: `#[tool] async fn ..`");
            let mut tokens = error.into_compile_error();
            tokens.extend(item);
            return (String::new(), tokens);
        }
    };
    let name = function.sig.ident.to_string();
    let mut problems = Problems::default();
    let tool = parse::parse(attributes, function, &mut problems);
    check::check(&tool, &mut problems);
    let tokens = match problems.into_error() {
        None => expand::expand(&tool),
        Some(error) => {
            let mut tokens = error.into_compile_error();
            tokens.extend(expand::fallback(&tool));
            tokens
        }
    };
    (name, tokens)
}
