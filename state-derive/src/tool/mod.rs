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

/// The expansion of a tool.
pub(crate) struct Expansion {
    /// The name of the function.
    pub(crate) name: String,
    /// The items.
    pub(crate) items: TokenStream,
    /// The same items, as one.
    pub(crate) item: TokenStream,
}

pub(crate) fn tool(attributes: TokenStream, item: TokenStream) -> Expansion {
    let function: ItemFn = match syn::parse2(item.clone()) {
        Ok(function) => function,
        Err(_) => {
            let error =
                syn::Error::new_spanned(&item, "`#[tool]` needs an async function: `#[tool] async fn ..`");
            let mut tokens = error.into_compile_error();
            tokens.extend(item);
            return Expansion { name: String::new(), items: tokens.clone(), item: tokens };
        }
    };
    let name = function.sig.ident.to_string();
    let mut problems = Problems::default();
    let tool = parse::parse(attributes, function, &mut problems);
    check::check(&tool, &mut problems);
    let items = match problems.into_error() {
        None => expand::expand(&tool),
        Some(error) => {
            let mut tokens = error.into_compile_error();
            tokens.extend(expand::fallback(&tool));
            tokens
        }
    };
    let item = if tool.is_in_impl() { items.clone() } else { expand::as_one(&tool, &items) };
    Expansion { name, items, item }
}
