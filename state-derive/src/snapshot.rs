//! What the tests of the derives compare.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::{Expr, File, Item, Stmt};

/// Everything that is emitted, as a formatter would write it.
pub(crate) fn pretty(emitted: TokenStream) -> String {
    prettyplease::unparse(&syn::parse2(emitted).unwrap())
}

/// Only the impl of the trait called `name`.
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

/// The messages of the reported mistakes, a line each; an impl without behaviour has to be left behind them.
pub(crate) fn mistakes(emitted: TokenStream) -> String {
    let file: File = syn::parse2(emitted).unwrap();
    let mut messages = String::new();
    for item in &file.items {
        if let Item::Macro(item) = item {
            messages += &item.mac.parse_body::<syn::LitStr>().unwrap().value();
            messages.push('\n');
        }
    }
    assert!(matches!(file.items.last(), Some(Item::Const(_))), "nothing is left behind the mistakes");
    messages
}
