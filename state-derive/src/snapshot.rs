//! Formats expansions for the tests of the derives.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::{Expr, File, Item, Stmt};

/// Formats the whole expansion.
pub(crate) fn pretty(emitted: TokenStream) -> String {
    prettyplease::unparse(&syn::parse2(emitted).unwrap())
}

/// Formats only the impl of the trait `name`.
pub(crate) fn pretty_impl(emitted: TokenStream, name: &str) -> String {
    let file: File = syn::parse2(emitted).unwrap();
    let blocks = file.items.into_iter().filter_map(|item| match item {
        Item::Const(item) => Some(*item.expr),
        _ => None,
    });
    for block in blocks {
        let Expr::Block(block) = block else { continue };
        for statement in block.block.stmts {
            let Stmt::Item(Item::Impl(found)) = statement else { continue };
            let of = found.trait_.as_ref().and_then(|(path, _)| path.segments.last());
            if of.is_some_and(|segment| segment.ident == name) {
                return pretty(found.into_token_stream());
            }
        }
    }
    panic!("no impl of {name}")
}

/// Returns the messages of the reported mistakes, one per line. Panics unless a fallback implementation follows them.
pub(crate) fn mistakes(emitted: TokenStream) -> String {
    let file: File = syn::parse2(emitted).unwrap();
    let mut messages = String::new();
    for item in &file.items {
        if let Item::Macro(item) = item {
            messages += &item.mac.parse_body::<syn::LitStr>().unwrap().value();
            messages.push('\n');
        }
    }
    let has_fallback = matches!(file.items.last(), Some(Item::Const(_) | Item::Fn(_)));
    assert!(has_fallback, "no fallback follows the mistakes");
    messages
}
